"""Targets in a laser scan: crossings of dark and bright on a plane, as of four squares, to parts of a millimetre.

Nothing is known of the targets' size, of the scanner's place or of its noise, so the cloud is looked at in several
sizes. For each it is thinned to cells, and about each cell the brightness is compared with a crossing: going round,
that is dark, bright, dark, bright, so its second harmonic is strong and the first, that of an edge, weak. What is left
is fitted to all points, in the plane through them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares
from scipy.spatial import cKDTree
from scipy.special import erf

from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError

CELLS = 5.0  # in the radius of a look
SMALLEST = 4.0  # spacings of the points, the first radius
GROWTH = 1.4  # from one radius to the next
MOST_SIZES = 12
LEAST_CELLS = 30  # of about 80 in a look
LEAST_CONTRAST = 0.4  # of the scan's own: (bright − dark)/(95 % − 5 %)
LEAST_SECOND = 0.42  # second harmonic over the spread of brightness; 2/π for a sharp crossing
MOST_FIRST = 0.25  # first harmonic, that of an edge
AT_THE_RIM = 0.3  # mean direction of the cells about one that is at the rim of a surface
LOOKS_AT_A_TIME = 20_000  # bounds memory: about 80 cells in each
MOST_THICKNESS = 0.2  # spread across the plane over the radius
LEAST_POINTS = 60
MOST_SEARCHED = 100_000  # of a scan: more take minutes; what is found is then fitted to all
MOST_POINTS = (1500, 6000)  # that are fitted, at first and in the end
LEAST_EXPLAINED = 0.6  # of the brightness' variance, by the crossing
SURE_EXPLAINED = 0.8  # a texture hardly looks as much like a crossing
LEAST_ANGLE = np.radians(40)  # between the edges, on the target
MOST_TARGETS = 40
SAMPLING = 0.07  # spacings of points by which edges, and so a crossing, may be off, since points are not everywhere
OF_THE_WHOLE = 0.25  # of the scan's extent: no target is larger


@dataclass(frozen=True, eq=False)
class LidarTargets:
    """m crossings, those that are told best first."""

    points: Array  # (m, 3) mm, LIDAR frame
    sigma: Array  # (m,) mm: standard deviation of a coordinate
    radius: Array  # (m,) mm about them that is theirs
    explained: Array  # (m,) share of the brightness' variance

    def __len__(self) -> int:
        return len(self.points)

    @property
    def sure(self) -> NDArray[np.bool_]:
        """(m,) whether a crossing is explained so well that it is hardly anything else."""
        return np.asarray(self.explained >= SURE_EXPLAINED)


def find_lidar_targets(
    points: ArrayLike, brightness: ArrayLike, report: Callable[[int, int], None] | None = None
) -> LidarTargets:
    """Crossings in a cloud (n, 3) mm with brightness (n,): a scanner's intensity, or the lightness of its colours.

    `report(done, sizes)` is called after each size that was looked at.
    """
    cloud, light = np.asarray(points, np.float64), np.asarray(brightness, np.float64)
    if cloud.ndim != 2 or cloud.shape[1] != 3 or light.shape != cloud.shape[:1]:
        raise InputError(f"has shape {cloud.shape} and brightness {light.shape}", field="cloud", fix="give (n, 3)")
    known = np.isfinite(cloud).all(axis=1) & np.isfinite(light)
    cloud, light = cloud[known], light[known]
    if len(cloud) < LEAST_POINTS:
        return _nothing()
    low, high = np.quantile(light, [0.05, 0.95])
    if not high > low:
        return _nothing()
    light = (light - low) / (high - low)
    if len(cloud) <= MOST_SEARCHED:
        return _targets(_distinct(_searched(cloud, light, report)))
    some = np.sort(np.random.default_rng(0).choice(len(cloud), MOST_SEARCHED, replace=False))
    found, tree = _distinct(_searched(cloud[some], light[some], report)), cKDTree(cloud)
    return _targets([_fitted(cloud, light, tree, fit.point, fit.radius) or fit for fit in found])


def _searched(cloud: Array, light: Array, report: Callable[[int, int], None] | None) -> list[_Fit]:
    """All crossings in a cloud, in all sizes."""
    tree = cKDTree(cloud)
    sizes = _sizes(cloud, tree)
    fits: list[_Fit] = []
    for done, size in enumerate(sizes, start=1):
        for place in _candidates(cloud, light, size):
            fit = _fitted(cloud, light, tree, place, size)
            if fit is not None:
                fits.append(fit)
        if report is not None:
            report(done, len(sizes))
    return fits


@dataclass(frozen=True, eq=False)
class _Fit:
    point: Array
    sigma: float
    radius: float
    explained: float


def _nothing() -> LidarTargets:
    return _targets([])


def _targets(fits: list[_Fit]) -> LidarTargets:
    points: Array = np.array([fit.point for fit in fits]).reshape(-1, 3)
    others = (np.array([getattr(fit, name) for fit in fits]) for name in ("sigma", "radius", "explained"))
    return LidarTargets(points, *others)


def _sizes(cloud: Array, tree: cKDTree) -> list[float]:
    """Radii to look in: from a few spacings of the points on, up to a part of the whole."""
    some = cloud[:: max(1, len(cloud) // 2000)]
    # The sixth neighbour is about 1.4 spacings away on a surface; farther where noise is larger than the spacing.
    sixth = np.asarray(tree.query(some, k=min(7, len(cloud)))[0])[:, -1]
    spacing = float(np.median(sixth)) / 1.4
    extent = float(np.linalg.norm(np.ptp(np.quantile(cloud, [0.02, 0.98], axis=0), axis=0)))
    sizes = SMALLEST * spacing * GROWTH ** np.arange(MOST_SIZES)
    return [float(size) for size in sizes if 0 < size < OF_THE_WHOLE * extent]


def _thinned(cloud: Array, light: Array, cell: float) -> tuple[Array, Array]:
    """Mean place and brightness of the points in each cube of that side."""
    index = np.floor((cloud - cloud.min(axis=0)) / cell).astype(np.int64)
    spans = index.max(axis=0) + 1
    key = (index[:, 0] * spans[1] + index[:, 1]) * spans[2] + index[:, 2]
    _, group, count = np.unique(key, return_inverse=True, return_counts=True)
    means = [np.bincount(group, column) / count for column in (*cloud.T, light)]
    return np.stack(means[:3], axis=1), np.asarray(means[3])


def _candidates(cloud: Array, light: Array, size: float) -> Array:
    """Places (c, 3) whose surroundings within `size` look like a crossing, one for each."""
    place, bright = _thinned(cloud, light, size / CELLS)
    tree = cKDTree(place)
    near = tree.query(place, k=min(13, len(place)))[1]
    # A crossing has dark and bright close by; most of a scan has not.
    steep = np.flatnonzero(np.ptp(bright[near], axis=1) > LEAST_CONTRAST)
    score = np.zeros(len(place))
    for first in range(0, len(steep), LOOKS_AT_A_TIME):
        some = steep[first : first + LOOKS_AT_A_TIME]
        score[some] = _crossing_scores(place, bright, some, tree.query_ball_point(place[some], size), size)
    found = np.flatnonzero(score > 0)
    kept: list[int] = []
    for at in found[np.argsort(-score[found], kind="stable")]:
        if not kept or np.linalg.norm(place[kept] - place[at], axis=1).min() > size / 2:
            kept.append(int(at))
    return place[np.array(kept[:MOST_TARGETS], dtype=np.int64)]


def _crossing_scores(place: Array, bright: Array, at: Indices, near: Any, size: float) -> Array:
    """How much more the brightness around cells `at` (c,) is like a crossing than like an edge; 0 for no.

    `near` has the cells about each.
    """
    number = np.array([len(one) for one in near])
    around = np.concatenate(near).astype(np.int64)
    group = np.repeat(np.arange(len(at)), number)

    def mean(values: Any, weight: Any = 1.0) -> Any:
        columns = np.broadcast_to(weight, group.shape) * values
        return np.bincount(group, columns, len(at)) / np.maximum(np.bincount(group, weight * np.ones(len(group))), 1)

    offset = place[around] - place[at][group]
    middle = np.stack([mean(column) for column in offset.T], axis=1)
    away = (offset - middle[group]).T
    spread = np.array([[mean(one * other) for other in away] for one in away]).transpose(2, 0, 1)
    values, axes = np.linalg.eigh(spread)
    flat = np.einsum("nc,nca->na", offset, axes[group][:, :, 1:])
    distance = np.hypot(flat[:, 0], flat[:, 1])
    used = ((distance > 0.15 * size) & (distance < size)).astype(np.float64)  # the middle's own cell tells nothing
    light = bright[around] - mean(bright[around], used)[group]
    deviation = np.sqrt(mean(light**2, used))
    x, y = flat.T / np.maximum(distance, 1e-12)
    unit = np.hypot(mean(x, used), mean(y, used))
    with np.errstate(invalid="ignore", divide="ignore"):
        first = np.hypot(mean(light * x, used), mean(light * y, used)) / deviation
        second = np.hypot(mean(light * (x * x - y * y), used), mean(light * 2 * x * y, used)) / deviation
    good = (
        (number >= LEAST_CELLS)
        & (np.sqrt(np.maximum(values[:, 0], 0)) < MOST_THICKNESS * size)
        & (deviation > LEAST_CONTRAST / 2)
        & (unit < AT_THE_RIM)
        & (second > LEAST_SECOND)
        & (first < MOST_FIRST)
    )
    return np.where(good, np.maximum(second - first, 0), 0)


def _fitted(cloud: Array, light: Array, tree: cKDTree, place: Array, size: float) -> _Fit | None:
    """A crossing fitted to the points about a place, twice: the second time about where it turned out to be."""
    fit = None
    for most in MOST_POINTS:
        rows = np.array(tree.query_ball_point(place, 1.2 * size), dtype=np.int64)
        if len(rows) < LEAST_POINTS:
            return None
        rows = rows[:: max(1, len(rows) // most)]
        fit = _crossing(cloud[rows], light[rows], place, size)
        if fit is None or np.linalg.norm(fit.point - place) > 0.6 * size:
            return None
        place = fit.point
    return fit


def _crossing(cloud: Array, light: Array, place: Array, size: float) -> _Fit | None:
    middle, axes, across = _plane(cloud)
    offset = cloud - middle
    plane_sigma = float(across.std()) / np.sqrt(len(cloud))
    flat = offset @ axes[:, 1:]
    start = (place - middle) @ axes[:, 1:]
    on = (np.hypot(*(flat - start).T) < size) & (np.abs(across) < 4 * np.median(np.abs(across)) / 0.67)
    if on.sum() < LEAST_POINTS:
        return None
    flat, value = (flat[on] - start) / size, light[on]
    solved = _solved(flat, value)
    if solved is None:
        return None
    x, covariance, explained = solved
    if explained < LEAST_EXPLAINED or abs(np.sin(x[2] - x[3])) < np.sin(LEAST_ANGLE) or 2 * abs(x[4]) < LEAST_CONTRAST:
        return None
    point = middle + axes[:, 1:] @ (start + size * x[:2])
    spacing = size * np.sqrt(np.pi / len(value))
    variance = (size**2 * np.trace(covariance[:2, :2]) + plane_sigma**2) / 3 + (SAMPLING * spacing) ** 2
    return _Fit(point, float(np.sqrt(variance)), size, explained)


def _plane(cloud: Array) -> tuple[Array, Array, Array]:
    """A point of the plane through a cloud, its axes (3, 3) with the normal first, distances (n,); far points apart."""
    used = np.ones(len(cloud), dtype=np.bool_)
    for _ in range(4):
        middle = cloud[used].mean(axis=0)
        axes = np.linalg.eigh(np.cov((cloud[used] - middle).T))[1]
        across = (cloud - middle) @ axes[:, 0]
        used = np.abs(across) < 3 * max(1.48 * float(np.median(np.abs(across))), 1e-9)
    return middle, axes, across


def _model(x: Array, flat: Array) -> Array:
    """Brightness at places: two edges through (x0, x1), of directions x2, x3, half contrast, mean and softness."""
    away = flat - x[:2]
    width = np.sqrt(2) * np.exp(x[6])
    first, second = (erf((away[:, 1] * np.cos(turn) - away[:, 0] * np.sin(turn)) / width) for turn in x[2:4])
    return np.asarray(x[4] * first * second + x[5])


def _solved(flat: Array, value: Array) -> tuple[Array, Array, float] | None:
    """The best parameters (7,), their covariance and the share of variance that they explain."""
    angle = np.arctan2(flat[:, 1], flat[:, 0])
    phase = np.angle(((value - value.mean()) * np.exp(2j * angle)).mean()) / 2  # along the bright diagonal
    half = float(np.quantile(value, 0.95) - np.quantile(value, 0.05)) / 2
    # Between the edges at phase ± 45° both distances have opposite signs, so the half contrast is negative.
    start = np.array([0.0, 0.0, phase + np.pi / 4, phase - np.pi / 4, -half, value.mean(), np.log(0.1)])
    limits = np.full(7, np.inf)
    limits[:2], low = 1.0, np.full(7, -np.inf)
    low[:2], low[6], limits[6] = -1.0, np.log(0.005), np.log(0.5)

    def miss(x: Array) -> Array:
        return _model(x, flat) - value

    result: Any = least_squares(miss, start, bounds=(low, limits), loss="soft_l1", f_scale=0.2, max_nfev=30)
    residual = miss(result.x)
    explained = 1 - float(residual.var() / max(value.var(), 1e-12))
    normal = result.jac.T @ result.jac
    if not np.isfinite(normal).all() or np.linalg.cond(normal) > 1e12:
        return None
    covariance = np.linalg.inv(normal) * float(residual.var())
    return result.x, covariance, explained


def _distinct(fits: list[_Fit]) -> list[_Fit]:
    """Of fits of one crossing in several sizes the surest (too large a size explains less), and of all the best."""
    kept: list[_Fit] = []
    for fit in sorted(fits, key=lambda one: one.sigma * (1 - one.explained)):
        if all(np.linalg.norm(fit.point - other.point) > max(fit.radius, other.radius) / 2 for other in kept):
            kept.append(fit)
    return sorted(kept, key=lambda one: -one.explained)[:MOST_TARGETS]
