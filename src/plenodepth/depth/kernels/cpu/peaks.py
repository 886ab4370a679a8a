"""Which hypothesis of a cost curve is the best one.

A cost that could not be computed is `MISSING`, larger than any other.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.depth.kernels.constants import (
    FINE_PLACES,
    FINE_STEP,
    MISSING,
    RIVAL_DISTANCE,
    SMALLEST_COST,
    UNUSABLE,
)

f4 = np.float32
u4 = np.uint32


@compiled
def best_hypotheses(cost, count, size, best, sharpness, total, number, rival):
    """For each of `size` curves cost[n · size + p], n < count: index of its lowest, and how much lower that is.

    A minimum at either end of the range is none (−1), since the curve may go on falling beyond. Sharpness in [0, 1]
    compares with the rival, the lowest of the other minima; without one, the mean of the curve stands for it.
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
            far = abs(f4(n) - best[p]) > RIVAL_DISTANCE
            minimum = (value <= before) & (value <= after) & far & (value < rival[p])
            rival[p] = value if minimum else rival[p]
    for q in range(size):
        p = u4(q)
        other = rival[p] if rival[p] < UNUSABLE else total[p] / max(number[p], f4(1))
        ratio = f4(1) - sharpness[p] / max(other, SMALLEST_COST)
        inside = (best[p] > f4(0)) & (best[p] < f4(count - 1))
        best[p] = best[p] if inside else f4(-1)
        sharpness[p] = max(f4(0), ratio) if inside else f4(0)


@compiled
def widest_fine_place(inverse_depth, step):
    """The place of a fine search about 1/v at which disparities are largest; `step` is that of the sweep."""
    return inverse_depth + math.copysign(f4((FINE_PLACES // 2) * FINE_STEP), inverse_depth) * step


@compiled
def best_fine_place(costs):
    """Index of the lowest of the `FINE_PLACES` costs. The ends do not count: there the curve may go on falling."""
    best = 1
    for n in range(2, FINE_PLACES - 1):
        if costs[n] < costs[best]:
            best = n
    return best
