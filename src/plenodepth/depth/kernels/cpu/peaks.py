"""From a curve of costs over 1/v to a depth: the best hypothesis, its place between samples, its uncertainty.

A cost that could not be computed is `MISSING`, larger than any other.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.depth.tiles import MISSING, UNUSABLE

f4 = np.float32
u4 = np.uint32

# E|n| of unit Gaussian noise; a mean absolute difference is this many standard deviations.
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
# How much larger errors are than independent pixel noise alone explains: pixels are shared between views, and what
# interpolation and blur leave over is no noise. Fitted to simulated walls through R12-ES and R12-C with noise of 0 to
# 3 %, among them those of benchmarks/bench_depth.py, which prints how true σ is.
SIGMA_FACTOR = 1.7
FULL_VIEWS = 6.0  # views that make a match as trustworthy as it gets


# The search between hypotheses, in steps of the sweep: 5 places a half apart about the best hypothesis, then 2 more a
# quarter beside the best of them.
FINE = 5
FINE_STEP = 0.5


@compiled
def best_hypotheses(cost, count, size, best, sharpness, total, number, rival):
    """For each of `size` curves cost[n · size + p], n < count: index of its lowest, and how much lower that is.

    A minimum at either end of the range is none (−1), since the curve may go on falling beyond. Sharpness in [0, 1]
    compares with the rival, the lowest of the other minima; without one, the average of the curve stands for it.
    `best` … `rival` (size,) float32: the first two are results, the others buffers. All loops run over neighbouring
    curves, so that they become vector instructions.
    """
    for q in range(size):
        best[q], sharpness[q] = f4(-1), MISSING  # the lowest so far
        total[q] = number[q] = f4(0)
        rival[q] = MISSING
    for n in range(count):
        for q in range(size):
            p = u4(q)  # unsigned: an index that may be negative would not be vectorised
            value = cost[u4(n * size + q)]
            lower, there = value < sharpness[p], f4(1) if value < UNUSABLE else f4(0)
            best[p] = f4(n) if lower else best[p]
            sharpness[p] = value if lower else sharpness[p]
            total[p] += there * value
            number[p] += there
    for n in range(1, count - 1):
        for q in range(size):
            p = u4(q)
            value = cost[u4(n * size + q)]
            before, after = cost[u4((n - 1) * size + q)], cost[u4((n + 1) * size + q)]
            minimum = (value <= before) & (value <= after) & (abs(f4(n) - best[p]) > f4(2)) & (value < rival[p])
            rival[p] = value if minimum else rival[p]
    for q in range(size):
        p = u4(q)
        other = rival[p] if rival[p] < UNUSABLE else total[p] / max(number[p], f4(1))
        ratio = f4(1) - sharpness[p] / max(other, f4(1e-12))
        inside = (best[p] > f4(0)) & (best[p] < f4(count - 1))
        best[p] = best[p] if inside else f4(-1)
        sharpness[p] = max(f4(0), ratio) if inside else f4(0)


@compiled
def widest_fine(inverse, step):
    """The hypothesis of a fine search about `inverse` at which views lie farthest apart."""
    return inverse + math.copysign(f4((FINE // 2) * FINE_STEP), inverse) * step


@compiled
def best_place(fine):
    """Index of the lowest of `FINE` costs, the ends not counted: there the curve may go on falling."""
    best = 1
    for n in range(2, FINE - 1):
        if fine[n] < fine[best]:
            best = n
    return best


@compiled
def parabola(low, lowest, high, bend, pixels, floor):
    """Place of a minimum between three neighbouring costs, and its standard deviation, in units of their spacing.

    `bend` is the second difference that the deviation goes by (noise disturbs it more than the place, so a wider base
    helps), `pixels` the number of pixels behind each cost, `floor` the deviation without any noise. NaN where there is
    no minimum.
    """
    # Through the squares: with little noise the cost is a V, its square a parabola.
    before, here, after = low * low, lowest * lowest, high * high
    curvature = before - f4(2) * here + after
    if not (low < UNUSABLE and high < UNUSABLE and curvature > 0 and bend > 0):
        return f4(np.nan), f4(np.nan)
    shift = f4(0.5) * (before - after) / curvature
    if abs(shift) > f4(1):
        return f4(np.nan), f4(np.nan)
    spread = f4(SIGMA_FACTOR) * math.sqrt(lowest / (f4(MEAN_ABSOLUTE**2) * max(pixels, f4(1)) * bend))
    return shift, f4(math.sqrt(spread * spread + floor * floor))


@compiled
def between_places(before, left, lowest, right, after, pixels, floor):
    """Place of the minimum of five neighbouring costs and its standard deviation, in units of their spacing."""
    if left < lowest and left <= right:
        shift, spread = parabola(before, left, lowest, before - f4(2) * left + lowest, pixels, floor)
        return shift - f4(1), spread
    if right < lowest:
        shift, spread = parabola(lowest, right, after, lowest - f4(2) * right + after, pixels, floor)
        return shift + f4(1), spread
    return parabola(left, lowest, right, f4(0.25) * (before - f4(2) * lowest + after), pixels, floor)
