"""Direct and inverse distortion (the paper's table of intrinsic parameters): does the one undo the other?"""

from __future__ import annotations

from plenodepth.camera import calibrate_inverse_distortion
from plenodepth.studies.reproduction.datasets import prepared
from plenodepth.studies.reproduction.results import DistortionFit, DistortionResult
from plenodepth.studies.reproduction.study import Study

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")


def distortion_experiment(study: Study) -> DistortionResult:
    """Coefficients Q1, Q2, Q3, P1, P2 of either direction, and what is left after both, mm."""
    datasets: dict[str, DistortionFit] = {}
    for name in DATASETS:
        camera = prepared(study, name).camera
        fit = calibrate_inverse_distortion(camera)
        datasets[name] = DistortionFit(
            direct=tuple(float(value) for value in camera.distortion.coefficients),
            inverse=tuple(float(value) for value in fit.distortion.coefficients),
            rmse_mm=fit.rmse,
            largest_mm=fit.largest_error,
            exact_rmse_mm=fit.exact_rmse,
            iterations=fit.iterations,
        )
    return DistortionResult(datasets)
