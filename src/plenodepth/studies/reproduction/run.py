"""A reproduction from beginning to end: datasets, the experiments one after another, all results in a file."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from plenodepth.camera.parameters import intrinsic_names, intrinsic_values
from plenodepth.errors import InputError
from plenodepth.io.atomic import made_folder
from plenodepth.io.claims import claimed
from plenodepth.studies.reproduction.datasets import Dataset, datasets_job
from plenodepth.studies.reproduction.plan import (
    EXPERIMENTS,
    chosen_experiments,
    datasets_of,
    plan_experiment,
    plan_stages,
    sources_of,
)
from plenodepth.studies.reproduction.planned_progress import PlannedProgress, ShowProgress
from plenodepth.studies.reproduction.results import (
    RESULTS,
    CalibratedParameters,
    ExperimentResult,
    ReproductionResult,
    Values,
    save_results,
)
from plenodepth.studies.reproduction.sources import find_source
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import WorkerPool
from plenodepth.version import __version__

PACKAGES = ("numpy", "scipy", "numba", "opencv-python-headless", "pyceres", "matplotlib")


def check_inputs(study: Study, names: Sequence[str] = ()) -> None:
    """Refuse, before any work, what a reproduction cannot be run with: settings, data that lack something, `out`."""
    chosen = chosen_experiments(names)
    if study.seed < 0:
        raise InputError(f"is {study.seed}, needs a whole number ≥ 0", field="--seed")
    if study.data is not None:
        if study.quick:
            raise InputError("makes small twins, not to be had with --data", field="--quick", fix="leave one out")
        for name in sources_of(chosen):
            _ = find_source(study, name).white  # both say what is lacking
    if study.out.exists() and not study.out.is_dir():
        raise InputError("is a file", field="--out", file=study.out, fix="give a folder")
    there = next((folder for folder in (study.out, *study.out.absolute().parents) if folder.exists()), study.out)
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError("cannot be written", field="--out", file=study.out, fix="give a writable folder")


def reproduce(study: Study, names: Sequence[str] = (), show: ShowProgress | None = None) -> ReproductionResult:
    """Run experiments (default: all) and write `results.json` into `study.out`.

    What was computed before from the same inputs is read from `out/work`. `show(done, total, what)` is told how far
    it is, in planned seconds.
    """
    chosen = chosen_experiments(names)
    check_inputs(study, chosen)
    with made_folder(study.out), claimed(study.out):
        return _reproduced(study, chosen, show or (lambda done, total, what: None))


def _reproduced(study: Study, chosen: Sequence[str], show: ShowProgress) -> ReproductionResult:
    stages, begun = plan_stages(study, chosen), time.perf_counter()
    progress = PlannedProgress(stages, show)
    experiments: dict[str, ExperimentResult] = {}
    with WorkerPool(study, progress) as pool:
        ready = pool.run(datasets_job(datasets_of(chosen)))
        datasets = dict(ready)
        for name in chosen:
            started = time.perf_counter()
            values: Values = pool.run(plan_experiment(study, name, datasets))
            progress.stage_over(name)
            found, checks = EXPERIMENTS[name].tables(values)
            experiments[name] = ExperimentResult(
                title=EXPERIMENTS[name].title,
                text=EXPERIMENTS[name].text,
                seconds=round(time.perf_counter() - started, 1),
                tables=found,
                # What is asked is asked of sensors of full size.
                checks=tuple(check.not_compared for check in checks) if study.quick else checks,
                values=values,
            )
    used = sorted(datasets)
    result = ReproductionResult(
        plenodepth=__version__,
        quick=study.quick,
        seed=study.seed,
        rays=study.rays,
        data="twins" if study.data is None else str(study.data),
        threads=study.threads,
        versions={"python": platform.python_version(), **_versions()},
        checksums={name: datasets[name].source.checksum for name in used},
        calibration={name: calibrated_parameters(datasets[name]) for name in used},
        plan=stages,
        seconds=round(time.perf_counter() - begun, 1),
        experiments=experiments,
    )
    save_results(result, study.out / RESULTS)
    return result


def calibrated_parameters(dataset: Dataset) -> CalibratedParameters:
    """The calibrated camera of a dataset: each parameter with its σ."""
    camera = dataset.camera
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
