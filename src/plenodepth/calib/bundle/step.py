"""The step of a calibration that adjusts camera and board poses to the features.

The work folder gets `camera.yaml` and `poses.js`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plenodepth.cache import WorkFolder
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.held_parameters import held_parameter
from plenodepth.calib.bundle.optics_choice import OpticsChoice, compare_optics
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty, uncertainty
from plenodepth.calib.bundle.poses import write_board_poses
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.camera import PlenopticCamera, calibrate_inverse_distortion, save_camera
from plenodepth.camera.model import Provenance
from plenodepth.camera.parameters import PUPIL_DISTANCE
from plenodepth.errors import InputError
from plenodepth.progress import Progress, no_progress

CAMERA, POSES = "camera.yaml", "poses.js"


@dataclass(frozen=True, eq=False)
class AdjustStep:
    """The calibrated camera and how well it is known."""

    camera: PlenopticCamera  # its provenance has the covariance
    adjustment: Adjustment
    uncertainty: Uncertainty
    optics: OpticsChoice | None = None  # None where nothing tells the exit pupil, or it was freed as asked


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
    """Bundle adjustment, uncertainty and inverse distortion. Write the camera, called `name`, and the boards' poses.

    Where white centres and boards together ask for another exit pupil, its distance is freed
    (`AdjustSettings.find_pupil`).
    """
    chosen = settings or AdjustSettings()

    def adjusted(settings: AdjustSettings) -> tuple[Adjustment, Uncertainty]:
        made = adjust(
            features, centers, board, replace(start, name=name), settings, report=lambda what: progress(0, 1, what)
        )
        return made, uncertainty(made.problem, made.estimate, made.considered)

    adjustment, known = adjusted(chosen)
    optics = None
    if not chosen.free and centers is not None and known.names:
        asked = held_parameter(adjustment.problem, adjustment.estimate, PUPIL_DISTANCE, known.scatter_factor)
        wanted = chosen.find_pupil and asked.perhaps_another_pupil
        freed = adjusted(replace(chosen, free=(PUPIL_DISTANCE,))) if wanted else None
        optics = compare_optics(adjustment, known, asked, freed, find_pupil=chosen.find_pupil)
        if freed is not None and optics.freed:
            note = _pupil_note(adjustment, *freed, asked.gain)
            adjustment, known = replace(freed[0], notes=(*freed[0].notes, note)), freed[1]
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
    return AdjustStep(camera, adjustment, known, optics)


def _pupil_note(thin: Adjustment, freed: Adjustment, known: Uncertainty, gain: float) -> str:
    """What freeing the exit pupil did, in words."""
    sigma = dict(zip(known.names, known.sigma, strict=True))[PUPIL_DISTANCE]
    found, before = freed.camera.main_lens, thin.camera.main_lens
    return (
        f"white centres do not spread as from the middle of a thin main lens (χ² less by {gain:.0f} with one parameter "
        f"more), so the exit pupil was freed: e = {found.pupil_distance:.1f} ± {sigma:.1f} mm, F "
        f"{found.focal_length:.2f} instead of {before.focal_length:.2f} mm, RMSE {freed.rmse_uv:.3f} instead "
        f"of {thin.rmse_uv:.3f} px; --thin-lens holds it"
    )


def _residuals(adjustment: Adjustment) -> dict[str, float]:
    values = {
        "rmse_uv": adjustment.rmse_uv,
        "rmse_rho": adjustment.rmse_rho,
        "rmse_centers": adjustment.rmse_centers,
    }
    return {name: value for name, value in values.items() if np.isfinite(value)}
