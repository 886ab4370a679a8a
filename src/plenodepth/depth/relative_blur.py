"""By how much one lens type is blurrier than another, and which blur coefficient κ that takes.

σ_r = κ ρ_r is the spread per axis by which one view is blurrier. κ is that of the settings; else the camera's if it was
found with the operator that equalises views here (`calibrate kappa`); else that of a uniform disc. A κ that was found
with a Gaussian, as in libpleno's files and the presets, is left aside: those are 0.74 to 1.02, and at R12-A's 0.81 the
scatter of depth in its simulated twin at 340 mm is 2.5 times as large.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, relative_blur
from plenodepth.camera.aperture.clipping import aperture_table
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.settings import DISC_BLUR_COEFFICIENT, DepthSettings

Array = NDArray[np.float64]


class UsedKappa(NamedTuple):
    """κ and where it is from."""

    value: float
    source: Literal["settings", "camera", "disc"]


class RelativeBlurVariance(NamedTuple):
    """Variance per axis, px², by which type i is blurrier than type j: square/v² + slope/v + intercept, (I, I) each."""

    square: Array
    slope: Array
    intercept: Array


def used_kappa(camera: PlenopticCamera | GridCamera, settings: DepthSettings) -> UsedKappa | None:
    """The κ of an estimation; None where views are not equalised: D, lenses of one type, a camera known by its grid."""
    if not (isinstance(camera, PlenopticCamera) and settings.blur and camera.type_count > 1):
        return None
    if settings.blur_coefficient is not None:
        return UsedKappa(settings.blur_coefficient, "settings")
    if camera.blur_coefficient is not None and camera.blur_operator == "depth":
        return UsedKappa(camera.blur_coefficient, "camera")
    return UsedKappa(DISC_BLUR_COEFFICIENT, "disc")


def relative_blur_of(camera: PlenopticCamera, settings: DepthSettings, model: ApertureModel) -> RelativeBlurVariance:
    """The relative blur of an estimation; zero where views are not equalised."""
    types = max(camera.micro_images.type_count, 1)
    none = np.zeros((types, types))
    kappa = used_kappa(camera, settings)
    if kappa is None:
        return RelativeBlurVariance(none, none, none)
    if model == "per_pixel":
        scale = (kappa.value / DISC_BLUR_COEFFICIENT) ** 2
        return RelativeBlurVariance(*(scale * part for part in clipped_relative_blur(camera)))
    scale = (kappa.value / camera.sensor.pixel_size) ** 2
    relative = relative_blur(camera)
    return RelativeBlurVariance(none, relative.slope * scale, relative.intercept * scale)


def clipped_relative_blur(camera: PlenopticCamera) -> RelativeBlurVariance:
    """The relative blur where the aperture clips lens types, for κ of a uniform disc.

    A type's variance is that of the open part of its lens in the middle of a micro-image (whose blur all of the
    micro-image is given, see `depth.aperture.chief_rays`), times (1/v − 1/v0)².
    """
    table = aperture_table(camera)
    variance = table.variance_along[:, 0]
    parts = (variance, -2 * variance * table.focus, variance * table.focus**2)
    return RelativeBlurVariance(*(np.subtract.outer(part, part) for part in parts))
