"""Two views compared at one hypothesis: the innermost loops.

For one pair and one hypothesis the shift is constant, so the warp is four contiguous loads with constant weights, of
eight pixels at a time. Missing pixels are huge numbers, so that a value tells whether it counts, and no mask need be
read. The discs are computed, because a mask of whole pixels would jump at whole shifts. Only the rows and columns are
visited that both discs may hold. (Exact ends of each row would be fewer pixels, but a branch that nobody can predict.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plenodepth.compiling import formula, inlined, inner
from plenodepth.depth.kernels.constants import ACROSS, LEAST_COMMON_WIDTH, MISSING, UNUSABLE
from plenodepth.depth.kernels.scalar import (
    bilinear_weights,
    disparity_gain,
    floor,
    in_array,
    interpolation_variance,
    noise_deficit,
    parity_of,
    relative_blur_variance,
    similarity,
    snapped,
    standard_deviation,
)
from plenodepth.lanes import LANES, count_up, load, store, total, where

f4 = np.float32
i4 = np.int32
u4 = np.uint32


class Pair(NamedTuple):
    """What it takes to compare a lens (the reference) with another (the target) at one hypothesis."""

    other: int  # index of the target; −1 where there is nothing to compare
    start: int  # of its tile in the compared tiles
    column_shift: np.int32  # whole px, from a pixel of the reference's tile to the first of four in the target's tile
    row_shift: np.int32
    w00: np.float32  # bilinear weights of those four: first row, then second
    w10: np.float32
    w01: np.float32
    w11: np.float32
    low: np.int32  # first and last row of the reference's tile that can have anything in common
    high: np.int32
    first: np.int32  # first and last such column
    last: np.int32
    center_x: np.float32  # px: of the reference's micro-image in its tile
    center_y: np.float32
    disparity_x: np.float32  # px, from offset to offset from the micro-images' centres
    disparity_y: np.float32
    squared_radius: np.float32  # px²: of the reference's disc
    other_squared_radius: np.float32  # px²: of the target's disc
    # Variance per axis, in units of adding the detail once, by which the reference is blurrier than the target (once
    # that is interpolated). Negative: the reference is sharper.
    blur: np.float32
    deficit: np.float32  # of noise, see `noise_deficit`
    dissimilarity: np.float32  # per px²: see `similarity`
    # px²: what is added to |x|² − |x'|² of two pixels, because distances are measured from the centre of the light,
    # which is not that of the micro-image.
    light_offset: np.float32


@inlined
def tile_start(compared, views, size, k, l, plane):
    """Where the tile of lens (k, l) for a plane begins in the compared tiles; a tile has `size` pixels."""
    if compared.planes == 1:
        return (l * views.columns + k) * size
    return (((l % compared.rows) * views.columns + k) * compared.planes + plane) * size


@inner
def load_coordinates(tiles, lens, coordinates):
    """x, y of a tile's pixels from its centre into (2 · side²,); returns the standard deviation of gray in its disc."""
    size = tiles.side * tiles.side
    total, squares, count = 0.0, 0.0, 0
    limit = tiles.radius * tiles.radius
    for p in range(size):
        value = tiles.gray[lens * size + p]
        x, y = f4(p % tiles.side) - tiles.center[lens, 0], f4(p // tiles.side) - tiles.center[lens, 1]
        coordinates[p], coordinates[size + p] = x, y
        if x * x + y * y <= limit and value < UNUSABLE:
            total += value
            squares += value * value
            count += 1
    return standard_deviation(total, squares, count)


@formula
def common_span(radius, middle, along, across):
    """First and last row (column) of the reference's tile, centred in `middle`, that the target may show, too.

    Two discs of equal radius, the reference's at the origin and the target's at minus the disparity, whose part along
    the columns (rows) is `along`.
    """
    low, high = max(-radius, -radius - along), min(radius, radius - along)
    if across * across + (radius - abs(along)) ** 2 > radius * radius:
        # Neither disc holds the other's first or last point: the tips of what they share bound it.
        squared = across * across + along * along
        tips = abs(across) * math.sqrt(max(radius * radius / squared - f4(0.25), f4(0)))
        low, high = f4(-0.5) * along - tips, f4(-0.5) * along + tips
    return -floor(-middle - low), floor(middle + high)


@inner
def blur_target(gray, detail, side, pair, target):
    """target = gray + amount · detail in the rows of the target's tile that are compared: those pixels, blurred."""
    first = (pair.low + pair.row_shift) * side
    for n in range((pair.high - pair.low + i4(2)) * side):
        p = u4(pair.start + first + n)
        target[u4(first + n)] = gray[p] + pair.blur * detail[p]


@formula
def interpolated_lanes(values, first, side, pair):
    """Eight neighbouring places between pixels, the first of these at values[first]."""
    above = pair.w00 * load(values, first) + pair.w10 * load(values, first + 1)
    return above + pair.w01 * load(values, first + side) + pair.w11 * load(values, first + side + 1)


@inner
def sum_differences(gray, detail, base, target, start, side, pair):
    """Sum of |reference + amount · detail − target| over the pixels that both views show, and the sum of weights.

    The reference tile begins at gray[base] and detail[base], the target tile at target[start].
    """
    differences, weights = count_up(f4(0)) * f4(0), count_up(f4(0)) * f4(0)
    amount, dx, dy = max(-pair.blur, f4(0)), pair.disparity_x, pair.disparity_y
    shift = start - base + pair.row_shift * side + pair.column_shift
    for row in range(pair.low, pair.high + 1):
        y = f4(row) - pair.center_y
        other_y = y + dy
        for column in range(pair.first, pair.last + 1, LANES):
            r, x = base + row * side + column, count_up(f4(column) - pair.center_x)
            value, here_value = interpolated_lanes(target, r + shift, side, pair), load(gray, r)
            other_x = x + dx
            here, there = x * x + y * y, other_x * other_x + other_y * other_y
            counts = (here_value + value <= UNUSABLE) & (here <= pair.squared_radius)
            counts = counts & (there <= pair.other_squared_radius)
            weight = where(counts, similarity(here + pair.light_offset, there, pair.dissimilarity), f4(0))
            differences = differences + weight * abs(here_value + amount * load(detail, r) - value)
            weights = weights + weight
    return total(differences), total(weights)


@inner
def load_reference(gray, detail, base, size, reference):
    """Copy a tile's gray and detail one after the other into a buffer (2 · side² + lanes,).

    Missing pixels become minus the missing value: no difference from anything is small enough to count.
    """
    for n in range(size):
        value = gray[u4(base + n)]
        reference[u4(n)] = value if value <= UNUSABLE else -MISSING
        reference[u4(size + n)] = detail[u4(base + n)]


@inner
def add_differences(reference, target, start, side, pair, weight, sums):
    """As `sum_differences`, per pixel: adds differences to the first half of sums, weights to the second.

    `sums` is (2 · side² + lanes,).
    """
    size, amount, dx, dy = side * side, max(-pair.blur, f4(0)), pair.disparity_x, pair.disparity_y
    shift = start + pair.row_shift * side + pair.column_shift
    for row in range(pair.low, pair.high + 1):
        y = f4(row) - pair.center_y
        other_y = y + dy
        for column in range(pair.first, pair.last + 1, LANES):
            p, x = row * side + column, count_up(f4(column) - pair.center_x)
            value = interpolated_lanes(target, p + shift, side, pair)
            difference = abs(load(reference, p) + amount * load(reference, p + size) - value)
            other_x = x + dx
            here, there = x * x + y * y, other_x * other_x + other_y * other_y
            alike = weight * similarity(here + pair.light_offset, there, pair.dissimilarity)
            both = (here <= pair.squared_radius) & (there <= pair.other_squared_radius)
            counts = where((difference <= UNUSABLE) & both, alike, f4(0))
            store(sums, p, load(sums, p) + counts * difference)
            store(sums, p + size, load(sums, p + size) + counts)


@inner
def add_differences_by_side(reference, target, start, side, pair, weight, sums):
    """As `add_differences`, twice: for pairs of pixels on one side, left or right, of both micro-images, and for pairs
    on one side, above or below.

    `sums` is (4 · side² + lanes,). A pixel's offset from the centre of its micro-image says through which part of the
    main lens it looks: pairs on one side look through one half of it.
    """
    size, amount, dx, dy = side * side, max(-pair.blur, f4(0)), pair.disparity_x, pair.disparity_y
    shift = start + pair.row_shift * side + pair.column_shift
    for row in range(pair.low, pair.high + 1):
        y = f4(row) - pair.center_y
        other_y = y + dy
        vertical = f4(1) if y * other_y >= -ACROSS else f4(0)
        for column in range(pair.first, pair.last + 1, LANES):
            p, x = row * side + column, count_up(f4(column) - pair.center_x)
            value = interpolated_lanes(target, p + shift, side, pair)
            difference = abs(load(reference, p) + amount * load(reference, p + size) - value)
            other_x = x + dx
            here, there = x * x + y * y, other_x * other_x + other_y * other_y
            alike = weight * similarity(here + pair.light_offset, there, pair.dissimilarity)
            both = (here <= pair.squared_radius) & (there <= pair.other_squared_radius)
            counts = where((difference <= UNUSABLE) & both, alike, f4(0))
            horizontal = where(f4(0) - x * other_x <= ACROSS, counts, f4(0))
            upright = vertical * counts
            store(sums, p, load(sums, p) + horizontal * difference)
            store(sums, p + size, load(sums, p + size) + horizontal)
            store(sums, p + 2 * size, load(sums, p + 2 * size) + upright * difference)
            store(sums, p + 3 * size, load(sums, p + 3 * size) + upright)


@inner
def find_pair(tiles, views, compared, lens, k, l, n, inverse_depth, widest, plane, same_type):
    """The pair of lens (k, l) and its n-th neighbour at 1/v, in the tiles of a plane.

    There is nothing to compare without another lens, with one of another type though only the same is wanted, or with
    too little in common at the hypothesis `widest`.
    """
    parity, tables = parity_of(views, k, l), compared.tables
    ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
    other, start = ol * views.columns + ok, 0
    disparity_x = disparity_y = blur = deficit = f4(0)
    radius = other_radius = dissimilarity = light_offset = f4(0)
    w00 = w10 = w01 = w11 = f4(0)
    low = high = first = last = column_shift = row_shift = i4(0)
    if not in_array(views, ok, ol) or (same_type and views.lens_type[lens] != views.lens_type[other]):
        other = -1
    else:
        plane = min(plane, compared.planes - 1)
        radius, other_radius = tables.radius[tables.kind[lens], plane], tables.radius[tables.kind[other], plane]
        ratio = views.pitch_ratio[lens]
        x, y = views.baseline[parity, n, 0], views.baseline[parity, n, 1]
        most = disparity_gain(widest, ratio)
        farthest = max(radius + other_radius - f4(LEAST_COMMON_WIDTH), f4(0))
        if most * most * (x * x + y * y) >= farthest * farthest:
            other = -1
        else:
            start = tile_start(compared, views, tiles.side * tiles.side, ok, ol, plane)
            gain = disparity_gain(inverse_depth, ratio)
            disparity_x, disparity_y = gain * x, gain * y
            larger = max(radius, other_radius)
            low, high = common_span(larger, tiles.center[lens, 1], disparity_y, disparity_x)
            first, last = common_span(larger, tiles.center[lens, 0], disparity_x, disparity_y)
            shift_x = tiles.center[other, 0] - tiles.center[lens, 0] + disparity_x
            shift_y = tiles.center[other, 1] - tiles.center[lens, 1] + disparity_y
            column_shift, row_shift = floor(shift_x), floor(shift_y)
            wx, wy = shift_x - f4(column_shift), shift_y - f4(row_shift)
            w00, w10, w01, w11 = bilinear_weights(snapped(wx), snapped(wy))
            # Both rows that are interpolated between must be in the target's tile.
            low = max(low, -row_shift, i4(0))
            high = min(high, i4(tiles.side - 1), i4(tiles.side - 2) - row_shift)
            first = max(first, -column_shift, i4(0))
            variance = relative_blur_variance(views, views.lens_type[lens], views.lens_type[other], inverse_depth)
            blur = (variance - interpolation_variance(wx, wy)) / tables.blur_unit[plane]
            deficit = noise_deficit(tiles.noise, wx, wy, blur)
            dissimilarity = tables.dissimilarity[plane]
            aside_x, aside_y = (
                tables.light_center[lens, 0] - tiles.center[lens, 0],
                tables.light_center[lens, 1] - tiles.center[lens, 1],
            )
            light_offset = f4(2) * (aside_x * disparity_x + aside_y * disparity_y)
    limits, center = (radius * radius, other_radius * other_radius), (tiles.center[lens, 0], tiles.center[lens, 1])
    return Pair(
        other, start, column_shift, row_shift, w00, w10, w01, w11, low, high, first, last, center[0], center[1],
        disparity_x, disparity_y, limits[0], limits[1], blur, deficit, dissimilarity, light_offset,
    )  # fmt: skip
