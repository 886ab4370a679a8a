"""What a click meets: the drawn point nearest to its ray, or a place on a picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

NEAR_ENOUGH = 0.01  # rad between the ray and the direction of the point: a hundredth of the distance beside it
ONE_SURFACE = 0.02  # of the distance: of points that are equally near the ray, those in front hide those behind


def point_on_ray(points: NDArray[np.float32], origin: ArrayLike, direction: ArrayLike) -> int | None:
    """The index of the point (n, 3) that a ray shows, None if it passes them all.

    Of the points within twice the smallest angle to the ray (or a thousandth) the nearest to the eye: what lies behind
    it is hidden.
    """
    if not len(points):
        return None
    towards = np.asarray(direction, np.float32) / np.linalg.norm(direction).astype(np.float32)
    offset = points - np.asarray(origin, np.float32)
    along = offset @ towards
    beside = np.sqrt(np.maximum(np.einsum("ij,ij->i", offset, offset) - along**2, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(along > 0, beside / along, np.inf)
    least = float(angle.min())
    if not least < NEAR_ENOUGH:
        return None
    candidates = np.flatnonzero(angle <= max(2 * least, 0.1 * NEAR_ENOUGH))
    nearest = along[candidates].min()
    front = candidates[along[candidates] <= nearest * (1 + ONE_SURFACE)]
    return int(front[np.argmin(angle[front])])


def place_on_plane(origin: ArrayLike, direction: ArrayLike, depth: float) -> NDArray[np.float64] | None:
    """Where (x, y) a ray meets the plane z = depth; None if it does not."""
    start, towards = np.asarray(origin, np.float64), np.asarray(direction, np.float64)
    if towards[2] == 0 or (depth - start[2]) / towards[2] <= 0:
        return None
    place: NDArray[np.float64] = (start + towards * ((depth - start[2]) / towards[2]))[:2]
    return place
