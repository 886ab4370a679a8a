"""A point cloud as somebody beside the camera would see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.geometry import Pose

NOTHING = 0x22  # gray where no point is, that of `MISSING`
SHOWN_QUANTILES = (0.01, 0.99)  # of the points lie within the picture's sides; stray ones may lie outside


def cloud_picture(
    points: NDArray[np.floating[Any]],
    colors: NDArray[np.uint8],
    *,
    turn: tuple[float, float] = (14.0, 12.0),
    size: tuple[int, int] = (1200, 900),
    spot: int = 3,
) -> NDArray[np.uint8]:
    """A cloud (n, 3) in mm with its colours (n, 3), turned about its middle, in perspective: sRGB (h, w, 3).

    `turn`, degrees: to the side, and towards a look from above. `size`: width and height, px; the cloud fills them.
    A point is a square of `spot` px, and hides what is behind it.
    """
    if points.ndim != 2 or points.shape[1] != 3 or points.shape != colors.shape or not len(points):
        raise InputError(f"have shape {points.shape} and {colors.shape}, need (n, 3)", field="points and colors")
    middle = np.median(points, axis=0).astype(np.float64)
    side, above = np.deg2rad(turn)
    turned = Pose.from_euler_xyz([above, 0, 0])(Pose.from_euler_xyz([0, side, 0])(points - middle))
    distance = turned[:, 2] + middle[2]
    front = distance > 0
    place, distance = turned[front, :2] / distance[front, None], distance[front]
    low, high = np.quantile(place, SHOWN_QUANTILES, axis=0)
    enlarged = (place - (low + high) / 2) * (np.array(size) / np.maximum(high - low, 1e-9)).min()
    pixel = np.floor(enlarged + np.array(size) / 2).astype(np.int64)
    order = np.argsort(-distance)  # the nearest last: it stays
    return _painted(pixel[order], colors[front][order], distance[order], size, spot)


def _painted(
    pixel: NDArray[np.int64],
    colors: NDArray[np.uint8],
    distance: NDArray[np.float64],
    size: tuple[int, int],
    spot: int,
) -> NDArray[np.uint8]:
    """Squares about pixels (n, 2), ordered from the farthest to the nearest."""
    width, height = size
    picture = np.full((height * width, 3), NOTHING, np.uint8)
    nearest = np.full(height * width, np.inf)
    for y in range(-(spot // 2), spot - spot // 2):
        for x in range(-(spot // 2), spot - spot // 2):
            column, row = pixel[:, 0] + x, pixel[:, 1] + y
            inside = np.flatnonzero((column >= 0) & (column < width) & (row >= 0) & (row < height))
            last = np.full(height * width, -1, np.int64)
            last[row[inside] * width + column[inside]] = inside  # of several the last, the nearest
            drawn = np.flatnonzero(last >= 0)
            drawn = drawn[distance[last[drawn]] < nearest[drawn]]
            picture[drawn], nearest[drawn] = colors[last[drawn]], distance[last[drawn]]
    return picture.reshape(height, width, 3)
