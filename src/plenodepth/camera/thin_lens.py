"""The main lens as a thin lens at the origin: object point ↔ image point, K(F) of the paper and its inverse."""

from __future__ import annotations

import numpy as np

from plenodepth.camera.model import Array


def image_point(points: Array, focal: float) -> Array:
    """Image p = −F/(z − F) · P of object points P (..., 3) mm; NaN where z ≤ F, which forms no real image."""
    z = points[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        magnification = np.where(z > focal, -focal / (z - focal), np.nan)
    return points * magnification[..., None]


def image_point_jacobian(points: Array, focal: float) -> tuple[Array, Array]:
    """Derivatives of `image_point` by the point (..., 3, 3) and by F (..., 3)."""
    z = points[..., 2]
    magnification = -focal / (z - focal)
    by_point = magnification[..., None, None] * np.eye(3)
    by_point[..., :, 2] += points * (focal / (z - focal) ** 2)[..., None]
    by_focal = points * (-z / (z - focal) ** 2)[..., None]
    return by_point, by_focal


def object_point(points: Array, focal: float) -> Array:
    """Object P = F/(z' + F) · p of image points p (..., 3) mm behind the lens; NaN where −z' ≤ F (beyond infinity)."""
    z = points[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        magnification = np.where(z < -focal, focal / (z + focal), np.nan)
    return points * magnification[..., None]
