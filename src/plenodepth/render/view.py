"""A rendered view: light, depth and the pinhole that sees them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plenodepth.metric.picture import srgb_picture

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pinhole:
    """A pinhole camera without distortion, in px of its view. The middle of the first pixel is at (0, 0).

    It looks along z of the camera frame (x to the right, y downwards), from `center`. A point p is seen at
    column cx + fx (p_x − c_x)/(p_z − c_z), and row alike.
    """

    fx: float
    fy: float
    cx: float
    cy: float
    center: Float64 = field(default_factory=lambda: np.zeros(3))  # mm, in the camera frame

    @property
    def matrix(self) -> Float64:
        """K (3, 3)."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1]], np.float64)

    def points(self, depth: Float32) -> Float32:
        """What pixels with depths (h, w) mm, measured from the centre along z, see: (h, w, 3) mm, camera frame."""
        row, column = np.indices(depth.shape)
        direction = np.stack([(column - self.cx) / self.fx, (row - self.cy) / self.fy, np.ones(depth.shape)], axis=-1)
        return (direction * depth[..., None] + self.center).astype(np.float32)

    def places(self, points: NDArray[np.floating]) -> Float64:
        """Column and row (..., 2) at which points (..., 3) mm are seen; NaN for those that are not before it."""
        away = np.asarray(points, np.float64) - self.center
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = (away[..., axis] / np.where(away[..., 2] > 0, away[..., 2], np.nan) for axis in (0, 1))
        return np.stack([self.cx + self.fx * x, self.cy + self.fy * y], axis=-1)


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
