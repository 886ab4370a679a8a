"""The step of a calibration that adjusts camera and board poses to the features.

The work folder gets `camera.yaml` and `poses.js`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plenodepth.cache import WorkFolder
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty, uncertainty
from plenodepth.calib.bundle.poses import write_board_poses
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.camera import PlenopticCamera, calibrate_inverse_distortion, save_camera
from plenodepth.camera.model import Provenance
from plenodepth.errors import InputError
from plenodepth.progress import Progress, no_progress

CAMERA, POSES = "camera.yaml", "poses.js"


@dataclass(frozen=True, eq=False)
class AdjustStep:
    """The calibrated camera and how well it is known."""

    camera: PlenopticCamera  # its provenance has the covariance
    adjustment: Adjustment
    uncertainty: Uncertainty


def adjust_step(
    features: Features,
    centers: Centers | None,
    board: Board,
    start: PlenopticCamera,
    work: WorkFolder,
    *,
    settings: AdjustSettings | None = None,
    name: str = "calibrated",
    progress: Progress = no_progress,
) -> AdjustStep:
    """Bundle adjustment, uncertainty and inverse distortion. Write the camera, called `name`, and the boards' poses."""
    adjustment = adjust(
        features, centers, board, replace(start, name=name), settings, report=lambda what: progress(0, 1, what)
    )
    known = uncertainty(adjustment.problem, adjustment.estimate, adjustment.considered)
    try:
        inverse, notes = calibrate_inverse_distortion(adjustment.camera).distortion, adjustment.notes
    except InputError:
        inverse = None
        notes = (*adjustment.notes, "the distortion found has no inverse over the image: check the board's size")
    camera = replace(
        adjustment.camera,
        inverse_distortion=inverse,
        provenance=Provenance(
            source="plenodepth calibrate",
            notes=notes,
            residuals=_residuals(adjustment),
            covariance_parameters=known.names,
            covariance=(known.covariance + known.covariance.T) / 2 if known.names else None,
            aperture_aware=adjustment.problem.aperture,
        ),
    )
    save_camera(camera, work / CAMERA)
    write_board_poses(adjustment.estimate.poses, work / POSES)
    return AdjustStep(camera, adjustment, known)


def _residuals(adjustment: Adjustment) -> dict[str, float]:
    values = {
        "rmse_uv": adjustment.rmse_uv,
        "rmse_rho": adjustment.rmse_rho,
        "rmse_centers": adjustment.rmse_centers,
    }
    return {name: value for name, value in values.items() if np.isfinite(value)}
