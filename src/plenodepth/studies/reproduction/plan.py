"""The experiments of a reproduction: what each shows, which datasets it needs, its jobs, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from plenodepth.errors import InputError
from plenodepth.sim.scenes.twins import REAL_TWINS
from plenodepth.studies.reproduction import tables
from plenodepth.studies.reproduction.datasets import Dataset, calibration_stage, simulation_stage
from plenodepth.studies.reproduction.experiments.absolute import plan_absolute
from plenodepth.studies.reproduction.experiments.confidence import plan_confidence
from plenodepth.studies.reproduction.experiments.disparity import plan_disparity
from plenodepth.studies.reproduction.experiments.distortion import plan_distortion
from plenodepth.studies.reproduction.experiments.relative import plan_relative
from plenodepth.studies.reproduction.experiments.scale import plan_scale
from plenodepth.studies.reproduction.experiments.views import plan_views
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.results import Stage, Values
from plenodepth.studies.reproduction.sources import DATASET_SPECS
from plenodepth.studies.reproduction.study import Study


class Experiment(NamedTuple):
    """One of the paper's experiments."""

    title: str
    text: str
    datasets: tuple[str, ...]
    plan: Callable[[Study, Mapping[str, Dataset]], Job[Any]]  # the job that gives its values
    tables: Callable[[Any], tables.TablesAndChecks]  # of these values
    seconds: tuple[float, float]  # on 2 cores with calibrated datasets: quick, full size


EXPERIMENTS = {
    "scale": Experiment(
        "Scale errors before and after correction",
        "Boards across the axis are reconstructed with coarse depth maps; the scale error of a frame is the mean over "
        "all pairs of corners of 1 − found/true distance. Γ is fitted to these errors. BLADE: the paper's method, with "
        "the aperture's effect left to Γ; aware: depth estimation undoes it itself.",
        ("r12-a", "r12-b", "r12-c", "r12-es"),
        plan_scale,
        tables.scale_tables,
        (23.0, 230.0),
    ),
    "relative": Experiment(
        "Relative depth",
        "A target moved along the optical axis in known steps: boards (R12-A, B, C) or textured walls (R12-ES). Each "
        "frame has the median of its coarse depth map; ε_z is |found − true displacement|/true displacement, over all "
        "pairs of frames. DISP: disparity alone, with the pinhole-array model calibrated on the same corners.",
        ("r12-a", "r12-b", "r12-c", "r12-es"),
        plan_relative,
        tables.relative_tables,
        (15.0, 450.0),
    ),
    "absolute": Experiment(
        "Absolute depth of 3-D scenes",
        "Central sub-aperture depth maps against those of a scanner's cloud, whose pose comes from the targets of the "
        "scene calib. B: blur and disparity, D: disparity alone; C: coarse, R: refined; S: scaled by Γ, U: unscaled; "
        "A: blur, disparity and the aperture undone. As in the paper, Γ is fitted to boards held by hand here, and B "
        "and D have the same.",
        ("r12-elp20",),
        plan_absolute,
        tables.absolute_tables,
        (30.0, 600.0),
    ),
    "disparity": Experiment(
        "Corrected disparity",
        "The steps of R12-A, unscaled, with the disparity that takes account of micro-image centres spreading wider "
        "than their lenses, and with the usual one that does not.",
        ("r12-a",),
        plan_disparity,
        tables.disparity_tables,
        (1.0, 3.0),
    ),
    "distortion": Experiment(
        "Inverse distortion",
        "Coefficients of the distortion as calibrated from each twin's images, and of its inverse.",
        ("r12-a", "r12-b", "r12-c", "r12-es"),
        plan_distortion,
        tables.distortion_tables,
        (1.0, 1.0),
    ),
    "confidence": Experiment(
        "Is the confidence worth anything?",
        "Coarse depth maps of the walls of R12-ES and the scenes of R12-ELP20 against the true depth through the "
        "centre of each micro-image, which simulated frames alone have: whether confidence and σ tell where and how "
        "far depth is wrong, and errors by lens type, occlusion boundaries, texture and confidence. Not in the paper.",
        ("r12-es", "r12-elp20"),
        plan_confidence,
        tables.confidence_tables,
        (5.0, 40.0),
    ),
    "views": Experiment(
        "All-in-focus views",
        "The all-in-focus view of two simulated scenes through the camera of R12-ELP20, by their own depth, against "
        "what a pinhole in the main lens sees of them; beside it one tiled of patches of micro-images. Not in the "
        "paper.",
        (),
        plan_views,
        tables.views_tables,
        (8.0, 90.0),
    ),
}
# Seconds at full size, two datasets at a time on 2 cores, each counted as half of what it takes.
SIMULATION = {"r12-a": 280.0, "r12-b": 270.0, "r12-c": 300.0, "r12-es": 390.0, "r12-elp20": 100.0}
SIMULATION |= {name: 2.3 * SIMULATION[thin] for name, thin in REAL_TWINS.items()}
CALIBRATION = 185.0
QUICK_PART = 0.02  # of the time that a full-size dataset takes to simulate
QUICK_CALIBRATION = 25.0


def chosen_experiments(names: Sequence[str]) -> list[str]:
    """The experiments to run, in their order; `all`, or none named, is all of them."""
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            known = ", ".join((*EXPERIMENTS, "all"))
            raise InputError(f"is no experiment (there are: {known})", field="experiment", file=name)
    return [name for name in EXPERIMENTS if not names or "all" in names or name in names]


def datasets_of(experiments: Sequence[str]) -> list[str]:
    """The datasets that experiments evaluate."""
    return [name for name in DATASET_SPECS if any(name in EXPERIMENTS[one].datasets for one in experiments)]


def sources_of(experiments: Sequence[str]) -> list[str]:
    """The datasets whose images are needed: a dataset comes after the one that has its calibration images."""
    used = datasets_of(experiments)
    return list(dict.fromkeys(one for name in used for one in (DATASET_SPECS[name].camera_of or name, name)))


def plan_stages(study: Study, names: Sequence[str]) -> tuple[Stage, ...]:
    """Stages and about how many seconds each takes on 2 cores; what is there already takes less."""
    chosen = chosen_experiments(names)
    experiments = (Stage(one, EXPERIMENTS[one].seconds[0 if study.quick else 1]) for one in chosen)
    return (*dataset_stages(study, sources_of(chosen)), *experiments)


def dataset_stages(study: Study, names: Sequence[str]) -> tuple[Stage, ...]:
    """The stages in which datasets are simulated and calibrated."""
    stages = list[Stage]()
    for name in names:
        if study.data is None:
            stages.append(Stage(simulation_stage(name), SIMULATION[name] * (QUICK_PART if study.quick else 1)))
        if DATASET_SPECS[name].camera_of is None:
            stages.append(Stage(calibration_stage(name), QUICK_CALIBRATION if study.quick else CALIBRATION))
    return tuple(stages)


def plan_experiment(study: Study, name: str, datasets: Mapping[str, Dataset]) -> Job[Values]:
    """The job that gives the values of an experiment, with all jobs that it needs."""
    return EXPERIMENTS[name].plan(study, datasets)
