"""From chosen hypotheses to a surface: depth between the hypotheses, averaged with what lies on the same surface."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, formula
from plenodepth.depth.kernels.constants import MISSING, UNUSABLE

f4 = np.float32

# A hypothesis that a pixel could not be compared at speaks neither for nor against it: about what the best ones cost.
NEUTRAL = f4(1)
LEAST_SHARPNESS = f4(0.1)  # of a curve's mean: a minimum that is not this much lower may be noise
SPACING = 2  # px: every second pixel of a window is averaged; those between tell hardly more


@compiled
def normalise(first, last, cost, textured, floor, cap):
    """Divide the costs (h, w, n) of rows first … last − 1 by their least one plus `floor`; none exceeds `cap`.

    What is left over at the right depth grows with the contrast, so only ratios of costs tell. A cost that is missing
    becomes `NEUTRAL`, and so do all of a pixel that is not textured (h, w). One without any cost keeps `MISSING`.
    """
    for row in range(first, last):
        for column in range(cost.shape[1]):
            least = MISSING
            for n in range(cost.shape[2]):
                least = min(least, cost[row, column, n])
            if least < UNUSABLE:
                factor = f4(1) / (least + floor)
                for n in range(cost.shape[2]):
                    value = cost[row, column, n]
                    known = value < UNUSABLE and textured[row, column]
                    cost[row, column, n] = min(value * factor, cap) if known else NEUTRAL


@formula
def minimum_of(before, here, after):
    """Place of the minimum between three costs, in steps from the middle one, and its information; 0 for none.

    The information is the inverse of the variance in steps², but for a factor that all pixels share.
    """
    one, two, three = before * before, here * here, after * after
    curvature, bend = one - f4(2) * two + three, before - f4(2) * here + after
    shift = f4(0.5) * (one - three) / curvature if curvature > 0 else f4(2)
    known = before != NEUTRAL and here != NEUTRAL and after != NEUTRAL
    return (shift, bend / here) if known and abs(shift) <= f4(1) and bend > 0 and here > 0 else (f4(0), f4(0))


@compiled
def find_labels(first, last, total, cost, label):
    """The hypothesis (h, w) with the least sum of costs (h, w, n); −1 without any cost."""
    count = total.shape[2]
    for row in range(first, last):
        for column in range(total.shape[1]):
            best = 0
            for n in range(1, count):
                if total[row, column, n] < total[row, column, best]:
                    best = n
            label[row, column] = best if cost[row, column, 0] < UNUSABLE else -1


@compiled
def find_depths(first, last, cost, total, label, first_depth, step, inverse, information):
    """1/v (h, w) between the hypotheses of rows first … last − 1, and its information (h, w); NaN for none.

    A pixel at either end of the hypotheses has none: the curve may go on falling beyond.

    The minimum of the pixel's own costs at the label or beside it; where they have none that stands out, that of the
    sums along the scan lines, with no information.
    """
    count = cost.shape[2]
    for row in range(first, last):
        for column in range(label.shape[1]):
            n = label[row, column]
            inverse[row, column], information[row, column] = f4(math.nan), f4(0)
            if n <= 0 or n >= count - 1:
                continue
            own = cost[row, column]
            best = n
            for m in (n - 1, n + 1):
                if 0 < m < count - 1 and own[m] < own[best]:
                    best = m
            shift, told = minimum_of(own[best - 1], own[best], own[best + 1])
            mean = f4(0)
            for m in range(count):
                mean += own[m]
            if own[best] * f4(count) > (f4(1) - LEAST_SHARPNESS) * mean:
                told = f4(0)
            if told == 0:
                sums, best = total[row, column], n
                shift, _ = minimum_of(sums[n - 1], sums[n], sums[n + 1])
            inverse[row, column] = first_depth + (f4(best) + shift) * step
            information[row, column] = told


@compiled
def smooth_surface(first, last, inverse, information, reach, same, least, out, variance):
    """Weighted mean of 1/v (h, w) over the pixels of rows first … last − 1 that lie within `reach` px on one surface.

    Weights are the information, at least `least`, times how alike two depths are: none beyond a difference of `same`.
    `variance` (h, w) is that of the mean if every second pixel were independent, from how the depths scatter about it.
    """
    height, width = inverse.shape
    per_same = f4(1) / same
    for row in range(first, last):
        for column in range(width):
            here = inverse[row, column]
            out[row, column] = variance[row, column] = f4(math.nan)
            if math.isnan(here):
                continue
            weights, mean, squares, crossed, seconds = f4(0), f4(0), f4(0), f4(0), f4(0)
            low, high = max(column - reach, column % SPACING), min(column + reach, width - 1)
            for there in range(max(row - reach, row % SPACING), min(row + reach, height - 1) + 1, SPACING):
                for beside in range(low, high + 1, SPACING):
                    apart = inverse[there, beside] - here
                    ratio = apart * per_same
                    near = f4(1) - ratio * ratio
                    if near > 0:  # never where there is no depth
                        weight = max(information[there, beside], least) * near * near
                        weights += weight
                        mean += weight * apart
                        squares += weight * weight
                        crossed += weight * weight * apart
                        seconds += weight * weight * apart * apart
            mean /= weights
            scatter = seconds - f4(2) * mean * crossed + mean * mean * squares
            out[row, column], variance[row, column] = here + mean, max(scatter, f4(0)) / (weights * weights)


@compiled
def compare_with_lenses(inverse, nearest, lens_inverse, lens_weight, reach, same, offset, weight):
    """How far lenses' own depths 1/v (J,) are from the surface (h, w) around them; sums into offset, weight (h, w).

    `nearest` (J, 2) are the column and row of the pixel that each lens looks at, `lens_weight` (J,) what each counts. A
    lens counts if its depth is the surface's there, within `same` times 1/v, and for the pixels of the same surface up
    to `reach` px away, less and less. Both sums hold zeros before.
    """
    height, width = inverse.shape
    for lens in range(len(nearest)):
        column, row = nearest[lens, 0], nearest[lens, 1]
        if column < 0 or row < 0 or column >= width or row >= height:
            continue
        here = inverse[row, column]
        apart, limit = lens_inverse[lens] - here, same * abs(here)
        if not abs(apart) <= limit:  # neither where one of them is missing
            continue
        for there in range(max(row - reach, 0), min(row + reach, height - 1) + 1):
            for beside in range(max(column - reach, 0), min(column + reach, width - 1) + 1):
                away = f4((there - row) ** 2 + (beside - column) ** 2) / f4(reach * reach)
                if away < 1 and abs(inverse[there, beside] - here) <= limit:
                    near = lens_weight[lens] * (f4(1) - away) ** 2
                    offset[there, beside] += near * apart
                    weight[there, beside] += near
