"""From a cost curve to a depth: the best hypothesis, the minimum between hypotheses, and its standard deviation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.kernels.constants import (
    FIRST_STEP,
    MEAN_ABSOLUTE,
    MISSING,
    RIVAL_DISTANCE,
    SIGMA_FACTOR,
    SMALLEST_COST,
    UNUSABLE,
)

Float32 = NDArray[np.float32]


class Minimum(NamedTuple):
    """The minimum of a curve, in steps from its middle sample."""

    place: float
    sigma: float  # standard deviation of the place


def best_hypotheses(curves: Float32) -> tuple[NDArray[np.int64], Float32]:
    """Index of the lowest cost of curves (h, ...), −1 where there is none, and the sharpness in [0, 1] of each.

    Only every second hypothesis is looked at, and then those beside the lowest of these. A minimum at either end of the
    range is none, since the curve may go on falling beyond. Sharpness is how much lower the lowest cost is than the
    second minimum of every second hypothesis, or than their mean if there is no second one.
    """
    looked_at = curves[::FIRST_STEP]
    at_first = looked_at.argmin(axis=0) * FIRST_STEP
    candidates = np.stack([at_first, np.maximum(at_first - 1, 0), np.minimum(at_first + 1, len(curves) - 1)])
    costs = np.take_along_axis(curves, candidates, axis=0)
    lowest = costs.min(axis=0)
    best = np.take_along_axis(candidates, costs.argmin(axis=0)[None], axis=0)[0]
    minimum = np.zeros(looked_at.shape, np.bool_)
    minimum[1:-1] = (looked_at[1:-1] <= looked_at[:-2]) & (looked_at[1:-1] <= looked_at[2:])
    number = FIRST_STEP * np.arange(len(looked_at)).reshape(-1, *np.ones(curves.ndim - 1, int))
    rival = np.where(minimum & (np.abs(number - at_first) > RIVAL_DISTANCE), looked_at, MISSING).min(axis=0)
    present = looked_at < UNUSABLE
    mean = np.where(present, looked_at, 0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    other = np.where(rival < UNUSABLE, rival, mean)
    inside = (lowest < UNUSABLE) & (best > 0) & (best < len(curves) - 1)
    sharpness = np.where(inside, np.maximum(1 - lowest / np.maximum(other, SMALLEST_COST), 0), 0)
    return np.where(inside, best, -1), sharpness.astype(np.float32)


def three_point_minimum(
    costs: tuple[float, float, float], pixels: float, floor: float, bend: float | None = None
) -> Minimum | None:
    """The minimum of three neighbouring costs; None where there is none between the outer two.

    The squares of the costs lie on a parabola. `pixels` is the number behind each cost, `floor` the standard deviation
    that is left without noise. `bend`, from which the standard deviation is computed, is the second difference of the
    costs; a wider base gives a better one.
    """
    if max(costs) >= UNUSABLE:
        return None
    before, here, after = (float(cost) ** 2 for cost in costs)
    curvature = before - 2 * here + after
    bend = costs[0] - 2 * costs[1] + costs[2] if bend is None else bend
    if not (curvature > 0 and bend > 0):
        return None
    place = (before - after) / 2 / curvature
    if abs(place) > 1:
        return None
    # The cost is a mean of absolute differences: √(2/π) of the noise's standard deviation.
    by_noise = SIGMA_FACTOR * np.sqrt(costs[1] / (MEAN_ABSOLUTE**2 * max(pixels, 1) * bend))
    return Minimum(float(place), float(np.hypot(by_noise, floor)))


def five_point_minimum(costs: tuple[float, float, float, float, float], pixels: float, floor: float) -> Minimum | None:
    """The minimum of five neighbouring costs, from the lowest of the middle three and its neighbours."""
    before, left, middle, right, after = (float(cost) for cost in costs)
    if left < middle and left <= right:
        found, shift = three_point_minimum((before, left, middle), pixels, floor), -1
    elif right < middle:
        found, shift = three_point_minimum((middle, right, after), pixels, floor), 1
    else:
        # The second difference of the outer ones, over twice the spacing, tells the bend better.
        bend = (before - 2 * middle + after) / 4
        found, shift = three_point_minimum((left, middle, right), pixels, floor, bend), 0
    return None if found is None else Minimum(found.place + shift, found.sigma)


def unstretched(inverse_depth: float, plane: float, stretch: float, pitch_ratio: float) -> float:
    """1/v from the one found among tiles that were resampled for the hypothesis `plane`.

    Disparities go with s = 1/v + (1 − λ)/λ, λ the ratio of the pitches. In those tiles they are found divided by
    1 + stretch · (1/v − plane). Solved for 1/v.
    """
    rest = (1 - pitch_ratio) / pitch_ratio
    found = inverse_depth + rest
    return float((found * (1 - stretch * (plane + rest)) / (1 - stretch * found)) - rest)
