"""The paper's relative depth evaluation: a target moved in known steps, and how well depth follows.

Frame i has one depth z_i, the median of its map, and a known place g_i. For every pair of frames i < j the displacement
is δ = g_j − g_i and its error ε_z = |(z_j − z_i) − δ|/|δ|. The figure to compare is the mean over all pairs; over
displacements of equal length it makes the paper's plots. Only displacements count, so g may have any zero.

Where the authors' program differs: it compares |z_j − z_i| with |δ|, so that a target which seems to approach while it
recedes may count as right; it divides sums by n + 0.001; the deviation of a single pair is 0, here NaN; and
a frame's median takes in cells without depth as 0 where it works on features. The caption of the paper's plot says
"in percentage of the estimated distance", but the program divides by the true displacement, as is done here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError
from plenodepth.metric import MetricDepthMap

Float64 = NDArray[np.float64]

SAME_PLACE = 1e-6  # mm; steps of a stage that are equal up to rounding
LEAST_FRAMES_TO_RESAMPLE = 4


@dataclass(frozen=True, eq=False)
class RelativeDepthError:
    """ε_z of m pairs of frames, in parts (0.01 = 1 %)."""

    pairs: NDArray[np.int64]  # (m, 2) indices of frames, as they were given
    displacement: Float64  # (m,) |δ|, mm
    error: Float64  # (m,) ε_z
    mean: float
    std: float  # of the pairs, sample; NaN for one pair
    interval: tuple[float, float]  # of the mean, from resampled frames; NaN for fewer than four frames
    level: float  # of the interval, as 0.95
    frames: int  # that have a depth; those without are in no pair


@dataclass(frozen=True)
class DisplacementError:
    """ε_z of the pairs of one displacement."""

    displacement: float  # mm
    mean: float
    std: float  # sample; NaN for one pair
    pairs: int


def median_depth(depth: MetricDepthMap | ArrayLike) -> float:
    """The depth of a frame that shows a target at one distance: the median of what is there, mm; NaN for none."""
    values = np.asarray(depth.depth if isinstance(depth, MetricDepthMap) else depth, dtype=np.float64)
    present = values[np.isfinite(values)]
    return float(np.median(present)) if present.size else float("nan")


def relative_depth_error(
    depth: ArrayLike, truth: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> RelativeDepthError:
    """ε_z over all pairs of frames with depths (n,) mm and true places (n,) mm, growing away from the camera.

    Frames whose depth is NaN are left out, and so are pairs at the same place, for which ε_z is not defined. The
    interval of the mean is the bootstrap's percentiles at `level`, over frames: pairs share frames, so they are not
    independent and must not be resampled by themselves.

    >>> plenodepth.relative_depth_error([500.0, 602.0], [500.0, 600.0]).mean
    0.02
    """
    z, g = _checked_frames(depth, truth)
    if not 0 < level < 1:
        raise InputError(f"is {level:g}, needs a number between 0 and 1", field="level")
    present = np.flatnonzero(np.isfinite(z))
    first, second = (present[index] for index in np.triu_indices(len(present), 1))
    apart = np.abs(g[second] - g[first]) > SAME_PLACE
    first, second = first[apart], second[apart]
    if not len(first):
        raise InputError("has no two places with a depth", field="truth", fix="give frames at two or more distances")
    displacement = g[second] - g[first]
    error = np.abs((z[second] - z[first]) - displacement) / np.abs(displacement)
    pairs = np.column_stack([first, second])
    return RelativeDepthError(
        pairs=pairs,
        displacement=np.abs(displacement),
        error=error,
        mean=float(error.mean()),
        std=_sample_std(error),
        interval=pairs_interval(pairs, error, present, level, resamples, seed),
        level=level,
        frames=len(present),
    )


def by_displacement(result: RelativeDepthError) -> tuple[DisplacementError, ...]:
    """Mean and deviation of ε_z for each length of displacement, shortest first."""
    lengths, group = np.unique(np.round(result.displacement / SAME_PLACE), return_inverse=True)
    rows = []
    for index in range(len(lengths)):
        error = result.error[group == index]
        length = float(result.displacement[group == index].mean())
        rows.append(DisplacementError(length, float(error.mean()), _sample_std(error), len(error)))
    return tuple(rows)


def _checked_frames(depth: ArrayLike, truth: ArrayLike) -> tuple[Float64, Float64]:
    z, g = np.asarray(depth, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if z.ndim != 1 or z.shape != g.shape:
        raise InputError(f"has shape {z.shape}, the true places {g.shape}", field="depth", fix="one number per frame")
    if not np.isfinite(g).all():
        raise InputError("holds a number that is not finite", field="truth")
    return z, g


def _sample_std(values: Float64) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def pairs_interval(
    pairs: NDArray[np.int64], error: Float64, frames: NDArray[np.int64], level: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentiles of the mean of errors (m,) over pairs (m, 2) when the frames (n,) are drawn anew, with replacement.

    NaN for fewer than four frames. Works for differences of errors as well.
    """
    n = len(frames)
    if n < LEAST_FRAMES_TO_RESAMPLE:
        return float("nan"), float("nan")
    place = np.searchsorted(frames, pairs)  # (m, 2) into the n frames that have a depth
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)  # (resamples, n) times each
    weight = (drawn[:, place[:, 0]] * drawn[:, place[:, 1]]).astype(np.float64)  # a pair occurs so often
    total = weight.sum(axis=1)
    some = total > 0  # all but the draws of a single place
    means = weight[some] @ error / total[some]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
