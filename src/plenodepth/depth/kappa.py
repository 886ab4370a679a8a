"""Which blur coefficient κ an estimation takes: σ_r = κ ρ_r, the spread per axis by which one view is blurrier.

That of the settings, else the camera's if it was found with the operator that equalises views here (`calibrate kappa`),
else that of a uniform disc. A κ that was found with a Gaussian, as in libpleno's files and the presets, is left aside:
those are 0.74 to 1.02, and at R12-A's 0.81 the scatter of depth in its simulated twin at 340 mm is 2.5 times as large.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.settings import DISC_BLUR_COEFFICIENT, DepthSettings


class UsedKappa(NamedTuple):
    """κ and where it is from."""

    value: float
    source: Literal["settings", "camera", "disc"]


def used_kappa(camera: PlenopticCamera | GridCamera, settings: DepthSettings) -> UsedKappa | None:
    """The κ of an estimation; None where views are not equalised: D, lenses of one type, a camera known by its grid."""
    if not (isinstance(camera, PlenopticCamera) and settings.blur and camera.type_count > 1):
        return None
    if settings.blur_coefficient is not None:
        return UsedKappa(settings.blur_coefficient, "settings")
    if camera.blur_coefficient is not None and camera.blur_operator == "depth":
        return UsedKappa(camera.blur_coefficient, "camera")
    return UsedKappa(DISC_BLUR_COEFFICIENT, "disc")
