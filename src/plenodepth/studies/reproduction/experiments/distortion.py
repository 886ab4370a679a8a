"""Direct and inverse distortion (the paper's table of intrinsic parameters): does the one undo the other?"""

from __future__ import annotations

from collections.abc import Mapping

from plenodepth.camera import PlenopticCamera, calibrate_inverse_distortion
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.results import DistortionFit, DistortionResult
from plenodepth.studies.reproduction.study import Study

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")
STAGE = "distortion"


def plan_distortion(study: Study, datasets: Mapping[str, Dataset]) -> Job[DistortionResult]:
    """Invert the calibrated distortion of each dataset."""
    fits = tuple(
        (name, Job(invert_distortion, (datasets[name].camera,), STAGE, f"{name}, inverse distortion"))
        for name in DATASETS
    )
    return Job(_collect, (fits,), STAGE, weight=0, in_caller=True)


def invert_distortion(study: Study, camera: PlenopticCamera) -> DistortionFit:
    """Coefficients of either direction, and what is left after both, mm."""
    fit = calibrate_inverse_distortion(camera)
    return DistortionFit(
        direct=tuple(float(value) for value in camera.distortion.coefficients),
        inverse=tuple(float(value) for value in fit.distortion.coefficients),
        rmse_mm=fit.rmse,
        largest_mm=fit.largest_error,
        exact_rmse_mm=fit.exact_rmse,
        iterations=fit.iterations,
    )


def _collect(study: Study, fits: tuple[tuple[str, DistortionFit], ...]) -> DistortionResult:
    return DistortionResult(dict(fits))
