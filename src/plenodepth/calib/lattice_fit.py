"""A lattice through micro-image centres whose indices are known, by robust least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import Centers
from plenodepth.camera.model import Array
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose

ROUNDS = 10
OUTLIER = 4.0  # robust standard deviations
LEAST_SPREAD = 1e-6  # px: centres that fit better than this are exact, and rounding must not make outliers of them


@dataclass(frozen=True, eq=False)
class LatticeFit:
    """A lattice placed in the image, and how well the centres that count agree with it."""

    lattice: Lattice
    image_from_lattice: PlanarPose
    inliers: NDArray[np.bool_]  # (n,) centres that count
    rms: float  # px, of |measured − lattice| over the inliers
    standard_errors: Array  # (5,) of pitch x and y (px), angle (rad), translation u and v (px)


def fitted_lattice(
    centers: Centers, arrangement: Arrangement, columns: int, rows: int, shifted_parity: int | None = None
) -> LatticeFit:
    """The lattice nearest to the centres: two pitches, angle and offset; gross outliers do not count.

    An affine fit first, whose parts along the two axes give the pitches and one angle between them (shear, which a
    lattice has no place for, is shared out evenly).
    """
    lattice = Lattice(arrangement, columns, rows, np.ones(2), shifted_parity)
    unit = lattice.unit_node(centers.k, centers.l)
    good = np.isfinite(centers.uv).all(axis=1) & lattice.contains(centers.k, centers.l)
    _require_spread(unit[good])
    fit = _affine(unit, centers.uv, good)
    for _ in range(ROUNDS):
        distance = np.linalg.norm(centers.uv - np.column_stack([unit, np.ones(len(unit))]) @ fit.T, axis=1)
        spread = max(float(np.median(distance[good])) / np.sqrt(2 * np.log(2)), LEAST_SPREAD)  # of a 2-D Gaussian
        keep = np.isfinite(distance) & lattice.contains(centers.k, centers.l) & (distance <= OUTLIER * spread)
        if np.array_equal(keep, good):
            break
        _require_spread(unit[keep])
        good, fit = keep, _affine(unit, centers.uv, keep)
    along_x, along_y = fit[:, 0], fit[:, 1]
    pitch = np.array([np.hypot(*along_x), np.hypot(*along_y)])
    angle = float((np.arctan2(along_x[1], along_x[0]) + np.arctan2(-along_y[0], along_y[1])) / 2)
    turned = PlanarPose(angle, np.zeros(2))(unit * pitch)
    pose = PlanarPose(angle, (centers.uv - turned)[good].mean(axis=0))
    placed = Lattice(arrangement, columns, rows, pitch, shifted_parity)
    residual = (centers.uv - pose(placed.node(centers.k, centers.l)))[good]
    rms = float(np.sqrt(np.mean(np.sum(residual**2, axis=1))))
    return LatticeFit(placed, pose, good, rms, _standard_errors(unit[good], pitch, angle, residual))


def _affine(unit: Array, uv: Array, good: NDArray[np.bool_]) -> Array:
    """(2, 3): columns along x, along y, offset. Starts robustly, since the first call may meet any outlier."""
    design = np.column_stack([unit, np.ones(len(unit))])[good]
    weight = np.ones(len(design))
    fit: Array = np.zeros((3, 2))
    for _ in range(ROUNDS):
        weighted = design * weight[:, None], uv[good] * weight[:, None]
        fit = np.asarray(np.linalg.lstsq(*weighted, rcond=None)[0], np.float64)
        distance = np.linalg.norm(uv[good] - design @ fit, axis=1)
        scale = max(float(np.median(distance)), LEAST_SPREAD)
        weight = 1 / np.sqrt(1 + (distance / (2 * scale)) ** 2)  # Cauchy
    return np.asarray(fit.T)


def _require_spread(unit: Array) -> None:
    if len(unit) < 3 or np.linalg.matrix_rank(unit - unit.mean(axis=0), tol=0.25) < 2:
        raise InputError(
            f"{len(unit)} usable ones do not fix a lattice",
            field="centres",
            fix="give centres of several rows and columns",
        )


def _standard_errors(unit: Array, pitch: Array, angle: float, residual: Array) -> Array:
    """Of pitch x, y, angle, translation; NaN without a degree of freedom."""
    degrees = 2 * len(unit) - 5
    if degrees <= 0:
        return np.full(5, np.nan)
    cos, sin = np.cos(angle), np.sin(angle)
    slopes = np.zeros((len(unit), 2, 5))
    slopes[:, :, 0] = unit[:, :1] * [cos, sin]
    slopes[:, :, 1] = unit[:, 1:] * [-sin, cos]
    x, y = (unit * pitch).T
    slopes[:, 0, 2], slopes[:, 1, 2] = -sin * x - cos * y, cos * x - sin * y
    slopes[:, 0, 3] = slopes[:, 1, 4] = 1
    flat = slopes.reshape(-1, 5)
    variance = np.sum(residual**2) / degrees
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(flat.T @ flat)) * variance))
