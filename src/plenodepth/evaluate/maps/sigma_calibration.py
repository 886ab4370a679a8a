"""Does the predicted standard deviation σ tell the size of the errors? Errors over σ, and σ against what is observed.

If errors are Gaussian with the predicted σ, error/σ has a spread of 1 and 68.3, 95.4 and 99.7 % of them are within
1, 2 and 3 σ. Depth errors have outliers, so the spread is given in two ways: `spread` from the median of |error/σ|,
which outliers hardly move, and `rms`, which they decide. The robust one is about 0 and not about the median: a bias is
an error that σ should cover. `bias` says how much of it there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.calib.scale.fit import MAD_TO_SIGMA
from plenodepth.errors import InputError
from plenodepth.evaluate.maps.splits import bin_labels, quantile_edges

Float64 = NDArray[np.float64]

SIGMAS = (1.0, 2.0, 3.0)


@dataclass(frozen=True)
class SigmaBin:
    """Pixels of like σ: what was predicted and what was observed, in the error's unit."""

    predicted: float  # root of the mean of σ²: the RMS that the errors should have
    observed: float  # RMS of the errors
    observed_robust: float  # 1.4826 × median |error|
    count: int


@dataclass(frozen=True, eq=False)
class SigmaCalibration:
    """How n errors compare to their σ."""

    spread: float  # 1.4826 × median |error/σ|; 1 is right, 2: errors are twice what σ says
    rms: float  # of error/σ
    bias: float  # median of error/σ
    within: Float64  # (3,) share of errors within 1, 2, 3 σ
    expected: Float64  # (3,) of a Gaussian
    bins: tuple[SigmaBin, ...]  # by growing σ, equally many errors in each
    count: int
    without_sigma: int  # errors left out because their σ is missing

    @property
    def bin_deviation(self) -> float:
        """Mean over the bins of |observed − predicted|/predicted (the expected normalised calibration error)."""
        return float(np.mean([abs(row.observed - row.predicted) / row.predicted for row in self.bins]))


def compare_sigma(error: ArrayLike, sigma: ArrayLike, *, bins: int = 10) -> SigmaCalibration:
    """Errors (…), NaN = missing, against their predicted standard deviations (…) of the same unit."""
    errors, spreads = np.asarray(error), np.asarray(sigma)
    if errors.shape != spreads.shape:
        raise InputError(f"has shape {spreads.shape}, the errors {errors.shape}", field="sigma")
    present = np.isfinite(errors)
    known = present & np.isfinite(spreads)
    if not known.any():
        raise InputError("there is no error with a σ", field="sigma", fix="missing is NaN")
    e, s = errors[known].astype(np.float64), spreads[known].astype(np.float64)
    if (s <= 0).any():
        raise InputError(f"holds {np.count_nonzero(s <= 0)} numbers that are not > 0", field="sigma")
    normalised = e / s
    size = np.abs(normalised)
    return SigmaCalibration(
        spread=MAD_TO_SIGMA * float(np.median(size)),
        rms=float(np.sqrt(np.mean(size**2))),
        bias=float(np.median(normalised)),
        within=np.array([np.count_nonzero(size <= limit) / len(size) for limit in SIGMAS]),
        expected=np.array([erf(limit / sqrt(2)) for limit in SIGMAS]),
        bins=_bins(e, s, bins),
        count=len(e),
        without_sigma=int(np.count_nonzero(present) - len(e)),
    )


def _bins(error: Float64, sigma: Float64, bins: int) -> tuple[SigmaBin, ...]:
    labels = bin_labels(sigma, quantile_edges(sigma, bins))
    counts = np.bincount(labels)
    order = np.argsort(labels.astype(np.int16), kind="stable")
    rows = []
    for part in np.split(order, np.cumsum(counts)[:-1]):
        if not len(part):
            continue
        e, s = error[part], sigma[part]
        robust = MAD_TO_SIGMA * float(np.median(np.abs(e)))
        rows.append(SigmaBin(float(np.sqrt(np.mean(s**2))), float(np.sqrt(np.mean(e**2))), robust, len(part)))
    return tuple(rows)
