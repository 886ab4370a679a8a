"""Which hypothesis of a cost curve is the best one.

A cost that could not be computed is `MISSING`, larger than any other.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import inner
from plenodepth.depth.kernels.constants import (
    FINE_PLACES,
    FINE_STEP,
    FIRST_STEP,
    MISSING,
    RIVAL_DISTANCE,
    SMALLEST_COST,
    UNUSABLE,
)

f4 = np.float32
u4 = np.uint32


@inner
def lowest_at_first(cost, count, stride, size, best, lowest):
    """For each of `size` curves cost[n · stride + p]: index and value of the lowest of every second n < count.

    All loops here run over neighbouring curves, so that they become vector instructions.
    """
    for q in range(size):
        best[q], lowest[q] = f4(0), MISSING
    for n in range(0, count, FIRST_STEP):
        for q in range(size):
            p = u4(q)  # unsigned: an index that may be negative would not be vectorised
            value = cost[u4(n * stride + q)]
            lower = value < lowest[p]
            best[p] = f4(n) if lower else best[p]
            lowest[p] = value if lower else lowest[p]


@inner
def best_hypotheses(cost, count, stride, size, best, sharpness, total, number, rival):
    """The lowest hypothesis of each of `size` curves cost[n · stride + p], and how much lower that is than others.

    A curve is known at every second hypothesis, and beside the lowest of these (`lowest_at_first`, whose results `best`
    and `sharpness` hold before). A minimum at either end of the range is none (−1), since the curve may go on falling
    beyond. Sharpness in [0, 1] compares with the rival, the lowest of the other minima; without one, the mean of the
    curve stands for it. `total` … `rival` (size,) are buffers.
    """
    for q in range(size):
        total[q] = number[q] = f4(0)
        rival[q] = MISSING
    for n in range(0, count, FIRST_STEP):
        before, after = max(n - FIRST_STEP, 0), min(n + FIRST_STEP, (count - 1) // FIRST_STEP * FIRST_STEP)
        inner_place = before < n < after
        for q in range(size):
            p = u4(q)
            value = cost[u4(n * stride + q)]
            there = f4(1) if value < UNUSABLE else f4(0)
            total[p] += there * value
            number[p] += there
            far = abs(f4(n) - best[p]) > RIVAL_DISTANCE
            minimum = (value <= cost[u4(before * stride + q)]) & (value <= cost[u4(after * stride + q)])
            rival[p] = value if inner_place & minimum & far & (value < rival[p]) else rival[p]
    for curve in range(size):
        first = int(best[curve])
        for n in (max(first - 1, 0), min(first + 1, count - 1)):
            if cost[n * stride + curve] < sharpness[curve]:
                best[curve], sharpness[curve] = f4(n), cost[n * stride + curve]
        other = rival[curve] if rival[curve] < UNUSABLE else total[curve] / max(number[curve], f4(1))
        ratio = f4(1) - sharpness[curve] / max(other, SMALLEST_COST)
        inside = best[curve] > f4(0) and best[curve] < f4(count - 1) and sharpness[curve] < UNUSABLE
        best[curve] = best[curve] if inside else f4(-1)
        sharpness[curve] = max(f4(0), ratio) if inside else f4(0)


@inner
def widest_fine_place(inverse_depth, step):
    """The place of a fine search about 1/v at which disparities are largest; `step` is that of the sweep."""
    return inverse_depth + math.copysign(f4((FINE_PLACES // 2) * FINE_STEP), inverse_depth) * step


@inner
def best_fine_place(costs):
    """Index of the lowest of the `FINE_PLACES` costs. The ends do not count: there the curve may go on falling."""
    best = 1
    for n in range(2, FINE_PLACES - 1):
        if costs[n] < costs[best]:
            best = n
    return best
