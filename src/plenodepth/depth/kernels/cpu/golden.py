"""The search as published: golden sections of v, first among lenses near by, then among all that the result allows.

A golden section finds one minimum, not the lowest: costs have several, so the sweep is the default. The authors'
search differs from their paper and from this one in details that cost accuracy; here the neighbourhood is complete,
and the middle of the last interval is the result.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inlined, inner
from plenodepth.depth.aperture.resampling import ResamplingTables
from plenodepth.depth.kernels.constants import (
    FIRST_TOLERANCE,
    FULL_VIEWS,
    GOLDEN_RATIO,
    MISSING,
    NEAREST_REACH,
    RIVALS,
    SECOND_REACH,
    SECOND_TOLERANCE,
    SEEN_REACH,
    SMALLEST_COST,
    UNUSABLE,
)
from plenodepth.depth.kernels.cpu.costs import view_costs
from plenodepth.depth.kernels.cpu.pairs import find_pair, load_coordinates
from plenodepth.depth.kernels.cpu.resample import empty_compared_tiles
from plenodepth.depth.kernels.scalar import noise_corrected, parabola_minimum, parity_of, standard_deviation
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

f4 = np.float32
i4 = np.int32
i8 = np.int64

Float32 = NDArray[np.float32]

ALL_PIXELS = -1  # in place of a pixel's index: all pixels of the micro-image


class OneCost(NamedTuple):
    """One hypothesis and its cost, (1,) each."""

    inverse_depth: Float32
    cost: Float32
    deficit: Float32
    weight: Float32
    views: Float32
    pixels: Float32


def golden_coarse_rows(
    first: int, last: int, tiles: Tiles, views: Views, tables: ResamplingTables, maps: MapArrays
) -> None:
    """One depth per micro-image of rows first … last − 1, into the maps (rows, columns)."""
    golden_coarse_band(first, last, tiles, views, empty_compared_tiles(tiles, views, tables), *_buffers(tiles), maps)


def golden_refined_rows(
    first: int, last: int, tiles: Tiles, views: Views, tables: ResamplingTables, maps: MapArrays
) -> None:
    """One depth per pixel of the micro-images of rows first … last − 1, into the maps (h, w)."""
    golden_refined_band(first, last, tiles, views, empty_compared_tiles(tiles, views, tables), *_buffers(tiles), maps)


def _buffers(tiles: Tiles) -> tuple[Float32, Float32, OneCost]:
    """Room for coordinates (2 · side²,), a blurred target (side² + 4 · side,) and one cost."""
    size = tiles.side * tiles.side
    return np.empty(2 * size, f4), np.zeros(size + 4 * tiles.side, f4), OneCost(*(np.empty(1, f4) for _ in range(6)))


@compiled
def golden_coarse_band(first, last, tiles, views, compared, coordinates, target, one, maps):
    """As `golden_coarse_rows`, with room for what is in between."""
    for l in range(first, last):
        for k in range(views.columns):
            lens = l * views.columns + k
            if load_coordinates(tiles, lens, coordinates) >= views.least_contrast:
                search(tiles, views, compared, lens, i8(ALL_PIXELS), coordinates, target, one, maps, l, k)


@compiled
def golden_refined_band(first, last, tiles, views, compared, coordinates, target, one, maps):
    """As `golden_refined_rows`, with room for what is in between."""
    side = tiles.side
    size = side * side
    for l in range(first, last):
        for k in range(views.columns):
            lens = l * views.columns + k
            if load_coordinates(tiles, lens, coordinates) < views.least_contrast:
                continue
            for p in range(size):
                contrast = contrast_about(tiles, lens, p, views.window // 2, coordinates)
                if is_compared(tiles, lens, p, coordinates) and contrast >= views.least_contrast:
                    row, column = tiles.origin[lens, 1] + p // side, tiles.origin[lens, 0] + p % side
                    search(tiles, views, compared, lens, p, coordinates, target, one, maps, row, column)


@inner
def search(tiles, views, compared, lens, pixel, coordinates, target, one, maps, row, column):
    """Both golden sections for one pixel (or `ALL_PIXELS`); the result goes to maps[row, column]."""
    hypotheses, any_type = views.inverse_depths, np.bool_(False)  # converted as in `coarse_rows`
    step, ends = hypotheses[1] - hypotheses[0], (f4(1) / hypotheses[1], f4(1) / hypotheses[-2])
    low, high = min(ends[0], ends[1]), max(ends[0], ends[1])
    v, cost = golden_section(
        low, high, f4(FIRST_TOLERANCE), tiles, views, compared, lens, pixel, views.swept, views.same_type_first,
        coordinates, target, one,
    )  # fmt: skip
    if cost >= UNUSABLE:
        return
    count = views_that_see(views, v)
    v, cost = golden_section(
        max(low, v - f4(SECOND_REACH)), min(high, v + f4(SECOND_REACH)), f4(SECOND_TOLERANCE), tiles, views, compared,
        lens, pixel, count, any_type, coordinates, target, one,
    )  # fmt: skip
    # Next to an end of the range there is no minimum: the curve may go on falling beyond.
    if cost >= UNUSABLE or v - low < f4(2 * SECOND_TOLERANCE) or high - v < f4(2 * SECOND_TOLERANCE):
        return
    inverse, quarter = f4(1) / v, f4(0.25) * step
    before = cost_at(inverse - quarter, tiles, views, compared, lens, pixel, count, any_type, coordinates, target, one)
    after = cost_at(inverse + quarter, tiles, views, compared, lens, pixel, count, any_type, coordinates, target, one)
    middle = cost_at(inverse, tiles, views, compared, lens, pixel, count, any_type, coordinates, target, one)
    taken, pixels = one.views[0], one.pixels[0]
    bend = before - f4(2) * middle + after
    shift, spread = parabola_minimum(before, middle, after, bend, pixels, views.floor / quarter)
    if math.isnan(shift):
        return
    rival, number = f4(0), f4(0)
    for n in range(RIVALS):
        place = hypotheses[n * (len(hypotheses) - 1) // (RIVALS - 1)]
        other = cost_at(place, tiles, views, compared, lens, pixel, views.swept, any_type, coordinates, target, one)
        if other < UNUSABLE:
            rival += other
            number += f4(1)
    sharpness = max(f4(0), f4(1) - middle * number / max(rival, SMALLEST_COST)) if number > 0 else f4(0)
    maps.virtual_depth[row, column] = v
    maps.sigma[row, column] = spread * quarter * v * v
    maps.confidence[row, column] = sharpness * min(f4(1), taken / f4(FULL_VIEWS))
    maps.cost[row, column], maps.views[row, column] = middle, taken


@inner
def golden_section(
    low, high, tolerance, tiles, views, compared, lens, pixel, count, same_type, coordinates, target, one
):
    """Place and cost of a minimum over low ≤ v ≤ high, to within the tolerance."""
    left, right = high - f4(GOLDEN_RATIO) * (high - low), low + f4(GOLDEN_RATIO) * (high - low)
    cost_left = cost_at(f4(1) / left, tiles, views, compared, lens, pixel, count, same_type, coordinates, target, one)
    cost_right = cost_at(f4(1) / right, tiles, views, compared, lens, pixel, count, same_type, coordinates, target, one)
    while high - low > tolerance:
        if cost_left < cost_right:
            high, right, cost_right = right, left, cost_left
            left = high - f4(GOLDEN_RATIO) * (high - low)
            cost_left = cost_at(
                f4(1) / left, tiles, views, compared, lens, pixel, count, same_type, coordinates, target, one
            )
        else:
            low, left, cost_left = left, right, cost_right
            right = low + f4(GOLDEN_RATIO) * (high - low)
            cost_right = cost_at(
                f4(1) / right, tiles, views, compared, lens, pixel, count, same_type, coordinates, target, one
            )
    return f4(0.5) * (low + high), min(cost_left, cost_right)


@inlined
def views_that_see(views, v):
    """How many neighbours see the same point at a virtual depth: those within |v|/2 pitches, and the nearest always."""
    count, farthest = i8(0), max(f4(SEEN_REACH) * abs(v), f4(NEAREST_REACH)) * views.pitch
    for n in range(views.step_k.shape[1]):
        x, y = views.baseline[0, n, 0], views.baseline[0, n, 1]
        if x * x + y * y <= farthest * farthest:
            count = i8(n + 1)
    return count


@inner
def cost_at(inverse_depth, tiles, views, compared, lens, pixel, count, same_type, coordinates, target, one):
    """Cost of one hypothesis; its views and pixels are in `one`."""
    if pixel == ALL_PIXELS:
        one.inverse_depth[0] = inverse_depth
        only = (i8(0), i8(1), i8(1))
        view_costs(tiles, views, compared, lens, one.inverse_depth, only, f4(0), i8(-1), count, same_type, target, one)
        return one.cost[0]
    return window_cost(inverse_depth, tiles, views, compared, lens, pixel, count, same_type, coordinates, one)


@inner
def window_cost(inverse_depth, tiles, views, compared, lens, pixel, count, same_type, coordinates, one):
    """Cost of one pixel as `refined_rows` has it: the differences of all views in its window, sum over number."""
    l, k = lens // views.columns, lens % views.columns
    side, half = tiles.side, views.window // 2
    size, base = side * side, lens * side * side
    parity = parity_of(views, k, l)
    row, column = pixel // side, pixel % side
    gray, detail = tiles.gray, tiles.detail
    total, number, taken, deficits, weights = f4(0), f4(0), f4(0), f4(0), f4(0)
    for n in range(count):
        pair = find_pair(tiles, views, compared, lens, k, l, n, inverse_depth, inverse_depth, 0, same_type)
        if pair.other < 0:
            continue
        offset = pair.row_shift * side + pair.column_shift
        amount, soft = max(-pair.blur, f4(0)), max(pair.blur, f4(0))
        for r in range(max(row - half, pair.low), min(row + half, pair.high) + 1):
            for c in range(max(column - half, 0), min(column + half, side - 1) + 1):
                p = r * side + c
                q = p + offset
                x, y = coordinates[p] + pair.disparity_x, coordinates[p + size] + pair.disparity_y
                seen = q >= 0 and q + side + 1 < size and x * x + y * y <= pair.other_squared_radius
                if not (seen and is_compared(tiles, lens, p, coordinates)):
                    continue
                t = pair.start + q
                value = (
                    pair.w00 * (gray[t] + soft * detail[t])
                    + pair.w10 * (gray[t + 1] + soft * detail[t + 1])
                    + pair.w01 * (gray[t + side] + soft * detail[t + side])
                    + pair.w11 * (gray[t + side + 1] + soft * detail[t + side + 1])
                )
                difference = abs(gray[base + p] + amount * detail[base + p] - value)
                if difference <= UNUSABLE:
                    total += views.weight[parity, n] * difference
                    number += views.weight[parity, n]
        taken += f4(1)
        deficits += views.weight[parity, n] * pair.deficit
        weights += views.weight[parity, n]
    one.views[0], one.pixels[0] = taken, number
    if taken < views.least_views or number < views.least_overlap:
        return MISSING
    return noise_corrected(total / number, deficits / weights, views.noise)


@inlined
def is_compared(tiles, lens, p, coordinates):
    """Whether a tile's pixel is inside the compared disc and not missing."""
    size = tiles.side * tiles.side
    away = coordinates[p] ** 2 + coordinates[p + size] ** 2
    return away <= tiles.radius * tiles.radius and tiles.gray[lens * size + p] < UNUSABLE


@inner
def contrast_about(tiles, lens, pixel, half, coordinates):
    """Standard deviation of a tile in the window about a pixel."""
    side = tiles.side
    row, column = pixel // side, pixel % side
    total, squares, count = 0.0, 0.0, 0
    for r in range(max(row - half, 0), min(row + half, side - 1) + 1):
        for c in range(max(column - half, 0), min(column + half, side - 1) + 1):
            if is_compared(tiles, lens, r * side + c, coordinates):
                value = tiles.gray[lens * side * side + r * side + c]
                total += value
                squares += value * value
                count += 1
    return standard_deviation(total, squares, count)
