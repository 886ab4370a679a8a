"""A reproduction from beginning to end: what it will take, the experiments one after another, all results in a file."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from plenodepth.calib.bundle.problem import intrinsic_values
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.errors import InputError
from plenodepth.studies.reproduction import tables
from plenodepth.studies.reproduction.datasets import prepared
from plenodepth.studies.reproduction.experiments.absolute import absolute_experiment, absolute_tasks
from plenodepth.studies.reproduction.experiments.confidence import confidence_experiment
from plenodepth.studies.reproduction.experiments.disparity import disparity_experiment
from plenodepth.studies.reproduction.experiments.distortion import distortion_experiment
from plenodepth.studies.reproduction.experiments.relative import relative_experiment, relative_tasks
from plenodepth.studies.reproduction.experiments.scale_errors import scale_experiment, scale_tasks
from plenodepth.studies.reproduction.results import (
    RESULTS,
    CalibratedParameters,
    ExperimentResult,
    ReproductionResult,
    Stage,
    Values,
    save_results,
)
from plenodepth.studies.reproduction.sources import RECIPES, source_of
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import Crew, Task
from plenodepth.version import __version__

PACKAGES = ("numpy", "scipy", "numba", "opencv-python-headless", "pyceres", "matplotlib")


class Experiment(NamedTuple):
    """One of the paper's experiments."""

    title: str
    text: str
    datasets: tuple[str, ...]
    run: Callable[[Study], Values]
    tables: Callable[[Any], tables.TablesAndChecks]
    seconds: tuple[float, float]  # on 2 cores with calibrated datasets: quick, full size
    tasks: Callable[[Study], list[list[Task]]] = lambda study: []  # to be done ahead, phase by phase


EXPERIMENTS = {
    "scale": Experiment(
        "Scale errors before and after correction",
        "Boards across the axis are reconstructed with coarse depth maps; the scale error of a frame is the mean over "
        "all pairs of corners of 1 − found/true distance. Γ is fitted to these errors. BLADE: the paper's method, with "
        "the aperture's effect left to Γ; aware: depth estimation undoes it itself.",
        ("r12-a", "r12-b", "r12-c", "r12-es"),
        scale_experiment,
        tables.scale_tables,
        (23.0, 230.0),
        scale_tasks,
    ),
    "relative": Experiment(
        "Relative depth",
        "A target moved along the optical axis in known steps: boards (R12-A, B, C) or textured walls (R12-ES). Each "
        "frame has the median of its coarse depth map; ε_z is |found − true displacement|/true displacement, over all "
        "pairs of frames. DISP: disparity alone, with the pinhole-array model calibrated on the same corners.",
        ("r12-a", "r12-b", "r12-c", "r12-es"),
        relative_experiment,
        tables.relative_tables,
        (15.0, 450.0),
        relative_tasks,
    ),
    "absolute": Experiment(
        "Absolute depth of 3-D scenes",
        "Central sub-aperture depth maps against those of a scanner's cloud, whose pose comes from the targets of the "
        "scene calib. B: blur and disparity, D: disparity alone; C: coarse, R: refined; S: scaled by Γ, U: unscaled; "
        "A: blur, disparity and the aperture undone. As in the paper, Γ is fitted to boards held by hand here, and B "
        "and D have the same.",
        ("r12-elp20",),
        absolute_experiment,
        tables.absolute_tables,
        (30.0, 600.0),
        absolute_tasks,
    ),
    "disparity": Experiment(
        "Corrected disparity",
        "The steps of R12-A, unscaled, with the disparity that takes account of micro-image centres spreading wider "
        "than their lenses, and with the usual one that does not.",
        ("r12-a",),
        disparity_experiment,
        tables.disparity_tables,
        (1.0, 3.0),
    ),
    "distortion": Experiment(
        "Inverse distortion",
        "Coefficients of the distortion as calibrated from each twin's images, and of its inverse.",
        ("r12-a", "r12-b", "r12-c", "r12-es"),
        distortion_experiment,
        tables.distortion_tables,
        (1.0, 1.0),
    ),
    "confidence": Experiment(
        "Is the confidence worth anything?",
        "Coarse depth maps of the walls of R12-ES and the scenes of R12-ELP20 against the true depth through the "
        "centre of each micro-image, which simulated frames alone have: whether confidence and σ tell where and how "
        "far depth is wrong, and errors by lens type, occlusion boundaries, texture and confidence. Not in the paper.",
        ("r12-es", "r12-elp20"),
        confidence_experiment,
        tables.confidence_tables,
        (5.0, 40.0),
    ),
}
# Two at a time on 2 cores, each counted as half of what it takes: s, full size.
SIMULATION = {"r12-a": 280.0, "r12-b": 270.0, "r12-c": 300.0, "r12-es": 390.0, "r12-elp20": 100.0}
CALIBRATION = 185.0
QUICK = 0.02  # of the time that a full-size dataset takes to simulate; …
QUICK_CALIBRATION = 25.0


def chosen_experiments(names: Sequence[str]) -> list[str]:
    """The experiments to run, in their order; `all` is all of them."""
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            known = ", ".join((*EXPERIMENTS, "all"))
            raise InputError(f"is no experiment (there are: {known})", field="experiment", file=name)
    return [name for name in EXPERIMENTS if not names or "all" in names or name in names]


def plan(study: Study, names: Sequence[str]) -> list[tuple[str, float]]:
    """Stages and about how many seconds each takes on 2 cores; what is there already takes less."""
    chosen = chosen_experiments(names)
    stages = []
    for name in _needed(chosen):
        whole = SIMULATION[name] * (QUICK if study.quick else 1)
        calibration = QUICK_CALIBRATION if study.quick else CALIBRATION
        if study.data is None:
            stages.append((f"{name}: simulation", whole))
        if RECIPES[name].camera_of is None:
            stages.append((f"{name}: calibration", calibration))
    return stages + [(one, EXPERIMENTS[one].seconds[0 if study.quick else 1]) for one in chosen]


def _needed(experiments: Sequence[str]) -> list[str]:
    """Datasets of experiments, each after the one that has its calibration images."""
    used = [name for name in RECIPES if any(name in EXPERIMENTS[one].datasets for one in experiments)]
    return list(dict.fromkeys(one for name in used for one in (RECIPES[name].camera_of or name, name)))


def reproduce(
    study: Study, names: Sequence[str] = (), on_experiment: Callable[[int, int, str], None] | None = None
) -> ReproductionResult:
    """Run experiments and write `results.json`; what was computed before with the same settings is taken from there.

    `on_experiment(index, count, name)` is called before each.
    """
    chosen = chosen_experiments(names)
    begun = time.perf_counter()
    experiments: dict[str, ExperimentResult] = {}
    with Crew(study) as crew:
        needed = _needed(chosen)
        # Those whose camera another dataset calibrates come with their images alone.
        crew.work_ahead([Task(source_of if RECIPES[name].camera_of else prepared, (name,)) for name in needed])
        for index, name in enumerate(chosen):
            if on_experiment is not None:
                on_experiment(index, len(chosen), name)
            started = time.perf_counter()
            for phase in EXPERIMENTS[name].tasks(study):
                crew.work_ahead(phase)
            values = EXPERIMENTS[name].run(study)
            found, checks = EXPERIMENTS[name].tables(values)
            experiments[name] = ExperimentResult(
                title=EXPERIMENTS[name].title,
                text=EXPERIMENTS[name].text,
                seconds=round(time.perf_counter() - started, 1),
                tables=found,
                checks=checks,
                values=values,
            )
    used = sorted({dataset for name in chosen for dataset in EXPERIMENTS[name].datasets})
    result = ReproductionResult(
        plenodepth=__version__,
        quick=study.quick,
        seed=study.seed,
        rays=study.rays,
        data="twins" if study.data is None else str(study.data),
        threads=study.threads,
        versions={"python": platform.python_version(), **_versions()},
        checksums={name: prepared(study, name).source.checksum for name in used},
        calibration={name: _parameters(study, name) for name in used},
        plan=tuple(Stage(stage, seconds) for stage, seconds in plan(study, chosen)),
        seconds=round(time.perf_counter() - begun, 1),
        experiments=experiments,
    )
    save_results(result, study.out / RESULTS)
    return result


def _parameters(study: Study, name: str) -> CalibratedParameters:
    """The calibrated camera of a dataset: each parameter with its σ."""
    camera = prepared(study, name).camera
    known = camera.provenance
    sigma = (
        {}
        if known.covariance is None
        else dict(zip(known.covariance_parameters, np.sqrt(np.diag(known.covariance)), strict=True))
    )
    values = dict(zip(intrinsic_names(camera), intrinsic_values(camera), strict=True))
    return CalibratedParameters(
        rmse_uv=known.residuals.get("rmse_uv"),
        parameters={key: (float(value), float(sigma[key]) if key in sigma else None) for key, value in values.items()},
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
