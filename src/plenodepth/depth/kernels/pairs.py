"""Two views compared at one hypothesis: the innermost loops.

For one pair and one hypothesis the shift is constant, so the warp is four contiguous loads with constant weights,
and the loop becomes vector instructions. Missing pixels are huge numbers, so that a difference tells whether it
counts, and no mask need be read.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.depth.kernels.compiling import compiled, inlined
from plenodepth.depth.tiles import MISSING, SNAP, UNUSABLE

f4 = np.float32
i4 = np.int32
u4 = np.uint32


@compiled
def load_reference(tiles, lens, reference):
    """Copy one tile's gray, detail and coordinates into a buffer (4 · side²,); returns the disc's standard deviation.

    Pixels outside the disc become minus the missing value: no difference from anything is small enough to count.
    """
    size = tiles.side * tiles.side
    total, squares, count = 0.0, 0.0, 0
    limit = tiles.radius * tiles.radius
    for p in range(size):
        value = tiles.gray[lens * size + p]
        x, y = f4(p % tiles.side) - tiles.center[lens, 0], f4(p // tiles.side) - tiles.center[lens, 1]
        reference[size + p] = tiles.detail[lens * size + p]
        reference[2 * size + p], reference[3 * size + p] = x, y
        if x * x + y * y <= limit and value < UNUSABLE:
            reference[p] = value
            total += value
            squares += value * value
            count += 1
        else:
            reference[p] = -MISSING
    if count == 0:
        return f4(0)
    return f4(math.sqrt(max(squares / count - (total / count) ** 2, 0.0)))


@inlined
def inside(value, limit):
    """1 up to the limit, 0 beyond."""
    return f4(1) if value <= limit else f4(0)


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
def common_rows(tiles, lens, move_x, move_y):
    """First and last row of the reference's tile with pixels that the target may show, too.

    Two discs of equal radius, the reference's at the origin and the target's at minus the disparity; `RIM` wider than
    those compared, because interpolation reaches that far.
    """
    reach = tiles.radius
    low, high = max(-reach, -reach - move_y), min(reach, reach - move_y)
    if move_x * move_x + (reach - abs(move_y)) ** 2 > reach * reach:
        # Neither disc holds the other's uppermost or lowest point: the tips of what they share bound it.
        squared = move_x * move_x + move_y * move_y
        tips = abs(move_x) * math.sqrt(max(reach * reach / squared - f4(0.25), f4(0)))
        low, high = f4(-0.5) * move_y - tips, f4(-0.5) * move_y + tips
    middle = tiles.center[lens, 1]
    return -whole(-middle - max(low, -tiles.radius)), whole(middle + min(high, tiles.radius))


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
def pair_sum(reference, target, base, side, shift_x, shift_y, low, high, move_x, move_y, limit, amount):
    """Sum and number of |reference + amount · detail − target| over the pixels of rows low … high that both views show.

    `reference` is what `load_reference` made; the target tile begins at target[base].
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, shift_x, shift_y, low, high)
    total, number = f4(0), f4(0)
    s, size = u4(side), u4(side * side)
    for n in range(count):
        p, t = u4(first + n), u4(base + first + offset + n)
        value = w00 * target[t] + w10 * target[t + u4(1)] + w01 * target[t + s] + w11 * target[t + s + u4(1)]
        difference = abs(reference[p] + amount * reference[p + size] - value)
        # Factors, because conditions would keep the loop from being vectorised.
        px, py = reference[p + u4(2) * size] + move_x, reference[p + u4(3) * size] + move_y
        counts = inside(difference, UNUSABLE) * inside(px * px + py * py, limit)
        total += counts * difference
        number += counts
    return total, number


@compiled
def pair_add(reference, target, base, side, shift_x, shift_y, low, high, move_x, move_y, limit, amount, weight, sums):
    """As `pair_sum`, added pixel by pixel: differences to the first half of sums (2 · side²,), numbers to the second.

    Few arrays of two parts each: with more, the compiler would have to prove too many of them apart, and would give up
    on vector instructions.
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, shift_x, shift_y, low, high)
    s, size = u4(side), u4(side * side)
    for n in range(count):
        p, t = u4(first + n), u4(base + first + offset + n)
        value = w00 * target[t] + w10 * target[t + u4(1)] + w01 * target[t + s] + w11 * target[t + s + u4(1)]
        difference = abs(reference[p] + amount * reference[p + size] - value)
        px, py = reference[p + u4(2) * size] + move_x, reference[p + u4(3) * size] + move_y
        counts = weight * inside(difference, UNUSABLE) * inside(px * px + py * py, limit)
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


@inlined
def meet(tiles, views, lens, k, l, n, inverse, widest, same_type):
    """What comparing a lens with its n-th neighbour at 1/v takes: (other, shift x, y, low, high, variance, deficit).

    `other` is −1 where there is nothing to compare: no lens, another type though only the same is wanted, or too little
    in common at the hypothesis `widest`. The shift leads from tile to tile; low … high are the rows that can have
    anything in common; the variance per axis, in units of `blur_unit`, is that by which the reference is blurrier than
    the target once that is interpolated; the deficit is that of noise.
    """
    parity = (k if views.by_column else l) % 2
    ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
    other = ol * views.columns + ok
    shift_x = shift_y = blur = f4(0)
    low = high = i4(0)
    move_x = move_y = f4(0)
    deficit = f4(0)
    outside = ok < 0 or ol < 0 or ok >= views.columns or ol >= views.rows
    if outside or (same_type and views.lens_type[lens] != views.lens_type[other]):
        other = -1
    else:
        ratio = views.pitch_ratio[lens]
        x, y = views.baseline[parity, n, 0], views.baseline[parity, n, 1]
        most = (f4(1) - ratio) + ratio * widest
        if most * most * (x * x + y * y) >= tiles.farthest * tiles.farthest:
            other = -1
        else:
            gain = (f4(1) - ratio) + ratio * inverse  # disparity per baseline, see camera.disparity
            move_x, move_y = gain * x, gain * y
            low, high = common_rows(tiles, lens, move_x, move_y)
            shift_x = tiles.center[other, 0] - tiles.center[lens, 0] + move_x
            shift_y = tiles.center[other, 1] - tiles.center[lens, 1] + move_y
            wx, wy = shift_x - f4(whole(shift_x)), shift_y - f4(whole(shift_y))
            interpolation = f4(0.5) * (wx * (f4(1) - wx) + wy * (f4(1) - wy))
            i, j = views.lens_type[lens], views.lens_type[other]
            blur = (views.blur_slope[i, j] * inverse + views.blur_intercept[i, j] - interpolation) / tiles.blur_unit
            deficit = noise_deficit(tiles.noise, wx, wy, blur)
    return other, shift_x, shift_y, low, high, move_x, move_y, blur, deficit
