"""From a curve of costs over 1/v to a depth: the best hypothesis, its place between samples, its uncertainty."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.depth.kernels.compiling import compiled

f4 = np.float32

# E|n| of unit Gaussian noise; a mean absolute difference is this many standard deviations.
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
# How much larger errors are than independent pixel noise alone explains: pixels are shared between views, and what
# interpolation and blur leave over is no noise. Chosen, not fitted: benchmarks/bench_depth.py prints how many errors
# lie within one σ (57 to 88 % over distance, where 68 % would be right).
SIGMA_FACTOR = 1.6
SIGMA_FLOOR = 0.02  # of a step between hypotheses: how well a parabola finds a minimum at best
FULL_VIEWS = 6.0  # views that make a match as trustworthy as it gets


# Where the cost is sampled between hypotheses about the best one, in steps of the sweep.
FINE = 9
FINE_STEP = 0.25


@compiled
def best_hypothesis(cost, first, stride, count):
    """Index of the lowest of cost[first + n · stride], n < count, and how much lower it is than its rival, in [0, 1].

    −1 where there is none. A minimum at either end of the range is none, since the curve may go on falling beyond.
    The rival is the lowest of the other minima; without one, the average of the curve stands for it.
    """
    best = -1
    for n in range(count):
        value = cost[first + n * stride]
        if not math.isnan(value) and (best < 0 or value < cost[first + best * stride]):
            best = n
    if best <= 0 or best >= count - 1:
        return -1, f4(0)
    total, number, rival = f4(0), f4(0), f4(np.inf)
    for n in range(count):
        value = cost[first + n * stride]
        if math.isnan(value):
            continue
        total += value
        number += f4(1)
        if abs(n - best) > 2 and n > 0 and n < count - 1:
            before, after = cost[first + (n - 1) * stride], cost[first + (n + 1) * stride]
            if value <= before and value <= after and value < rival:
                rival = value
    if math.isinf(rival):
        rival = total / number
    return best, max(f4(0), f4(1) - cost[first + best * stride] / max(rival, f4(1e-12)))


@compiled
def widest_fine(inverse, step):
    """The hypothesis of a fine search about `inverse` at which views lie farthest apart."""
    return inverse + math.copysign(f4((FINE // 2) * FINE_STEP), inverse) * step


@compiled
def parabola(low, lowest, high, bend, pixels, floor):
    """Place of a minimum between three neighbouring costs, and its standard deviation, in units of their spacing.

    `bend` is the second difference that the deviation goes by (noise disturbs it more than the place, so a wider base
    helps), `pixels` the number of pixels behind each cost. NaN where there is no minimum.
    """
    curvature = low - f4(2) * lowest + high
    if math.isnan(curvature) or not (curvature > 0 and bend > 0):
        return f4(np.nan), f4(np.nan)
    shift = f4(0.5) * (low - high) / curvature
    if abs(shift) > f4(1):
        return f4(np.nan), f4(np.nan)
    spread = f4(SIGMA_FACTOR) * math.sqrt(lowest / (f4(MEAN_ABSOLUTE**2) * max(pixels, f4(1)) * bend))
    return shift, f4(math.sqrt(spread * spread + floor * floor))


@compiled
def between_hypotheses(fine, pixels):
    """Place of the minimum of costs at `FINE` places −4 … 4, and its standard deviation, in units of a place."""
    best = 1
    for n in range(2, FINE - 1):
        if fine[n] < fine[best]:
            best = n
    low, lowest, high = fine[best - 1], fine[best], fine[best + 1]
    bend = low - f4(2) * lowest + high
    if best >= 2 and best < FINE - 2:
        bend = f4(0.25) * (fine[best - 2] - f4(2) * lowest + fine[best + 2])
    shift, spread = parabola(low, lowest, high, bend, pixels, f4(SIGMA_FLOOR / FINE_STEP))
    return f4(best - FINE // 2) + shift, spread
