"""Is the confidence worth anything? The error of what remains when the least confident pixels are taken away.

Three curves over the removed fraction f: removed by confidence, least first; by the oracle, which removes the largest
errors first and cannot be beaten; and at random, which in expectation changes nothing and is flat. The area between the
first two is the AUSE (area under the sparsification error), here in the errors' unit; relative to the area between
random and oracle it makes `gain`, which is 1 for a confidence that orders errors perfectly, 0 for one that says nothing
and negative for one that misleads.

Pixels of equal confidence are removed in no particular order: the curve is the expectation over all orders, so it does
not depend on where they lie in the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError

Float64 = NDArray[np.float64]
Measure = Literal["mean", "rmse"]


@dataclass(frozen=True, eq=False)
class Sparsification:
    """Curves (steps,) over the removed fraction; errors in the unit of the errors given."""

    removed: Float64  # 0, 1/steps, … 1 − 1/steps
    by_confidence: Float64  # error of what remains
    oracle: Float64
    random: float  # error of all; what removing at random leaves, in expectation
    measure: Measure
    count: int  # errors

    @property
    def ause(self) -> float:
        """Area between the curve by confidence and the oracle's; ≥ 0, the smaller the better."""
        return float(np.trapezoid(self.by_confidence - self.oracle, self.removed))

    @property
    def ause_random(self) -> float:
        """The same area for a confidence that says nothing."""
        return float(np.trapezoid(self.random - self.oracle, self.removed))

    @property
    def gain(self) -> float:
        """1 − AUSE over the AUSE of a random order; NaN where all errors are equal, so that no order is better."""
        worst = self.ause_random
        return 1 - self.ause / worst if worst > 1e-12 * self.random else float("nan")

    def content(self) -> dict[str, float]:
        """The figures of errors in mm for JSON."""
        half = len(self.removed) // 2
        return {
            "mean_mm": self.random,
            "mean_of_surest_half_mm": float(self.by_confidence[half]),
            "oracle_of_half_mm": float(self.oracle[half]),
            "ause_mm": self.ause,
            "gain": self.gain,
        }


def sparsification_curves(
    error: ArrayLike, confidence: ArrayLike, *, measure: Measure = "mean", steps: int = 100
) -> Sparsification:
    """Curves of errors (…), NaN = missing, ordered by confidence (…): higher is surer; give −σ to judge a σ.

    `measure`: the mean of |error| of what remains, or its RMSE. At least one error always remains.
    """
    errors, values = np.asarray(error), np.asarray(confidence)
    if errors.shape != values.shape:
        raise InputError(f"has shape {values.shape}, the errors {errors.shape}", field="confidence")
    if measure not in ("mean", "rmse"):
        raise InputError(f"is {measure!r}", field="measure", fix="mean or rmse")
    if steps < 2:
        raise InputError(f"is {steps}, needs 2 or more", field="steps")
    present = np.isfinite(errors)
    if not present.any():
        raise InputError("holds no error", field="error", fix="missing is NaN")
    cost, values = np.abs(errors[present].astype(np.float64)), values[present]
    if np.isnan(values).any():
        raise InputError("is missing where there is an error", field="confidence")
    if measure == "rmse":
        cost = cost**2
    removed = np.arange(steps) / steps
    kept = np.maximum(np.rint((1 - removed) * len(cost)).astype(np.int64), 1)
    order = np.argsort(values)[::-1]
    curves = [np.cumsum(costs)[kept - 1] / kept for costs in (_mean_of_ties(cost[order], values[order]), np.sort(cost))]
    random = float(cost.mean())
    if measure == "rmse":
        curves, random = [np.sqrt(curve) for curve in curves], float(np.sqrt(random))
    return Sparsification(removed, curves[0], curves[1], random, measure, len(cost))


def _mean_of_ties(cost: Float64, values: NDArray[np.generic]) -> Float64:
    """Costs (n,) with each replaced by the mean of its run of equal values (n,)."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    length = np.diff(np.append(starts, len(values)))
    return np.repeat(np.add.reduceat(cost, starts) / length, length)
