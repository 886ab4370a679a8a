"""A pinhole camera without distortion: what the main lens' centre, or another point of its pupil, sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import Array, PlenopticCamera


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
    center: Array = field(default_factory=lambda: np.zeros(3))  # mm, in the camera frame

    @property
    def matrix(self) -> Array:
        """K (3, 3)."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1]], np.float64)

    def points(self, depth: NDArray[np.float32]) -> NDArray[np.float32]:
        """What pixels with depths (h, w) mm, measured from the centre along z, see: (h, w, 3) mm, camera frame."""
        row, column = np.indices(depth.shape)
        direction = np.stack([(column - self.cx) / self.fx, (row - self.cy) / self.fy, np.ones(depth.shape)], axis=-1)
        return (direction * depth[..., None] + self.center).astype(np.float32)

    def places(self, points: NDArray[np.floating[Any]]) -> Array:
        """Column and row (..., 2) at which points (..., 3) mm are seen; NaN for those that are not before it."""
        away = np.asarray(points, np.float64) - self.center
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = (away[..., axis] / np.where(away[..., 2] > 0, away[..., 2], np.nan) for axis in (0, 1))
        return np.stack([self.cx + self.fx * x, self.cy + self.fy * y], axis=-1)


def central_pinhole(camera: PlenopticCamera, scale: float) -> Pinhole:
    """The pinhole at the main lens' centre, F before its image, with pixels `scale` times as large as the sensor's."""
    # A large pixel covers scale × scale small ones, whose first has its middle at (0, 0) and its edge at −½.
    column, row = ((camera.sensor.principal_point + 0.5) / scale - 0.5).tolist()
    focal = camera.main_lens.focal_length / camera.sensor.pixel_size / scale
    return Pinhole(focal, focal, column, row)
