"""A lattice through micro-image centres whose indices are known, by robust least squares; and its lens types."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import Centers
from plenodepth.camera.model import Array, Indices, default_type_pattern
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose

ROUNDS = 10
OUTLIER = 4.0  # robust standard deviations
QUADRATIC_FROM = 1000  # centres: fewer do not reach far enough for a tilt to matter
TILTED = 0.1  # of the pitch: how far centres may be off a lattice because the array is tilted
LEAST_SIGMA = 0.05  # px: what better a centre is said to be known does not make it count more
EXACT = 1e-6  # of sigma: centres that fit better than this are exact, and rounding must not make outliers of them


@dataclass(frozen=True, eq=False)
class LatticeFit:
    """A lattice placed in the image, and how well the centres that count agree with it."""

    lattice: Lattice
    image_from_lattice: PlanarPose
    inliers: NDArray[np.bool_]  # (n,) centres that count
    rms: float  # px, of |measured − lattice| over the inliers
    standard_errors: Array  # (5,) of pitch x and y (px), angle (rad), translation u and v (px)


def fitted_lattice(
    centers: Centers,
    arrangement: Arrangement,
    columns: int,
    rows: int,
    shifted_parity: int | None = None,
    *,
    same_pitch: bool = False,
) -> LatticeFit:
    """The lattice nearest to the centres: two pitches, angle and offset; gross outliers do not count.

    Centres weigh by their covariance. Outliers are told by a smooth map of the indices. An affine fit to the others,
    whose parts along the two axes give the pitches and one angle between them (shear, which a lattice has no place
    for, is shared out evenly). `same_pitch`: along x and y, for centres that are too bad to tell them apart.
    """
    lattice = Lattice(arrangement, columns, rows, np.ones(2), shifted_parity)
    unit = lattice.unit_node(centers.k, centers.l)
    good = np.isfinite(centers.uv).all(axis=1) & lattice.contains(centers.k, centers.l)
    _require_spread(unit[good])
    inside = good
    sigma = np.sqrt(np.trace(centers.covariance, axis1=1, axis2=2) / 2 + LEAST_SIGMA**2)
    sigma = np.where(np.isfinite(sigma), sigma, np.inf)
    for quadratic in (False, True):  # a block of wrong centres at the border could bend a quadratic, but not a lattice
        for _ in range(ROUNDS):
            smooth, pitch = _smooth(unit, centers.uv, sigma, good, quadratic)
            distance = np.linalg.norm(centers.uv - smooth, axis=1) / sigma
            spread = max(float(np.median(distance[good])) / np.sqrt(2 * np.log(2)), EXACT)  # of a 2-D Gaussian
            limit = OUTLIER * spread * sigma
            keep = inside & (distance * sigma <= (limit if quadratic else np.maximum(limit, TILTED * pitch)))
            if np.array_equal(keep, good):
                break
            _require_spread(unit[keep])
            good = keep
    return _fit(centers, lattice, good, 1 / sigma, same_pitch)


def _fit(centers: Centers, lattice: Lattice, good: NDArray[np.bool_], weight: Array, same_pitch: bool) -> LatticeFit:
    """Affine, then the nearest lattice; `weight` (n,) of the residuals."""
    unit = lattice.unit_node(centers.k, centers.l)[good]
    uv, weight = centers.uv[good], weight[good]
    design = np.column_stack([unit, np.ones(len(unit))]) * weight[:, None]
    affine = np.linalg.lstsq(design, uv * weight[:, None], rcond=None)[0].T
    along_x, along_y = affine[:, 0], affine[:, 1]
    pitch = np.array([np.hypot(*along_x), np.hypot(*along_y)])
    if same_pitch:
        pitch = np.full(2, pitch.mean())
    angle = float((np.arctan2(along_x[1], along_x[0]) + np.arctan2(-along_y[0], along_y[1])) / 2)
    turned = PlanarPose(angle, np.zeros(2))(unit * pitch)
    pose = PlanarPose(angle, np.average(uv - turned, axis=0, weights=weight**2))
    placed = Lattice(lattice.arrangement, lattice.columns, lattice.rows, pitch, lattice.shifted_parity)
    residual = uv - pose(unit * pitch)
    rms = float(np.sqrt(np.mean(np.sum(residual**2, axis=1))))
    return LatticeFit(placed, pose, good, rms, _standard_errors(unit, pitch, angle, residual, weight))


def _smooth(unit: Array, uv: Array, sigma: Array, good: NDArray[np.bool_], quadratic: bool) -> tuple[Array, float]:
    """Positions (n, 2) by a linear or quadratic map of the lattice, and its pitch; a tilted array is no lattice.

    Robust from the start (Cauchy weights), since any share of the centres may be wrong at first.
    """
    scale = np.abs(unit).max()
    x, y = ((unit - unit[good].mean(axis=0)) / scale).T
    terms = [np.ones(len(x)), x, y]
    if quadratic and np.count_nonzero(good) >= QUADRATIC_FROM:
        terms += [x * x, x * y, y * y]
    design = np.column_stack(terms)
    weight = 1 / sigma[good]
    fit: Array = np.zeros((len(terms), 2))
    for _ in range(ROUNDS):
        weighted = design[good] * weight[:, None], uv[good] * weight[:, None]
        fit = np.asarray(np.linalg.lstsq(*weighted, rcond=None)[0], np.float64)
        distance = np.linalg.norm(uv[good] - design[good] @ fit, axis=1) / sigma[good]
        weight = 1 / np.sqrt(1 + (distance / (2 * max(float(np.median(distance)), EXACT))) ** 2) / sigma[good]
    return np.asarray(design @ fit), float(np.sqrt(abs(np.linalg.det(fit[1:3]))) / scale)


def _require_spread(unit: Array) -> None:
    if len(unit) < 3 or np.linalg.matrix_rank(unit - unit.mean(axis=0), tol=0.25) < 2:
        raise InputError(
            f"{len(unit)} usable ones do not fix a lattice",
            field="centres",
            fix="give centres of several rows and columns",
        )


def _standard_errors(unit: Array, pitch: Array, angle: float, residual: Array, weight: Array) -> Array:
    """Standard errors of the pitches, angle and translation; NaN without a degree of freedom."""
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
    flat = (slopes * weight[:, None, None]).reshape(-1, 5)
    variance = np.sum((residual * weight[:, None]) ** 2) / degrees
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(flat.T @ flat)) * variance))


def type_pattern_for(lattice: Lattice, type_count: int) -> Indices:
    """The layout (P, Q) of `type_count` types in which neighbouring lenses differ, as in Raytrix arrays.

    It is `default_type_pattern` where odd rows (columns) follow the usual shift, and its mirror image elsewhere.
    """
    usual = default_type_pattern(lattice.arrangement, type_count)
    if type_count != 3 or lattice.arrangement is Arrangement.ORTHOGONAL:
        return usual
    rows = lattice.arrangement is Arrangement.HEXAGONAL_ROWS
    mirrored = np.array([[0, 1, 2], [2, 0, 1]])
    other = mirrored if rows else mirrored.T
    return usual if _neighbours_differ(lattice, usual) else other


def _neighbours_differ(lattice: Lattice, pattern: Indices) -> bool:
    k, l = (index.ravel() for index in np.meshgrid(np.arange(12), np.arange(12)))
    place = lattice.unit_node(k, l)
    near = np.linalg.norm(place[:, None] - place[None], axis=-1) < 1.2
    types = pattern[l % pattern.shape[0], k % pattern.shape[1]]
    same = types[:, None] == types[None]
    return not bool((near & same & ~np.eye(len(k), dtype=bool)).any())
