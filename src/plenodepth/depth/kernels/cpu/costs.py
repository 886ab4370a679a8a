"""Costs of hypotheses: of a whole micro-image, and of the window about each of its pixels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.kernels.constants import MISSING, SMALLEST_NUMBER, UNUSABLE
from plenodepth.depth.kernels.cpu.pairs import (
    add_differences,
    blur_tile,
    find_pair,
    load_reference,
    sum_differences,
    tile_start,
)
from plenodepth.depth.kernels.cpu.resample import ensure_resampled
from plenodepth.depth.kernels.scalar import noise_corrected, parity_of

f4 = np.float32
i4 = np.int32
u4 = np.uint32

Float32 = NDArray[np.float32]


class Costs(NamedTuple):
    """Costs of hypotheses and what they are made of, (h,) each."""

    cost: Float32
    deficit: Float32  # of noise, see `noise_deficit`
    weight: Float32  # of the views that took part
    views: Float32  # their number
    pixels: Float32  # that they compared


@inlined
def empty_costs(count):
    """Room for the costs of so many hypotheses."""
    return Costs(
        np.empty(count, f4), np.empty(count, f4), np.empty(count, f4), np.empty(count, f4), np.empty(count, f4)
    )


@compiled
def view_costs(tiles, views, compared, lens, inverse_depths, widest, plane, count, same_type, coordinates, target, out):
    """Costs of hypotheses 1/v (h,) for one micro-image with its first `count` neighbours, into `out`.

    The weighted mean of the absolute difference; `MISSING` where too few views overlap. Those neighbours take part that
    still overlap at the hypothesis `widest` (0: at each hypothesis itself): with the same one for a whole search, its
    views stay the same. A view that drops out in the middle would make a step in the curve, and a false minimum there.
    Tiles are those of a plane (−1: of each hypothesis' own in a sweep). `target` (side² + 4 · side,) is a buffer.
    """
    l, k = lens // views.columns, lens % views.columns
    size, side = tiles.side * tiles.side, i4(tiles.side)
    ensure_resampled(tiles, views, compared, k, l, count, plane)
    for h in range(len(inverse_depths)):
        out.cost[h] = out.deficit[h] = out.weight[h] = out.views[h] = out.pixels[h] = f4(0)
    parity, gray, detail = parity_of(views, k, l), compared.gray, compared.detail
    for n in range(count):
        for h in range(len(inverse_depths)):
            chosen = plane if plane >= 0 else compared.plane_of_hypothesis[h]
            farthest = widest if widest != 0 else inverse_depths[h]
            pair = find_pair(tiles, views, compared, lens, k, l, n, inverse_depths[h], farthest, chosen, same_type)
            if pair.other < 0:
                continue
            base = tile_start(compared, views, size, k, l, chosen)
            if pair.blur > 0:
                blur_tile(gray, detail, pair.start, i4(size), pair.blur, target)
                total, number = sum_differences(gray, detail, coordinates, base, target, 0, side, pair)
            else:
                total, number = sum_differences(gray, detail, coordinates, base, gray, pair.start, side, pair)
            if number >= views.least_overlap:
                weight = views.weight[parity, n] * (f4(1) if views.by_pixels else f4(1) / number)
                out.cost[h] += weight * total
                out.deficit[h] += weight * number * pair.deficit
                out.weight[h] += weight * number
                out.views[h] += f4(1)
                out.pixels[h] += number
    for h in range(len(inverse_depths)):
        if out.views[h] >= views.least_views:
            out.cost[h] = noise_corrected(out.cost[h] / out.weight[h], out.deficit[h] / out.weight[h], views.noise)
        else:
            out.cost[h] = MISSING


@compiled
def add_views(tiles, views, compared, lens, h, coordinates, reference, target, sums):
    """Add the differences of all views at hypothesis h, pixel by pixel, to `sums` (see `add_differences`).

    Returns the number of views and the mean deficit of their noise.
    """
    l, k = lens // views.columns, lens % views.columns
    size, side = tiles.side * tiles.side, i4(tiles.side)
    inverse_depth, plane = compared.inverse_depths[h], compared.plane_of_hypothesis[h]
    parity = parity_of(views, k, l)
    taken, total, weights = f4(0), f4(0), f4(0)
    if h == 0 or plane != compared.plane_of_hypothesis[h - 1]:  # else the reference is there already
        radius = compared.radius[compared.kind[lens], plane]
        base = tile_start(compared, views, size, k, l, plane)
        load_reference(compared, coordinates, base, radius * radius, reference)
    for n in range(views.step_k.shape[1]):
        pair = find_pair(
            tiles, views, compared, lens, k, l, n, inverse_depth, inverse_depth, plane, views.same_type_first
        )
        if pair.other < 0:
            continue
        weight = views.weight[parity, n]
        if pair.blur > 0:
            blur_tile(compared.gray, compared.detail, pair.start, i4(size), pair.blur, target)
            add_differences(reference, target, 0, side, pair, weight, sums)
        else:
            add_differences(reference, compared.gray, pair.start, side, pair, weight, sums)
        taken += f4(1)
        total += weight * pair.deficit
        weights += weight
    return taken, total / max(weights, SMALLEST_NUMBER)


@compiled
def box_sums(values, first, side, half, along, out):
    """Sums over (2·half + 1)² pixels of a tile (side²,) at values[first] that is zero outside its disc, into `out`.

    Rows run into each other here, but between the disc's pixels of one row and of the next lie at least `half` zeros
    (`empty_tiles` sees to it): so every sum is one long loop. `along` (side²,) is a buffer.
    """
    size = side * side
    for p in range(size):
        along[p] = values[first + p]
    for step in range(1, half + 1):
        for n in range(size - step):
            along[u4(n)] += values[u4(first + n + step)]
        for n in range(size - step):
            along[u4(n + step)] += values[u4(first + n)]
    for p in range(size):
        out[p] = along[p]
    for step in range(1, half + 1):
        shift = step * side
        for n in range(size - shift):
            out[u4(n)] += along[u4(n + shift)]
        for n in range(size - shift):
            out[u4(n + shift)] += along[u4(n)]


@compiled
def window_contrast(tiles, lens, coordinates, half, along, contrast, number, buffer):
    """Standard deviation of a tile in the window about each pixel, into contrast (side²,)."""
    size, side, limit = tiles.side * tiles.side, tiles.side, tiles.radius * tiles.radius
    usable, values, means = buffer[0], buffer[1], buffer[2]
    for p in range(size):
        value = tiles.gray[lens * size + p]
        inside = coordinates[p] ** 2 + coordinates[p + size] ** 2 <= limit and value < UNUSABLE
        usable[p], values[p] = (f4(1), value) if inside else (f4(0), f4(0))
    box_sums(usable, 0, side, half, along, number)
    box_sums(values, 0, side, half, along, means)
    for p in range(size):
        values[p] *= values[p]
    box_sums(values, 0, side, half, along, contrast)
    for p in range(size):
        n = max(number[p], f4(1))
        contrast[p] = math.sqrt(max(contrast[p] / n - (means[p] / n) ** 2, f4(0)))
