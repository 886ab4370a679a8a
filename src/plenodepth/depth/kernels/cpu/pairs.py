"""Two views compared at one hypothesis: the innermost loops.

For one pair and one hypothesis the shift is constant, so the warp is four contiguous loads with constant weights,
and the loop becomes vector instructions. Missing pixels are huge numbers, so that a value tells whether it counts,
and no mask need be read. The discs are computed, because a mask of whole pixels would jump at whole shifts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.kernels.constants import LEAST_COMMON_WIDTH, MISSING, UNUSABLE
from plenodepth.depth.kernels.scalar import (
    bilinear_weights,
    disparity_gain,
    floor,
    in_array,
    inside,
    interpolation_variance,
    noise_deficit,
    parity_of,
    relative_blur_variance,
    similarity,
    snapped,
    standard_deviation,
)

f4 = np.float32
i4 = np.int32
u4 = np.uint32


class Pair(NamedTuple):
    """What it takes to compare a lens (the reference) with another (the target) at one hypothesis."""

    other: int  # index of the target; −1 where there is nothing to compare
    start: int  # of its tile in the compared tiles
    shift_x: np.float32  # px, from a pixel of the reference's tile to one of the target's tile
    shift_y: np.float32
    low: np.int32  # first and last row of the reference's tile that can have anything in common
    high: np.int32
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


@compiled
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


@inlined
def common_rows(radius, middle, disparity_x, disparity_y):
    """First and last row of the reference's tile, centred in row `middle`, with pixels that the target may show, too.

    Two discs of equal radius, the reference's at the origin and the target's at minus the disparity.
    """
    low, high = max(-radius, -radius - disparity_y), min(radius, radius - disparity_y)
    if disparity_x * disparity_x + (radius - abs(disparity_y)) ** 2 > radius * radius:
        # Neither disc holds the other's uppermost or lowest point: the tips of what they share bound it.
        squared = disparity_x * disparity_x + disparity_y * disparity_y
        tips = abs(disparity_x) * math.sqrt(max(radius * radius / squared - f4(0.25), f4(0)))
        low, high = f4(-0.5) * disparity_y - tips, f4(-0.5) * disparity_y + tips
    return -floor(-middle - low), floor(middle + high)


@inlined
def overlap(side, shift_x, shift_y, low, high):
    """Bilinear weights, and the reference pixels of rows low … high whose four target pixels are in the tile.

    Returns (w00, w10, w01, w11, first, count, offset): target pixel = reference pixel + offset.
    """
    ix, iy = floor(shift_x), floor(shift_y)
    w00, w10, w01, w11 = bilinear_weights(snapped(shift_x - f4(ix)), snapped(shift_y - f4(iy)))
    offset = iy * side + ix
    first = max(max(low, -iy) * side, -offset)
    last = min(min(high + i4(1), side - iy - i4(1)) * side, side * side - offset - side - i4(1))
    return w00, w10, w01, w11, first, max(last - first, i4(0)), offset


@compiled
def blur_tile(gray, detail, first, count, amount, out):
    """out[n] = gray + amount · detail of `count` pixels from `first` on: those pixels, blurred."""
    for n in range(count):
        p = u4(first + n)
        out[u4(n)] = gray[p] + amount * detail[p]


@compiled
def sum_differences(gray, detail, coordinates, base, target, start, side, pair):
    """Sum of |reference + amount · detail − target| over the pixels that both views show, and the sum of weights.

    The reference tile begins at gray[base] and detail[base], the target tile at target[start].
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, pair.shift_x, pair.shift_y, pair.low, pair.high)
    total, number = f4(0), f4(0)
    s, size = u4(side), u4(side * side)
    amount = max(-pair.blur, f4(0))
    disparity_x, disparity_y = pair.disparity_x, pair.disparity_y
    limit, other_limit = pair.squared_radius, pair.other_squared_radius
    dissimilarity, light_offset = pair.dissimilarity, pair.light_offset
    for n in range(count):
        p, r, t = u4(first + n), u4(base + first + n), u4(start + first + offset + n)
        value = w00 * target[t] + w10 * target[t + u4(1)] + w01 * target[t + s] + w11 * target[t + s + u4(1)]
        x, y = coordinates[p], coordinates[p + size]
        px, py = x + disparity_x, y + disparity_y
        here, there = x * x + y * y, px * px + py * py
        # Factors, because conditions would keep the loop from being vectorised. Missing pixels are huge.
        weight = inside(gray[r] + value, UNUSABLE) * inside(here, limit) * inside(there, other_limit)
        weight *= similarity(here + light_offset, there, dissimilarity)
        total += weight * min(abs(gray[r] + amount * detail[r] - value), UNUSABLE)
        number += weight
    return total, number


@compiled
def load_reference(compared, coordinates, base, limit, reference):
    """Copy a tile's gray, detail and coordinates one after the other into a buffer (4 · side²,).

    Pixels outside the disc become minus the missing value: no difference from anything is small enough to count.
    """
    size = len(coordinates) // 2
    for n in range(size):
        p, s = u4(n), u4(size)
        x, y, value = coordinates[p], coordinates[p + s], compared.gray[u4(base + n)]
        counts = inside(x * x + y * y, limit) * inside(value, UNUSABLE)
        reference[p] = value if counts > 0 else -MISSING
    for n in range(size):
        reference[u4(size + n)] = compared.detail[u4(base + n)]
    for n in range(2 * size):
        reference[u4(2 * size + n)] = coordinates[u4(n)]


@compiled
def add_differences(reference, target, start, side, pair, weight, sums):
    """As `sum_differences`, per pixel: adds differences to the first half of sums (2 · side²,), weights to the second.

    Few arrays of several parts: with more, the compiler would have to prove too many of them apart, and would give up
    on vector instructions.
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, pair.shift_x, pair.shift_y, pair.low, pair.high)
    s, size = u4(side), u4(side * side)
    amount, dissimilarity, light_offset = max(-pair.blur, f4(0)), pair.dissimilarity, pair.light_offset
    disparity_x, disparity_y, limit = pair.disparity_x, pair.disparity_y, pair.other_squared_radius
    for n in range(count):
        p, t = u4(first + n), u4(start + first + offset + n)
        value = w00 * target[t] + w10 * target[t + u4(1)] + w01 * target[t + s] + w11 * target[t + s + u4(1)]
        difference = abs(reference[p] + amount * reference[p + size] - value)
        x, y = reference[p + u4(2) * size], reference[p + u4(3) * size]
        px, py = x + disparity_x, y + disparity_y
        there = px * px + py * py
        counts = (
            weight
            * inside(difference, UNUSABLE)
            * inside(there, limit)
            * similarity(x * x + y * y + light_offset, there, dissimilarity)
        )
        sums[p] += counts * difference
        sums[p + size] += counts


@inlined
def find_pair(tiles, views, compared, lens, k, l, n, inverse_depth, widest, plane, same_type):
    """The pair of lens (k, l) and its n-th neighbour at 1/v, in the tiles of a plane.

    There is nothing to compare without another lens, with one of another type though only the same is wanted, or with
    too little in common at the hypothesis `widest`.
    """
    parity = parity_of(views, k, l)
    ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
    other, start = ol * views.columns + ok, 0
    shift_x = shift_y = disparity_x = disparity_y = blur = deficit = f4(0)
    radius = other_radius = dissimilarity = light_offset = f4(0)
    low = high = i4(0)
    if not in_array(views, ok, ol) or (same_type and views.lens_type[lens] != views.lens_type[other]):
        other = -1
    else:
        plane = min(plane, compared.planes - 1)
        radius, other_radius = compared.radius[compared.kind[lens], plane], compared.radius[compared.kind[other], plane]
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
            low, high = common_rows(max(radius, other_radius), tiles.center[lens, 1], disparity_x, disparity_y)
            low, high = max(low, i4(0)), min(high, i4(tiles.side - 1))
            shift_x = tiles.center[other, 0] - tiles.center[lens, 0] + disparity_x
            shift_y = tiles.center[other, 1] - tiles.center[lens, 1] + disparity_y
            wx, wy = shift_x - f4(floor(shift_x)), shift_y - f4(floor(shift_y))
            variance = relative_blur_variance(views, views.lens_type[lens], views.lens_type[other], inverse_depth)
            blur = (variance - interpolation_variance(wx, wy)) / compared.blur_unit[plane]
            deficit = noise_deficit(tiles.noise, wx, wy, blur)
            dissimilarity = compared.dissimilarity[plane]
            aside_x, aside_y = (
                compared.light_center[lens, 0] - tiles.center[lens, 0],
                compared.light_center[lens, 1] - tiles.center[lens, 1],
            )
            light_offset = f4(2) * (aside_x * disparity_x + aside_y * disparity_y)
    limits = radius * radius, other_radius * other_radius
    return Pair(
        other, start, shift_x, shift_y, low, high, disparity_x, disparity_y, limits[0], limits[1], blur, deficit,
        dissimilarity, light_offset,
    )  # fmt: skip
