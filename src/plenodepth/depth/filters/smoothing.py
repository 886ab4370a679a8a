"""Filters that smooth depths: the median and the bilateral mean of what is near."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import Camera
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.filters.neighbourhood import FIRST_RING, ring_of, windows, with_missing
from plenodepth.depth.maps import VirtualDepthMap, require_shape
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]


def median_across(depth_map: VirtualDepthMap, camera: Camera) -> VirtualDepthMap:
    """The median of what is there among a micro-image and its neighbours (coarse) or in the 5 × 5 window (refined).

    A window takes only pixels of its own micro-image. Of two middle values the one nearer to the entry's own serves:
    no depth between two surfaces is made up.
    """
    require_shape(depth_map, camera)
    v = depth_map.virtual_depth
    if not depth_map.refined:
        ring = ring_of(camera.micro_images.lattice, FIRST_RING)
        return depth_map.replace_depth(median_of_present(np.concatenate([v[None], with_missing(v)[ring.index]]), v))
    median = np.empty_like(v)
    for rows, planes, _ in windows(v, owner_map(camera.micro_images, *v.shape)):
        median[rows] = median_of_present(planes, v[rows])
    return depth_map.replace_depth(median)


def bilateral(
    depth_map: VirtualDepthMap, camera: Camera, sigma_lenses: float = 1.0, sigma_v: float = 1.0
) -> VirtualDepthMap:
    """Mean weighted by exp(−distance²/2 sigma_lenses² − (v' − v)²/2 sigma_v²); a sigma_lenses of 0 changes nothing.

    The distance is that on the image that the main lens makes, in lens pitches: from lens to lens for a coarse map;
    |v| times that in the micro-image for a refined one, over the 5 × 5 window within one micro-image.
    """
    require_shape(depth_map, camera)
    if sigma_lenses == 0:
        return depth_map
    if not (sigma_lenses > 0 and sigma_v > 0):
        raise InputError(f"are {sigma_lenses:g} and {sigma_v:g}, need > 0", field="sigma_lenses, sigma_v")
    v, lattice = depth_map.virtual_depth, camera.micro_images.lattice
    by_depth = np.float32(0.5 / sigma_v**2)
    if not depth_map.refined:
        ring = ring_of(lattice, max(2 * sigma_lenses, FIRST_RING))
        squares = (ring.unit**2).sum(axis=1).astype(np.float32) / np.float32(2 * sigma_lenses**2)
        terms = ((with_missing(v)[index], square) for index, square in zip(ring.index, squares, strict=True))
        return depth_map.replace_depth(_weighted_mean(v, terms, by_depth))
    by_distance = np.float32(0.5 / (sigma_lenses * lattice.diameter) ** 2)
    mean = np.empty_like(v)
    for rows, planes, offsets in windows(v, owner_map(camera.micro_images, *v.shape)):
        spread = by_distance * v[rows] ** 2
        terms = (
            (plane, spread * np.float32(x * x + y * y))
            for plane, (y, x) in zip(planes, offsets, strict=True)
            if (y, x) != (0, 0)
        )
        mean[rows] = _weighted_mean(v[rows], terms, by_depth)
    return depth_map.replace_depth(mean)


def _weighted_mean(v: Float32, others: Iterator[tuple[Float32, Float32 | np.float32]], by_depth: np.float32) -> Float32:
    """v + Σ w (v' − v) / (1 + Σ w): as the mean, but free of rounding where all are equal."""
    total, weight = np.zeros_like(v), np.ones_like(v)
    with np.errstate(invalid="ignore", under="ignore"):
        for other, distance in others:
            step = other - v
            step[~np.isfinite(step)] = 0  # missing; the weight is taken out below
            w = np.exp(-(distance + by_depth * step * step))
            w *= np.isfinite(other)
            total += w * step
            weight += w
    return np.asarray(v + total / weight)


def median_of_present(planes: Float32, own: Float32) -> Float32:
    """Median over the first axis of (n, ...) without NaN; of two middle values the one nearer to `own`.

    NaN where all are missing. A sorting network of whole planes: many times faster than sorting millions of short rows.
    """
    rows = [np.where(np.isfinite(plane), plane, np.float32(np.inf)) for plane in planes]
    spare = np.empty_like(rows[0])
    for i, j in sorting_exchanges(len(rows)):
        np.minimum(rows[i], rows[j], out=spare)
        np.maximum(rows[i], rows[j], out=rows[j])
        rows[i], spare = spare, rows[i]
    ordered = np.stack(rows)
    count = np.isfinite(ordered).sum(axis=0, dtype=np.int8)
    low = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0)[None].astype(np.int64), axis=0)[0]
    high = np.take_along_axis(ordered, (count // 2)[None].astype(np.int64), axis=0)[0]
    with np.errstate(invalid="ignore"):
        median = np.where(np.abs(high - own) < np.abs(low - own), high, low)
    return np.where(count > 0, median, np.float32(np.nan))


@lru_cache
def sorting_exchanges(count: int) -> tuple[tuple[int, int], ...]:
    """The pairs to compare, in order, that sort `count` values: Batcher's merge exchange."""
    pairs = []
    top = 1 << max(count - 1, 0).bit_length() >> 1
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            pairs += [(i, i + d) for i in range(count - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
    return tuple(pairs)
