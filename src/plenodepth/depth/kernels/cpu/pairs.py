"""Two views compared at one hypothesis: the innermost loops.

For one pair and one hypothesis the shift is constant, so the warp is four contiguous loads with constant weights,
and the loop becomes vector instructions. Missing pixels are huge numbers, so that a value tells whether it counts,
and no mask need be read; the discs are computed, because a mask of whole pixels would jump at whole shifts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.tiles import LEAST_COMMON_WIDTH, MISSING, SNAP, UNUSABLE

Float32 = NDArray[np.float32]

f4 = np.float32
i4 = np.int32
u4 = np.uint32


@inlined
def place_of(stack, views, size, k, l, h):
    """Where layer h of lens (k, l) begins in the stack."""
    if stack.layers == 1:
        return (l * views.columns + k) * size
    return (((l % stack.rows) * views.columns + k) * stack.layers + h) * size


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
    if count == 0:
        return f4(0)
    return f4(math.sqrt(max(squares / count - (total / count) ** 2, 0.0)))


@inlined
def inside(value, limit):
    """1 up to the limit, 0 beyond."""
    return f4(1) if value <= limit else f4(0)


@inlined
def alike(here, there, unlike):
    """What a comparison of two pixels counts, at such squared distances from the middle of their light."""
    return max(f4(1) - unlike * abs(here - there), f4(0))


@inlined
def whole(value):
    """The largest integer up to a value. (math.floor would be a call of the C library's, 4 ns.)"""
    cut = i4(value)
    return cut - i4(1) if f4(cut) > value else cut


@inlined
def snapped(fraction):
    """The fraction, but 0 or 1 where rounding alone keeps it from that: a missing pixel beside must not count."""
    return f4(0) if fraction < SNAP else (f4(1) if fraction > f4(1) - SNAP else fraction)


@inlined
def common_rows(radius, middle, move_x, move_y):
    """First and last row of the reference's tile, centred in row `middle`, with pixels that the target may show, too.

    Two discs of equal radius, the reference's at the origin and the target's at minus the disparity.
    """
    low, high = max(-radius, -radius - move_y), min(radius, radius - move_y)
    if move_x * move_x + (radius - abs(move_y)) ** 2 > radius * radius:
        # Neither disc holds the other's uppermost or lowest point: the tips of what they share bound it.
        squared = move_x * move_x + move_y * move_y
        tips = abs(move_x) * math.sqrt(max(radius * radius / squared - f4(0.25), f4(0)))
        low, high = f4(-0.5) * move_y - tips, f4(-0.5) * move_y + tips
    return -whole(-middle - low), whole(middle + high)


@inlined
def overlap(side, shift_x, shift_y, low, high):
    """Bilinear weights and the reference pixels of rows low … high whose four target pixels are in the tile.

    Returns (w00, w10, w01, w11, first, count, offset): target pixel = reference pixel + offset.
    """
    ix, iy = whole(shift_x), whole(shift_y)
    wx, wy = snapped(shift_x - f4(ix)), snapped(shift_y - f4(iy))
    w11 = wx * wy
    offset = iy * side + ix
    first = max(max(low, -iy) * side, -offset)
    last = min(min(high + i4(1), side - iy - i4(1)) * side, side * side - offset - side - i4(1))
    return f4(1) - wx - wy + w11, wx - w11, wy - w11, w11, first, max(last - first, i4(0)), offset


@compiled
def blend(gray, detail, first, count, amount, out):
    """out[n] = gray + amount · detail of `count` pixels from `first` on: those pixels, blurred."""
    for n in range(count):
        p = u4(first + n)
        out[u4(n)] = gray[p] + amount * detail[p]


@compiled
def pair_sum(gray, detail, coordinates, base, target, start, side, pair):
    """Sum and number of |reference + amount · detail − target| over the pixels that both views show, alike.

    The reference tile begins at gray[base] and detail[base], the target tile at target[start].
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, pair.shift_x, pair.shift_y, pair.low, pair.high)
    total, number = f4(0), f4(0)
    s, size = u4(side), u4(side * side)
    amount = max(-pair.blur, f4(0))
    move_x, move_y, limit, other_limit = pair.move_x, pair.move_y, pair.limit, pair.other_limit
    unlike, beside = pair.unlike, pair.beside
    for n in range(count):
        p, r, t = u4(first + n), u4(base + first + n), u4(start + first + offset + n)
        value = w00 * target[t] + w10 * target[t + u4(1)] + w01 * target[t + s] + w11 * target[t + s + u4(1)]
        x, y = coordinates[p], coordinates[p + size]
        px, py = x + move_x, y + move_y
        here, there = x * x + y * y, px * px + py * py
        # Factors, because conditions would keep the loop from being vectorised. Missing pixels are huge.
        counts = inside(gray[r] + value, UNUSABLE) * inside(here, limit) * inside(there, other_limit)
        counts *= alike(here + beside, there, unlike)
        total += counts * min(abs(gray[r] + amount * detail[r] - value), UNUSABLE)
        number += counts
    return total, number


@compiled
def load_reference(stack, coordinates, base, limit, reference):
    """Copy a tile's gray, detail and coordinates one after the other into a buffer (4 · side²,).

    Pixels outside the disc become minus the missing value: no difference from anything is small enough to count.
    """
    size = len(coordinates) // 2
    for n in range(size):
        p, s = u4(n), u4(size)
        x, y, value = coordinates[p], coordinates[p + s], stack.gray[u4(base + n)]
        counts = inside(x * x + y * y, limit) * inside(value, UNUSABLE)
        reference[p] = value if counts > 0 else -MISSING
    for n in range(size):
        reference[u4(size + n)] = stack.detail[u4(base + n)]
    for n in range(2 * size):
        reference[u4(2 * size + n)] = coordinates[u4(n)]


@compiled
def pair_add(reference, target, start, side, pair, weight, sums):
    """As `pair_sum`, added pixel by pixel: differences to the first half of sums (2 · side²,), numbers to the second.

    Few arrays of several parts: with more, the compiler would have to prove too many of them apart, and would give up
    on vector instructions.
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, pair.shift_x, pair.shift_y, pair.low, pair.high)
    s, size = u4(side), u4(side * side)
    amount, unlike, beside = max(-pair.blur, f4(0)), pair.unlike, pair.beside
    move_x, move_y, limit = pair.move_x, pair.move_y, pair.other_limit
    for n in range(count):
        p, t = u4(first + n), u4(start + first + offset + n)
        value = w00 * target[t] + w10 * target[t + u4(1)] + w01 * target[t + s] + w11 * target[t + s + u4(1)]
        difference = abs(reference[p] + amount * reference[p + size] - value)
        x, y = reference[p + u4(2) * size], reference[p + u4(3) * size]
        px, py = x + move_x, y + move_y
        there = px * px + py * py
        counts = (
            weight * inside(difference, UNUSABLE) * inside(there, limit) * alike(x * x + y * y + beside, there, unlike)
        )
        sums[p] += counts * difference
        sums[p + size] += counts


@inlined
def noise_deficit(noise, wx, wy, blur):
    """By how much less the noise of a pair differs than with neither shift nor blur, in units of its variance.

    Between pixels, interpolation averages noise away, and so does blur: there a match looks better than it is, and
    depth would be drawn towards it (by up to 0.8 % of v, at a noise of 2 %), were this not made up for.
    """
    blurred = f4(1) + abs(blur) * (noise.blur[0] + abs(blur) * noise.blur[1])
    along_x, along_y = f4(1) - wx * (f4(1) - wx) * noise.between, f4(1) - wy * (f4(1) - wy) * noise.between
    return f4(2) - (blurred + along_x * along_y if blur < 0 else f4(1) + blurred * along_x * along_y)


class Pair(NamedTuple):
    """What comparing a lens with another at one hypothesis takes."""

    other: int  # −1 where there is nothing to compare
    start: int  # of its tile in the stack
    shift_x: np.float32  # px, from tile to tile
    shift_y: np.float32
    low: np.int32  # rows of the reference's tile that can have anything in common
    high: np.int32
    move_x: np.float32  # px, from offset to offset: the disparity
    move_y: np.float32
    limit: np.float32  # px²: squared radius of the reference's disc
    other_limit: np.float32  # and of the target's
    blur: np.float32  # variance per axis, in units of adding the detail once, by which the reference is blurrier than
    # the target once that is interpolated
    deficit: np.float32  # of noise
    unlike: np.float32  # per px²: see `alike`
    beside: np.float32  # px²: by how much the middle of the light, beside the centre, changes what is apart


@inlined
def meet(tiles, views, stack, lens, k, l, n, inverse, widest, layer, same_type):
    """The pair of a lens and its n-th neighbour at 1/v, tiles taken from a layer of the stack.

    There is nothing to compare without another lens, with one of another type though only the same is wanted, or with
    too little in common at the hypothesis `widest`.
    """
    parity = (k if views.by_column else l) % 2
    ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
    other, start = ol * views.columns + ok, 0
    shift_x = shift_y = move_x = move_y = blur = deficit = radius = other_radius = unlike = beside = f4(0)
    low = high = i4(0)
    outside = ok < 0 or ol < 0 or ok >= views.columns or ol >= views.rows
    if outside or (same_type and views.lens_type[lens] != views.lens_type[other]):
        other = -1
    else:
        i, j, layer = views.lens_type[lens], views.lens_type[other], min(layer, stack.layers - 1)
        radius, other_radius = stack.radius[stack.kind[lens], layer], stack.radius[stack.kind[other], layer]
        ratio = views.pitch_ratio[lens]
        x, y = views.baseline[parity, n, 0], views.baseline[parity, n, 1]
        most = (f4(1) - ratio) + ratio * widest
        farthest = max(radius + other_radius - f4(LEAST_COMMON_WIDTH), f4(0))
        if most * most * (x * x + y * y) >= farthest * farthest:
            other = -1
        else:
            start = place_of(stack, views, tiles.side * tiles.side, ok, ol, layer)
            gain = (f4(1) - ratio) + ratio * inverse  # disparity per baseline, see camera.disparity
            move_x, move_y = gain * x, gain * y
            low, high = common_rows(max(radius, other_radius), tiles.center[lens, 1], move_x, move_y)
            low, high = max(low, i4(0)), min(high, i4(tiles.side - 1))
            shift_x = tiles.center[other, 0] - tiles.center[lens, 0] + move_x
            shift_y = tiles.center[other, 1] - tiles.center[lens, 1] + move_y
            wx, wy = shift_x - f4(whole(shift_x)), shift_y - f4(whole(shift_y))
            interpolation = f4(0.5) * (wx * (f4(1) - wx) + wy * (f4(1) - wy))
            variance = views.blur_intercept[i, j] + inverse * (
                views.blur_slope[i, j] + inverse * views.blur_square[i, j]
            )
            blur = (variance - interpolation) / stack.unit[layer]
            deficit = noise_deficit(tiles.noise, wx, wy, blur)
            unlike = stack.unlike[layer]
            aside_x, aside_y = (
                stack.center[lens, 0] - tiles.center[lens, 0],
                stack.center[lens, 1] - tiles.center[lens, 1],
            )
            beside = f4(2) * (aside_x * move_x + aside_y * move_y)
    limits = radius * radius, other_radius * other_radius
    return Pair(
        other, start, shift_x, shift_y, low, high, move_x, move_y, limits[0], limits[1], blur, deficit, unlike, beside
    )
