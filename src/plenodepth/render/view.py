"""A rendered view: light, depth and the pinhole that sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.pinhole import Pinhole
from plenodepth.metric.picture import srgb_picture

Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RenderedView:
    """What a pinhole sees, (h, w) each.

    A camera that is known by its lens grid only has no pinhole: its view is a parallel projection of the virtual image,
    and its depth is virtual.
    """

    light: Float32  # (h, w, channels), linear, 1 for white: RGB or gray; NaN where there is none
    depth: Float32  # mm, along z from the pinhole's centre; or virtual depth. NaN: none
    sigma: Float32  # standard deviation of the depth
    confidence: Float32  # probability that the depth is right
    filled: NDArray[np.bool_]  # light or depth was taken from neighbours
    pinhole: Pinhole | None
    scale: float  # side of a pixel of the view, in pixels of the sensor
    metric: bool  # whether depth is in mm
    viewpoint: tuple[float, float] = (0.0, 0.0)  # right and down, in radii of the pupil
    name: str = "view"

    @property
    def picture(self) -> NDArray[np.uint8]:
        """The light as sRGB (h, w, 3), 1 for white; black where there is none."""
        return srgb_picture(self.light)
