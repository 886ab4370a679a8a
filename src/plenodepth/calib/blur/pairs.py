"""Mean images of corners through each lens type, and what pairs of types tell about their relative blur.

Views are blurred with the operator that depth estimation equalises them with (`depth.equalisation`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import Features
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.depth.equalisation import blur_detail, gaussian, smoothed
from plenodepth.depth.kernels.constants import MIXTURE_VARIANCE

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]

# As in depth estimation:
MARGIN = 1.5  # px inside the micro-image's radius: what is usable
SMOOTHING = 0.3  # px² that all views are smoothed by

PATCH = 6.0  # px about the corner that is compared
BLURRED_FROM = 5  # px more, which blurring may use
LEAST_PIXELS = 60  # of a pair
LEAST_CONTRAST = 0.1  # standard deviation over mean of a patch
LEAST_RELATIVE_BLUR = 0.3  # px², of |ρ_i² − ρ_j²|: below, a pair tells nothing
HALVES = 2  # that the views of a type are divided in
VIEWS_AT_A_TIME = 8192  # bounds memory: some 15 kB per view


@dataclass(frozen=True, eq=False)
class BlurPairs:
    """m pairs of lens types at a corner, each an equation `response` = κ² · `gain`; the error's spread is ∝ `norm`."""

    frame: Indices  # (m,)
    cluster: Indices  # (m,)
    types: Indices  # (m, 2) lens types, the sharper first
    relative_blur: Array  # (m,) ρ_r² = |ρ_i² − ρ_j²|, px²
    response: Array  # (m,)
    gain: Array  # (m,)
    norm: Array  # (m,) > 0

    def __len__(self) -> int:
        return len(self.frame)

    @staticmethod
    def joined(parts: list[BlurPairs]) -> BlurPairs:
        """The pairs of all parts, in order."""
        empty, none = np.zeros(0, dtype=np.int64), np.zeros(0)
        parts = [BlurPairs(empty, empty, np.zeros((0, 2), dtype=np.int64), none, none, none, none), *parts]
        return BlurPairs(
            **{item.name: np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(BlurPairs)}
        )


class _MeanViews(NamedTuple):
    """Mean images of m corners over some of the views of one lens type; side × side pixels about the corner."""

    gray: Float32  # (m, side, side)
    detail: Float32  # (m, side, side) what blurring by a unit adds
    usable: Bool  # (m, side, side)
    square: Array  # (m,) mean ρ², px²; NaN without any view

    def where(self, rows: Indices | slice) -> _MeanViews:
        """The chosen corners."""
        return _MeanViews(self.gray[rows], self.detail[rows], self.usable[rows], self.square[rows])


def blur_pairs(features: Features, gray: Float32, camera: PlenopticCamera) -> BlurPairs:
    """All pairs of one frame that tell: its features (n,) with clusters and ρ, and its devignetted image (h, w).

    Each type's views are averaged, in two halves: noise of single views is as large as what blur changes.
    """
    features = features.where((features.cluster >= 0) & np.isfinite(features.rho))
    types = camera.micro_images.lens_type(features.k, features.l)
    clusters, cluster = np.unique(features.cluster, return_inverse=True)
    group = cluster * camera.type_count + types
    # Every other view of a corner and type, in rows of lenses, belongs to the other half.
    order = np.lexsort((features.k, features.l, group))
    first = np.searchsorted(group[order], group[order])
    half = np.empty(len(features), dtype=np.int64)
    half[order] = (np.arange(len(features)) - first) % HALVES
    means = _averaged(camera, features, gray, group * HALVES + half, len(clusters) * camera.type_count * HALVES)

    def mean_views(lens_type: int, which: int) -> _MeanViews:
        return means.where(slice(lens_type * HALVES + which, None, camera.type_count * HALVES))

    parts = []
    for i, j in combinations(range(camera.type_count), 2):
        one, other = ([mean_views(lens_type, which) for which in range(HALVES)] for lens_type in (i, j))
        blurrier = np.mean([part.square for part in one], axis=0) > np.mean([part.square for part in other], axis=0)
        for sharp, blurry, mine, kinds in ((one, other, ~blurrier, (i, j)), (other, one, blurrier, (j, i))):
            where = np.flatnonzero(mine & np.isfinite(sum(part.square for part in (*one, *other))))
            if not len(where):
                continue
            halves = [[half.where(where) for half in both] for both in (sharp, blurry)]
            frame = np.full(len(where), features.frame[0] if len(features) else 0)
            parts.append(_compared(halves[0], halves[1], frame, clusters[where], kinds))
    return BlurPairs.joined(parts)


def _averaged(camera: PlenopticCamera, features: Features, gray: Float32, group: Indices, count: int) -> _MeanViews:
    """The mean image about the corner over the views of each group."""
    reach = int(PATCH) + BLURRED_FROM
    side = 2 * reach + 1
    sums, numbers = np.zeros((count, side * side)), np.zeros((count, side * side))
    down, right = np.divmod(np.arange(side * side), side)
    radius, center = camera.micro_images.radius - MARGIN, camera.micro_images.center(features.k, features.l)
    order = np.argsort(group, kind="stable")
    for start in range(0, len(order), VIEWS_AT_A_TIME):
        rows = order[start : start + VIEWS_AT_A_TIME]
        u, v = features.uv[rows, 0, None] + (right - reach), features.uv[rows, 1, None] + (down - reach)
        value = _interpolated(gray, u, v)
        inside = (u - center[rows, 0, None]) ** 2 + (v - center[rows, 1, None]) ** 2 <= radius**2
        there = inside & np.isfinite(value)
        first = np.flatnonzero(np.diff(group[rows], prepend=-1))
        sums[group[rows][first]] += np.add.reduceat(np.where(there, value, 0), first, axis=0)
        numbers[group[rows][first]] += np.add.reduceat(there.astype(np.float64), first, axis=0)
    usable = (numbers > 0).reshape(count, side, side)
    mean = (sums / np.maximum(numbers, 1)).reshape(count, side, side).astype(np.float32)
    mean = smoothed(mean, usable, gaussian(SMOOTHING))
    views = np.bincount(group, minlength=count)
    with np.errstate(invalid="ignore"):
        square = np.bincount(group, features.rho**2, count) / np.where(views, views, np.nan)
    return _MeanViews(mean, blur_detail(mean, usable, gaussian(MIXTURE_VARIANCE)), usable, square)


def _interpolated(gray: Float32, u: Array, v: Array) -> Array:
    """Bilinear; NaN outside the image or beside a missing pixel.

    It blurs by 1/6 px² on average, whatever the type: the difference between types stays.
    """
    height, width = gray.shape
    column, row = (np.floor(place).astype(np.int64) for place in (u, v))
    inside = (column >= 0) & (row >= 0) & (column < width - 1) & (row < height - 1)
    index = row.clip(0, height - 2) * width + column.clip(0, width - 2)
    wx, wy = u - column, v - row
    flat = gray.ravel()
    above = flat[index] * (1 - wx) + flat[index + 1] * wx
    below = flat[index + width] * (1 - wx) + flat[index + width + 1] * wx
    return np.where(inside, above * (1 - wy) + below * wy, np.nan)


def _compared(
    sharp: list[_MeanViews], blurry: list[_MeanViews], frame: Indices, cluster: Indices, types: tuple[int, int]
) -> BlurPairs:
    """The equations of m corners between two lens types.

    blurrier = sharper + κ² ρ_r² · detail, but for a difference in brightness and a small shift, which are projected
    out. The differences of one half are compared with the detail of the other: with its own, noise would look like
    blur, since blur takes noise away.
    """
    mask = _patch(sharp[0].gray.shape[1])
    for half_mean in (*sharp, *blurry):
        mask = mask & half_mean.usable
    other = np.mean([half_mean.gray for half_mean in blurry], axis=0, dtype=np.float64)
    relative = np.mean([half_mean.square for half_mean in blurry], axis=0) - np.mean(
        [half_mean.square for half_mean in sharp], axis=0
    )
    amount = (relative / MIXTURE_VARIANCE)[:, None]
    response, gain, squares = np.zeros(len(frame)), np.zeros(len(frame)), np.zeros(len(frame))
    for half, rest in (sharp, sharp[::-1]):
        slopes = [np.gradient(half.gray, axis=axis) for axis in (1, 2)]
        nuisance = np.stack([np.ones_like(half.gray), *slopes], axis=1) * mask[:, None]
        nuisance = nuisance.reshape(len(frame), 3, -1).astype(np.float64)
        expected = amount * (half.detail * mask).reshape(len(frame), -1)
        expected = expected - _fitted(nuisance, expected)
        response += np.einsum("np,np->n", expected, (other - rest.gray).reshape(len(frame), -1))
        gain += np.einsum("np,np->n", expected, amount * rest.detail.reshape(len(frame), -1))
        squares += np.einsum("np,np->n", expected, expected)
    count = np.maximum(mask.sum(axis=(1, 2)), 1)
    mean = (other * mask).sum(axis=(1, 2)) / count
    spread = np.sqrt((((other - mean[:, None, None]) * mask) ** 2).sum(axis=(1, 2)) / count)
    tells = (count >= LEAST_PIXELS) & (spread >= LEAST_CONTRAST * np.abs(mean)) & (relative >= LEAST_RELATIVE_BLUR)
    tells &= squares > 0
    return BlurPairs(
        frame[tells],
        cluster[tells],
        np.broadcast_to(np.array(types), (len(frame), 2))[tells],
        relative[tells],
        response[tells],
        gain[tells],
        np.sqrt(squares[tells]),
    )


def _patch(side: int) -> Bool:
    away = np.arange(side) - side // 2
    return np.asarray(away[:, None] ** 2 + away**2 <= PATCH**2)


def _fitted(regressors: Array, target: Array) -> Array:
    """Least squares of targets (m, p) by regressors (m, q, p), a trace of damping where these are dependent."""
    normal = np.einsum("nqp,nrp->nqr", regressors, regressors)
    size = np.einsum("nqq->nq", normal)
    normal = normal + np.eye(regressors.shape[1]) * (1e-9 * size + 1e-12)[:, None]
    solved = np.linalg.solve(normal, np.einsum("nqp,np->nq", regressors, target)[..., None])
    return np.asarray(np.einsum("nqp,nq->np", regressors, solved[..., 0]))
