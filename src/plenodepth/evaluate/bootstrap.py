"""How sure a mean or a median is: the bootstrap, drawing the independent units anew with replacement.

Units must be independent: frames, scenes, boards, never the pixels of one map, which share what is wrong with it (and
never pairs of frames, see `relative.py`). Two results on the same units are compared by their differences unit by unit:
what makes a unit hard for both then cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError

Float64 = NDArray[np.float64]
Statistic = Literal["mean", "median"]
Bounds = tuple[float, float]

STATISTICS: dict[str, Callable[..., Float64]] = {"mean": np.mean, "median": np.median}
NUMBERS_AT_A_TIME = 1 << 22
LEAST_UNITS = 2


@dataclass(frozen=True)
class BootstrapInterval:
    """A statistic of n units and the percentiles of its resampled values."""

    estimate: float
    low: float
    high: float
    standard_error: float  # standard deviation of the resampled values
    level: float  # as 0.95
    units: int


@dataclass(frozen=True)
class PairedDifference:
    """Statistic of the differences one − other over the same units; negative where `one` is smaller."""

    interval: BootstrapInterval
    share_below: float  # of the resampled statistics that are < 0; ties count half. 0.99: `one` is surely smaller

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval.low > 0 or self.interval.high < 0


def bootstrap_interval(
    values: ArrayLike, statistic: Statistic = "mean", *, level: float = 0.95, resamples: int = 5000, seed: int = 0
) -> BootstrapInterval:
    """Percentile interval of a statistic of values (n,), one per unit; NaN, a unit without a result, is left out.

    With fewer than some ten units the interval is too narrow: percentiles know only the units that were drawn.
    """
    units = _checked_units(values, "values")
    drawn, bounds = _resample(units, statistic, level, resamples, seed)
    return _interval(units, drawn, bounds, statistic, level)


def paired_bootstrap(
    one: ArrayLike,
    other: ArrayLike,
    statistic: Statistic = "mean",
    *,
    level: float = 0.95,
    resamples: int = 5000,
    seed: int = 0,
) -> PairedDifference:
    """Is the result `one` (n,) smaller than `other` (n,) on the same units? What either lacks (NaN) is left out."""
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.shape != second.shape:
        raise InputError(f"has shape {second.shape}, not {first.shape}", field="other", fix="the same units, in order")
    differences = _checked_units(first - second, "one")
    drawn, bounds = _resample(differences, statistic, level, resamples, seed)
    below = float(np.mean(drawn < 0) + np.mean(drawn == 0) / 2)
    return PairedDifference(_interval(differences, drawn, bounds, statistic, level), below)


def _checked_units(values: ArrayLike, field: str) -> Float64:
    units = np.asarray(values, dtype=np.float64)
    if units.ndim != 1:
        raise InputError(f"has shape {units.shape}, needs one number per unit", field=field)
    units = units[~np.isnan(units)]
    if len(units) < LEAST_UNITS:
        raise InputError(f"has {len(units)} units with a result, needs {LEAST_UNITS} or more", field=field)
    return units


def _resample(units: Float64, statistic: Statistic, level: float, resamples: int, seed: int) -> tuple[Float64, Bounds]:
    """The statistic (resamples,) of units (n,) drawn anew, and its percentiles at the level."""
    from scipy.stats import bootstrap

    if statistic not in STATISTICS:
        raise InputError(f"is {statistic!r}", field="statistic", fix=f"one of {', '.join(STATISTICS)}")
    if resamples < 1:
        raise InputError(f"is {resamples}, needs 1 or more", field="resamples")
    if not 0 < level < 1:
        raise InputError(f"is {level:g}, needs a number between 0 and 1", field="level")
    drawn = bootstrap(
        (units,),
        STATISTICS[statistic],
        n_resamples=resamples,
        batch=max(1, NUMBERS_AT_A_TIME // len(units)),
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    low, high = drawn.confidence_interval
    return drawn.bootstrap_distribution, (float(low), float(high))


def _interval(units: Float64, drawn: Float64, bounds: Bounds, statistic: Statistic, level: float) -> BootstrapInterval:
    estimate = float(STATISTICS[statistic](units))
    return BootstrapInterval(estimate, *bounds, float(drawn.std()), level, len(units))
