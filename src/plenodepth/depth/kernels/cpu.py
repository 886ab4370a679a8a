"""The matching in Numba: one loop over a tile's pixels per pair of views and hypothesis.

For one pair and one hypothesis the shift is constant, so the warp is four contiguous loads with constant weights,
and the loop becomes vector instructions. Pixels outside the reference's disc have impossible coordinates, which makes
the two masks one comparison.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.depth.kernels.compiling import compiled, inlined
from plenodepth.depth.kernels.peaks import (
    FINE,
    FINE_STEP,
    FULL_VIEWS,
    SIGMA_FLOOR,
    best_hypothesis,
    between_hypotheses,
    parabola,
    widest_fine,
)
from plenodepth.depth.kernels.reference import LEAST_COMMON_WIDTH, SNAP

f4 = np.float32
i4 = np.int32
u4 = np.uint32

NOWHERE = f4(1e6)
# Missing pixels come as a huge number instead of NaN: with NaN possible, a loop that skips them would not become vector
# instructions (970 instead of 150 ns per pair).
MISSING = f4(1e30)  # and however small its weight in an interpolation, it shows
UNUSABLE = f4(1e3)  # a difference this large has a missing pixel in it


@inlined
def inside(value, limit):
    """1 up to the limit, 0 beyond; a factor, because a condition would keep the loop from being vectorised."""
    return f4(1) if value <= limit else f4(0)


@compiled
def load_reference(gray, detail, center, lens, side, radius, reference, sharper, x, y):
    """Copy one tile and its coordinates into buffers (side²,); returns the standard deviation inside the disc."""
    size = side * side
    total, squares, count = 0.0, 0.0, 0
    for p in range(size):
        value = gray[lens * size + p]
        dx, dy = f4(p % side) - center[lens, 0], f4(p // side) - center[lens, 1]
        reference[p], sharper[p] = value, detail[lens * size + p]
        if dx * dx + dy * dy <= radius * radius and value < UNUSABLE:
            x[p], y[p] = dx, dy
            total += value
            squares += value * value
            count += 1
        else:
            x[p] = y[p] = NOWHERE
    if count == 0:
        return f4(0)
    return f4(math.sqrt(max(squares / count - (total / count) ** 2, 0.0)))


@inlined
def snapped(fraction):
    """The fraction, but 0 or 1 where rounding alone keeps it from that: a missing pixel beside must not count."""
    return f4(0) if fraction < SNAP else (f4(1) if fraction > f4(1) - SNAP else fraction)


@inlined
def overlap(side, shift_x, shift_y):
    """Bilinear weights and the flat range of reference pixels whose four target pixels are in the tile.

    Returns (w00, w10, w01, w11, first, count, offset): target pixel = reference pixel + offset.
    """
    ix, iy = i4(math.floor(shift_x)), i4(math.floor(shift_y))
    wx, wy = snapped(f4(shift_x - ix)), snapped(f4(shift_y - iy))
    w11 = wx * wy
    offset = iy * side + ix
    first = max(max(i4(0), -iy) * side, -offset)
    last = min(min(side, side - iy - i4(1)) * side, side * side - offset - side - i4(1))
    return f4(1) - wx - wy + w11, wx - w11, wy - w11, w11, first, max(last - first, i4(0)), offset


@compiled
def pair_sum(reference, sharper, x, y, gray, detail, base, side, shift_x, shift_y, move_x, move_y, limit, a, b):
    """Sum and number of |reference + a·sharper − (target + b·detail)| over the pixels both views show."""
    w00, w10, w01, w11, first, count, offset = overlap(side, shift_x, shift_y)
    total, number = f4(0), f4(0)
    s = u4(side)
    if b != 0:
        for n in range(count):
            p, t = u4(first + n), u4(base + first + offset + n)
            px, py = x[p] + move_x, y[p] + move_y
            value = (
                w00 * (gray[t] + b * detail[t])
                + w10 * (gray[t + u4(1)] + b * detail[t + u4(1)])
                + w01 * (gray[t + s] + b * detail[t + s])
                + w11 * (gray[t + s + u4(1)] + b * detail[t + s + u4(1)])
            )
            difference = abs(reference[p] - value)
            weight = inside(px * px + py * py, limit) * inside(difference, UNUSABLE)
            total += weight * difference
            number += weight
    else:
        for n in range(count):
            p, t = u4(first + n), u4(base + first + offset + n)
            px, py = x[p] + move_x, y[p] + move_y
            value = w00 * gray[t] + w10 * gray[t + u4(1)] + w01 * gray[t + s] + w11 * gray[t + s + u4(1)]
            difference = abs(reference[p] + a * sharper[p] - value)
            weight = inside(px * px + py * py, limit) * inside(difference, UNUSABLE)
            total += weight * difference
            number += weight
    return total, number


@compiled
def pair_add(packed, gray, detail, base, side, shift_x, shift_y, move_x, move_y, limit, a, b, sums):
    """As `pair_sum`, added pixel by pixel: differences to the first half of sums (2 · side²,), numbers to the second.

    `packed` (4 · side²,) is reference, sharper, x and y one after the other: with all these as arrays of their own, the
    compiler would have to prove too many of them apart, and would give up on vector instructions.
    """
    w00, w10, w01, w11, first, count, offset = overlap(side, shift_x, shift_y)
    s, size = u4(side), u4(side * side)
    if b != 0:
        for n in range(count):
            p, t = u4(first + n), u4(base + first + offset + n)
            px, py = packed[p + u4(2) * size] + move_x, packed[p + u4(3) * size] + move_y
            value = (
                w00 * (gray[t] + b * detail[t])
                + w10 * (gray[t + u4(1)] + b * detail[t + u4(1)])
                + w01 * (gray[t + s] + b * detail[t + s])
                + w11 * (gray[t + s + u4(1)] + b * detail[t + s + u4(1)])
            )
            difference = abs(packed[p] - value)
            weight = inside(px * px + py * py, limit) * inside(difference, UNUSABLE)
            sums[p] += weight * difference
            sums[p + size] += weight
    else:
        for n in range(count):
            p, t = u4(first + n), u4(base + first + offset + n)
            px, py = packed[p + u4(2) * size] + move_x, packed[p + u4(3) * size] + move_y
            value = w00 * gray[t] + w10 * gray[t + u4(1)] + w01 * gray[t + s] + w11 * gray[t + s + u4(1)]
            difference = abs(packed[p] + a * packed[p + size] - value)
            weight = inside(px * px + py * py, limit) * inside(difference, UNUSABLE)
            sums[p] += weight * difference
            sums[p + size] += weight


@inlined
def interpolation(move_x, move_y, lens, other, center):
    """Variance per axis, px², that interpolating the target between its pixels adds: the mean of w (1 − w)."""
    shift_x, shift_y = center[other, 0] - center[lens, 0] + move_x, center[other, 1] - center[lens, 1] + move_y
    wx, wy = f4(shift_x - math.floor(shift_x)), f4(shift_y - math.floor(shift_y))
    return f4(0.5) * (wx * (f4(1) - wx) + wy * (f4(1) - wy))


@compiled
def view_cost(
    inverse, widest, lens, k, l, count, columns, rows, parity, step_k, step_l, baseline, pitch_ratio, lens_type,
    blur_slope, blur_intercept, gray, detail, center, side, radius, blur_unit, least_overlap, least_views,
    reference, sharper, x, y,
):  # fmt: skip
    """Cost of a hypothesis 1/v with the first `count` neighbours, the views that took part and their pixels.

    Those neighbours take part that still overlap at the hypothesis `widest`: with the same one for a whole search, its
    views stay the same. A view that drops out in the middle would make a step in the curve, and a false minimum there.
    """
    ratio, size = pitch_ratio[lens], side * side
    gain, most = (f4(1) - ratio) + ratio * inverse, (f4(1) - ratio) + ratio * widest
    farthest = (f4(2) * radius - f4(LEAST_COMMON_WIDTH)) ** 2
    total, taken, shared = f4(0), f4(0), f4(0)
    for n in range(count):
        ok, ol = k + step_k[parity, n], l + step_l[parity, n]
        if ok < 0 or ol < 0 or ok >= columns or ol >= rows:
            continue
        move_x, move_y = gain * baseline[parity, n, 0], gain * baseline[parity, n, 1]
        apart = baseline[parity, n, 0] ** 2 + baseline[parity, n, 1] ** 2
        if most * most * apart >= farthest:
            continue
        other = ol * columns + ok
        i, j = lens_type[lens], lens_type[other]
        extra = interpolation(move_x, move_y, lens, other, center)
        blur = (blur_slope[i, j] * inverse + blur_intercept[i, j] - extra) / blur_unit
        differences, number = pair_sum(
            reference, sharper, x, y, gray, detail, i4(other * size), i4(side),
            center[other, 0] - center[lens, 0] + move_x, center[other, 1] - center[lens, 1] + move_y,
            move_x, move_y, radius * radius, max(-blur, f4(0)), max(blur, f4(0)),
        )  # fmt: skip
        if number >= least_overlap:
            total += differences / number
            taken += f4(1)
            shared += number
    return total / taken if taken >= least_views else f4(np.nan), taken, shared


@compiled
def coarse_rows(
    first, last, columns, rows, by_column, step_k, step_l, baseline, swept, pitch_ratio, lens_type, blur_slope,
    blur_intercept, inverse_depths, gray, detail, center, side, radius, blur_unit, least_contrast, least_overlap,
    least_views, depth, sigma, confidence, cost, views,
):  # fmt: skip
    """One depth per micro-image of rows first … last − 1, into depth, sigma, confidence, cost, views (J,)."""
    size = side * side
    reference, sharper, x, y = np.empty(size, f4), np.empty(size, f4), np.empty(size, f4), np.empty(size, f4)
    curve, fine = np.empty(len(inverse_depths), f4), np.empty(FINE, f4)
    step = inverse_depths[1] - inverse_depths[0]
    for l in range(first, last):
        for k in range(columns):
            lens = l * columns + k
            contrast = load_reference(gray, detail, center, lens, side, radius, reference, sharper, x, y)
            if contrast < least_contrast:
                continue
            parity = (k if by_column else l) % 2
            for h in range(len(inverse_depths)):
                curve[h], _, _ = view_cost(
                    inverse_depths[h], inverse_depths[h], lens, k, l, swept, columns, rows, parity, step_k, step_l,
                    baseline, pitch_ratio, lens_type, blur_slope, blur_intercept, gray, detail, center, side, radius,
                    blur_unit, least_overlap, least_views, reference, sharper, x, y,
                )  # fmt: skip
            best, sharpness = best_hypothesis(curve, 0, 1, len(inverse_depths))
            if best < 0:
                continue
            taken, shared = f4(0), f4(0)
            widest = widest_fine(inverse_depths[best], step)
            for n in range(FINE):
                place = inverse_depths[best] + f4(n - FINE // 2) * f4(FINE_STEP) * step
                fine[n], seen, number = view_cost(
                    place, widest, lens, k, l, step_k.shape[1], columns, rows, parity, step_k, step_l,
                    baseline, pitch_ratio, lens_type, blur_slope, blur_intercept, gray, detail, center, side, radius,
                    blur_unit, least_overlap, least_views, reference, sharper, x, y,
                )  # fmt: skip
                if n == FINE // 2:
                    taken, shared = seen, number
            place, spread = between_hypotheses(fine, shared)
            if math.isnan(place):
                continue
            inverse = inverse_depths[best] + place * f4(FINE_STEP) * step
            depth[lens] = f4(1) / inverse
            sigma[lens] = spread * f4(FINE_STEP) * step / (inverse * inverse)
            confidence[lens] = sharpness * min(f4(1), taken / f4(FULL_VIEWS))
            cost[lens], views[lens] = fine[FINE // 2], taken


@compiled
def box_sums(values, side, half, along, out):
    """Sums over (2·half + 1)² pixels of a tile (side²,) that is zero outside its disc; `along` (side²,) is a buffer.

    Rows run into each other here, but between the disc's pixels of one row and of the next lie at least `half` zeros
    (`cut_tiles` sees to it): so every sum is one long loop.
    """
    size = side * side
    for p in range(size):
        along[p] = out[p] = f4(0)
    for step in range(-half, half + 1):
        first = max(0, -step)
        for n in range(size - abs(step)):
            along[u4(first + n)] += values[u4(first + step + n)]
    for step in range(-half, half + 1):
        first = max(0, -step) * side
        for n in range(size - abs(step) * side):
            out[u4(first + n)] += along[u4(first + step * side + n)]


@compiled
def refined_rows(
    first, last, columns, rows, by_column, step_k, step_l, baseline, swept, pitch_ratio, lens_type, blur_slope,
    blur_intercept, inverse_depths, gray, detail, center, side, radius, blur_unit, least_contrast, least_overlap,
    least_views, origin, window, depth, sigma, confidence, cost, views,
):  # fmt: skip
    """One depth per pixel of the micro-images of rows first … last − 1, into depth, sigma, … (h, w)."""
    size, half, count = side * side, window // 2, len(inverse_depths)
    packed, pooled = np.empty(4 * size, f4), np.empty(2 * size, f4)
    reference, sharper, x, y = packed[:size], packed[size : 2 * size], packed[2 * size : 3 * size], packed[3 * size :]
    total, number, along = pooled[:size], pooled[size:], np.empty(size, f4)
    sums, pixels = np.empty(size, f4), np.empty((count, size), f4)
    volume, taken = np.empty(count * size, f4), np.empty(count, f4)
    step = inverse_depths[1] - inverse_depths[0]
    height, width = depth.shape
    for l in range(first, last):
        for k in range(columns):
            lens = l * columns + k
            contrast = load_reference(gray, detail, center, lens, side, radius, reference, sharper, x, y)
            if contrast < least_contrast:
                continue
            parity = (k if by_column else l) % 2
            for h in range(count):
                pooled[:] = f4(0)
                taken[h] = add_views(
                    inverse_depths[h], lens, k, l, swept, columns, rows, parity, step_k, step_l, baseline, pitch_ratio,
                    lens_type, blur_slope, blur_intercept, gray, detail, center, side, radius, blur_unit,
                    packed, pooled,
                )  # fmt: skip
                box_sums(total, side, half, along, sums)
                box_sums(number, side, half, along, pixels[h])
                for p in range(size):
                    enough = pixels[h, p] >= least_overlap and taken[h] >= least_views
                    volume[h * size + p] = sums[p] / pixels[h, p] if enough else f4(np.nan)
            window_contrast(reference, x, side, half, total, number, along, sums)
            for p in range(size):
                column, row = origin[lens, 0] + p % side, origin[lens, 1] + p // side
                if x[p] >= NOWHERE or column < 0 or row < 0 or column >= width or row >= height:
                    continue
                if total[p] < least_contrast:
                    continue
                best, sharpness = best_hypothesis(volume, p, size, count)
                if best < 0:
                    continue
                place = best * size + p
                low, lowest, high = volume[place - size], volume[place], volume[place + size]
                bend = low - f4(2) * lowest + high
                shift, spread = parabola(low, lowest, high, bend, pixels[best, p], f4(SIGMA_FLOOR))
                if math.isnan(shift):
                    continue
                inverse = inverse_depths[best] + shift * step
                depth[row, column] = f4(1) / inverse
                sigma[row, column] = spread * step / (inverse * inverse)
                confidence[row, column] = sharpness * min(f4(1), taken[best] / f4(FULL_VIEWS))
                cost[row, column], views[row, column] = lowest, taken[best]


@compiled
def add_views(
    inverse, lens, k, l, count, columns, rows, parity, step_k, step_l, baseline, pitch_ratio, lens_type,
    blur_slope, blur_intercept, gray, detail, center, side, radius, blur_unit, packed, sums,
):  # fmt: skip
    """Add the differences of a hypothesis pixel by pixel (see `pair_add`); returns the views taken."""
    ratio, size = pitch_ratio[lens], side * side
    gain = (f4(1) - ratio) + ratio * inverse
    farthest = (f4(2) * radius - f4(LEAST_COMMON_WIDTH)) ** 2
    taken = f4(0)
    for n in range(count):
        ok, ol = k + step_k[parity, n], l + step_l[parity, n]
        if ok < 0 or ol < 0 or ok >= columns or ol >= rows:
            continue
        move_x, move_y = gain * baseline[parity, n, 0], gain * baseline[parity, n, 1]
        if move_x * move_x + move_y * move_y >= farthest:
            continue
        other = ol * columns + ok
        i, j = lens_type[lens], lens_type[other]
        extra = interpolation(move_x, move_y, lens, other, center)
        blur = (blur_slope[i, j] * inverse + blur_intercept[i, j] - extra) / blur_unit
        pair_add(
            packed, gray, detail, i4(other * size), i4(side),
            center[other, 0] - center[lens, 0] + move_x, center[other, 1] - center[lens, 1] + move_y,
            move_x, move_y, radius * radius, max(-blur, f4(0)), max(blur, f4(0)), sums,
        )  # fmt: skip
        taken += f4(1)
    return taken


@compiled
def window_contrast(reference, x, side, half, contrast, number, along, squares):
    """Standard deviation of the reference in the window about each pixel, into contrast (side²,)."""
    for p in range(side * side):
        usable = x[p] < NOWHERE
        number[p] = f4(1) if usable else f4(0)
        squares[p] = reference[p] if usable else f4(0)
    counts, means, spread = np.empty_like(number), np.empty_like(number), np.empty_like(number)
    box_sums(number, side, half, along, counts)
    box_sums(squares, side, half, along, means)
    for p in range(side * side):
        squares[p] *= squares[p]
    box_sums(squares, side, half, along, spread)
    for p in range(side * side):
        n = max(counts[p], f4(1))
        contrast[p] = math.sqrt(max(spread[p] / n - (means[p] / n) ** 2, f4(0)))
