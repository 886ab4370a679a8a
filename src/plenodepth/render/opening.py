"""What the pixels of a micro-image see through: how much light they get, where they look, and how blurred they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.aperture.clipping import aperture_table, focus_inverse_depth
from plenodepth.camera.model import ApertureModel

Float32 = NDArray[np.float32]

PIXEL_VARIANCE = 1 / 12  # px²: of a pixel's own width
SHARPNESS = 4.0  # a sample counts by its variance to the power of minus this
LEAST_OPEN = 0.03  # of a lens: pixels that see through less count nothing
COUNT = 64  # distances from the centre


class Opening(NamedTuple):
    """Per lens type, over the distance from the micro-image's centre: rows of n, every 1/`per_px` px."""

    per_px: np.float32  # entries per px
    area: Float32  # (I, n) open part of the lens
    centroid: Float32  # (I, n) px: times 1/v − 1/v0, how much farther out the pixel looks
    spread: Float32  # (I, n) px²: times (1/v − 1/v0)², the variance of its blur, mean of both axes
    focus: Float32  # (I,) 1/v0
    pixel_variance: np.float32
    sharpness: np.float32


def opening_of(camera: PlenopticCamera | GridCamera, model: ApertureModel, sharpness: float = SHARPNESS) -> Opening:
    """The table of a camera whose depths were found by an aperture model.

    Where the aperture is not known, or not regarded, a lens is open as a whole; of a camera that is known by its grid
    only, no blur is known.
    """
    radius = np.linspace(0, camera.micro_images.radius, COUNT)
    types = max(camera.micro_images.type_count, 1)
    open_part = np.tile(np.clip(1 - (radius / radius[-1]) ** 2, LEAST_OPEN, 1), (types, 1))
    centroid, spread, focus = np.zeros_like(open_part), np.zeros_like(open_part), np.zeros(types)
    if isinstance(camera, PlenopticCamera) and camera.type_count:
        focus = focus_inverse_depth(camera)
        spread += (camera.micro_lenses.lens_diameter / camera.sensor.pixel_size / 4) ** 2
        if model == "per_pixel":
            table = aperture_table(camera, count=COUNT)
            open_part, centroid = table.area, table.centroid
            spread = (table.variance_along + table.variance_across) / 2
    rows = [np.ascontiguousarray(part, np.float32) for part in (open_part, centroid, spread, focus)]
    per_px = np.float32((COUNT - 1) / radius[-1])
    return Opening(per_px, rows[0], rows[1], rows[2], rows[3], np.float32(PIXEL_VARIANCE), np.float32(sharpness))
