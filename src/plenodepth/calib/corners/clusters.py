"""Clusters: the corners that several micro-images show of one point in space.

All lenses see a point along rays that meet. So the place of its images is linear in the centres of the micro-images,
    uv − c = −g (c − w),
with one disparity factor g = 1 − λ + λ/v for the virtual depth v, and the centre w at which a micro-image would show
the point in its middle. g > 0 for a Galilean camera, < 0 for a Keplerian one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from plenodepth.calib.corners.fit import Corners
from plenodepth.calib.features import UNKNOWN
from plenodepth.camera.model import Array, Indices, MicroImageArray

NEIGHBOURS = 2.1  # pitches: pairs of micro-images that vote for a disparity factor
FACTORS = (0.02, 0.75)  # |g| of virtual depths between about 1.3 and 50
BINS = 146
MISS = 1.2  # px that a corner may be off its cluster
ALIKE = 0.5  # cosine of twice the angle between the bright diagonals of two views of one corner
LEAST_VIEWS = 3
ALIKE_ERRORS = (
    2.0  # by which σ of g grows since the views of one corner err alike, as by their distance from the middle
)
ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Clusters:
    """m points in space and what their views have in common."""

    center: Array  # (m, 2) px: w, the centre of a micro-image that would show the point in its middle
    factor: Array  # (m,) disparity factor g
    factor_sigma: Array  # (m,)
    bright: Array  # (m, 2) see Corners
    views: Indices  # (m,) number of corners

    def __len__(self) -> int:
        return len(self.factor)

    def where(self, chosen: NDArray[np.bool_] | Indices) -> Clusters:
        """The chosen rows."""
        return replace(self, **{member.name: getattr(self, member.name)[chosen] for member in fields(self)})

    def offset(self, cluster: Indices, center: Array) -> Array:
        """uv − c (n, 2) px at which micro-images with centres (n, 2) show points of these numbers (n,)."""
        return -self.factor[cluster, None] * (center - self.center[cluster])


def find_clusters(corners: Corners, micro_images: MicroImageArray) -> tuple[Clusters, Indices]:
    """Clusters of at least three corners, and the cluster (n,) of each corner, −1 for none."""
    center = micro_images.center(corners.k, corners.l).reshape(-1, 2)
    first, second, factor, span = _pairs(corners, center, micro_images)
    label = np.full(len(corners), UNKNOWN, dtype=np.int64)
    if len(first):
        voted = _voted_factor(len(corners), first, second, factor, span)
        agree = (np.abs(factor - voted[first]) * span < MISS) & (np.abs(factor - voted[second]) * span < MISS)
        label = _components(len(corners), first[agree], second[agree])
    for _ in range(ROUNDS):
        clusters = fit_clusters(corners, center, label)
        label = _assigned(corners, center, _merged(clusters))
        label = _compact(label)
    return fit_clusters(corners, center, label), label


def fit_clusters(corners: Corners, center: Array, label: Indices, uv: Array | None = None, count: int = 0) -> Clusters:
    """Fit w and g to the corners of every label 0 … m−1; corners far off the rest of their label count little.

    `uv` (n, 2) px: where the corners are, unless where they appear. `count`: m, unless the labels tell it.
    """
    count = max(count, int(label.max(initial=UNKNOWN)) + 1)
    chosen = label >= 0
    group, at, offset = label[chosen], center[chosen], ((corners.uv if uv is None else uv) - center)[chosen]

    def total(values: Array) -> Array:
        return np.bincount(group, values, count).astype(np.float64)

    def mean(values: Array, weight: Array) -> Array:
        norm = np.maximum(total(weight), 1e-12)
        return np.stack([total(weight * column) / norm for column in values.T], axis=1)

    weight = np.ones(len(group))
    for _ in range(5):
        middle, shift = mean(at, weight), mean(offset, weight)
        arm, spread = at - middle[group], offset - shift[group]
        square = np.maximum(total(weight * (arm**2).sum(axis=1)), 1e-9)
        factor = -total(weight * (arm * spread).sum(axis=1)) / square
        miss = spread + factor[group, None] * arm
        distance = np.sqrt((miss**2).sum(axis=1))
        weight = 1 / (1 + (distance / (MISS / 2)) ** 2) ** 2
    freedom = np.maximum(2 * total(np.ones(len(group))) - 3, 1)
    variance = total(weight * distance**2) / freedom
    safe = np.where(np.abs(factor) < 1e-3, 1e-3, factor)
    bright = mean(corners.bright[chosen], weight)
    return Clusters(
        center=middle + shift / safe[:, None],
        factor=factor,
        factor_sigma=ALIKE_ERRORS * np.sqrt((variance + 0.02**2) / square),
        bright=bright / np.maximum(np.linalg.norm(bright, axis=1), 1e-12)[:, None],
        views=np.bincount(group, minlength=count),
    )


def _pairs(corners: Corners, center: Array, micro_images: MicroImageArray) -> tuple[Indices, Indices, Array, Array]:
    """Pairs of corners in nearby micro-images that may show one point: the two, their factor g and baseline px."""
    pairs = cKDTree(center).query_pairs(NEIGHBOURS * micro_images.lattice.diameter, output_type="ndarray")
    first, second = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    base = center[first] - center[second]
    span = np.linalg.norm(base, axis=1)
    offset = corners.uv - center
    delta = offset[second] - offset[first]
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = (delta * base).sum(axis=1) / span**2
        across = np.abs(delta[:, 0] * base[:, 1] - delta[:, 1] * base[:, 0]) / span
    same = (corners.bright[first] * corners.bright[second]).sum(axis=1) > ALIKE
    size = np.abs(factor)
    keep = (span > 0) & same & (across < MISS) & (size > FACTORS[0]) & (size < FACTORS[1])
    return first[keep], second[keep], factor[keep], span[keep]


def _voted_factor(count: int, first: Indices, second: Indices, factor: Array, span: Array) -> Array:
    """The factor g (n,) that most pairs of each corner agree on; NaN without a pair."""
    edges = np.linspace(-FACTORS[1], FACTORS[1], BINS + 1)
    place = np.clip(np.searchsorted(edges, factor) - 1, 0, BINS - 1)
    votes = np.zeros((count, BINS))
    for member in (first, second):
        np.add.at(votes, (member, place), span)  # longer baselines tell more
    kernel = np.exp(-0.5 * (np.arange(-4, 5) / 1.7) ** 2)
    smooth = np.apply_along_axis(lambda row: np.convolve(row, kernel, "same"), 1, votes)
    best = (edges[:-1] + edges[1:])[np.argmax(smooth, axis=1)] / 2
    return np.where(votes.any(axis=1), best, np.nan)


def _components(count: int, first: Indices, second: Indices) -> Indices:
    """Number (n,) of the connected component of each corner; −1 for components of one."""
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
    label = connected_components(graph, directed=False)[1].astype(np.int64)
    size = np.bincount(label, minlength=1)
    return _compact(np.where(size[label] >= LEAST_VIEWS, label, UNKNOWN))


def _merged(clusters: Clusters) -> Clusters:
    """Clusters of one point become one: the one with more views stays."""
    clusters = clusters.where((clusters.views >= LEAST_VIEWS) & (np.abs(clusters.factor) > FACTORS[0] / 2))
    if not len(clusters):
        return clusters
    order = np.argsort(-clusters.views, kind="stable")
    clusters = clusters.where(order)
    reach = 1.5 * MISS / np.abs(clusters.factor)
    pairs = cKDTree(clusters.center).query_pairs(float(reach.max()), output_type="ndarray")
    pairs = np.sort(pairs, axis=1)
    keep = np.ones(len(clusters), dtype=np.bool_)
    for large, small in pairs[np.lexsort(pairs.T[::-1])]:
        near = np.linalg.norm(clusters.center[large] - clusters.center[small]) < reach[large]
        alike = clusters.bright[large] @ clusters.bright[small] > ALIKE
        if keep[large] and near and alike:
            keep[small] = False
    return clusters.where(keep)


def _assigned(corners: Corners, center: Array, clusters: Clusters) -> Indices:
    """For each corner the cluster that foretells its place best; −1 where none does within `MISS`."""
    label = np.full(len(corners), UNKNOWN, dtype=np.int64)
    if not len(clusters) or not len(corners):
        return label
    # A corner within a micro-image lies within its radius over |g| of its cluster's w.
    best = np.full(len(corners), MISS)
    offset = corners.uv - center
    reach = np.linalg.norm(offset, axis=1).max() / np.abs(clusters.factor) + MISS
    tree = cKDTree(center)
    for number, near in enumerate(tree.query_ball_point(clusters.center, reach)):
        rows = np.array(near, dtype=np.int64)
        miss = np.linalg.norm(offset[rows] - clusters.offset(np.full(len(rows), number), center[rows]), axis=1)
        alike = corners.bright[rows] @ clusters.bright[number] > ALIKE
        better = alike & (miss < best[rows])
        label[rows[better]] = number
        best[rows[better]] = miss[better]
    size = np.bincount(label[label >= 0], minlength=len(clusters))
    # One view per micro-image: of two the nearer one stays.
    order = np.argsort(best, kind="stable")
    lens = center[:, 0] * 1e6 + center[:, 1]
    seen: set[tuple[float, int]] = set()
    for row in order:
        if label[row] < 0:
            continue
        key = (float(lens[row]), int(label[row]))
        if key in seen:
            label[row] = UNKNOWN
        seen.add(key)
    return np.where((label >= 0) & (size[label] >= LEAST_VIEWS), label, UNKNOWN)


def _compact(label: Indices) -> Indices:
    """The same labels, counted without gaps."""
    used, compact = np.unique(label, return_inverse=True)
    return compact.astype(np.int64) - int(len(used) > 0 and used[0] == UNKNOWN)
