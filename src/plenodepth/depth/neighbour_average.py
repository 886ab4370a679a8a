"""Depths of a coarse map averaged with those of neighbours that see the same patch of the scene.

At virtual depth v a micro-image sees a patch that is v lens pitches wide. A neighbour sees the same patch but for a
part 1/v of it per pitch. The unequal blur that the aperture leaves (see `aperture.chief_rays`) causes errors that
depend on the texture, and lenses farther apart err less alike. So where v is large, an average over lenses that are
near compared with the width of the patch is more precise. It is not less sharp: each depth is that of the whole patch
anyhow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.views import Views

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

REACH = 1 / 6  # of the patch's width: neighbours count up to this distance, the farther the less
LARGEST_DEVIATION = 3.0  # standard deviations: a depth and the mean of two neighbours up to here apart are averaged
SAME_SURFACE = 0.1  # relative difference of 1/v up to which a neighbour is taken for the same surface


def average_with_neighbours(
    virtual_depth: NDArray[np.float32], sigma: NDArray[np.float32], views: Views
) -> NDArray[np.float32]:
    """Virtual depths (rows, columns), each averaged (as 1/v, by their σ) with those around it; NaN stays NaN.

    Neighbours take part in pairs, one opposite the other, if both have a depth and their mean agrees with the lens'. On
    a slanted surface the two make up for each other, and across a depth edge there is no such pair. σ stays that of the
    lens' own match, because neighbours share errors that are not noise.
    """
    v = virtual_depth.astype(np.float64)
    inverse = 1 / v
    variance = (sigma * inverse**2) ** 2
    weights = 1 / variance
    total = weights * inverse
    reach = REACH * np.abs(v)  # pitches
    inverses, variances = np.append(inverse, np.nan), np.append(variance, np.nan)  # the last: beyond the array
    for away, one, other in _pairs(views, float(np.nanmax(reach, initial=0))):
        near = 1 - (away / reach) ** 2
        mean = (inverses[one] + inverses[other]) / 2
        spread = (variances[one] + variances[other]) / 4
        apart = np.maximum(np.abs(inverses[one] - inverse), np.abs(inverses[other] - inverse))
        agree = (near > 0) & (apart <= SAME_SURFACE * np.abs(inverse))  # NaN never does
        agree &= (mean - inverse) ** 2 <= LARGEST_DEVIATION**2 * (variance + spread)
        weight = np.where(agree, near / np.where(agree, spread, 1), 0)
        weights += weight
        total += np.where(agree, weight * mean, 0)
    return np.asarray(weights / total, np.float32)


def _pairs(views: Views, farthest: float) -> Iterator[tuple[float, Indices, Indices]]:
    """Pairs of opposite neighbours: distance in pitches, and the indices of both for each lens (rows, columns).

    An index is −1 where there is no neighbour.
    """
    l, k = np.mgrid[: views.rows, : views.columns]
    parity = (k if views.by_column else l) % 2
    for n, m in _opposites(views.baseline[0]):
        away = float(np.linalg.norm(views.baseline[0, n])) / float(views.pitch)
        if away < farthest:
            yield away, _index(views, k, l, parity, n), _index(views, k, l, parity, m)


def _opposites(baseline: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Pairs of neighbours at baselines (n, 2) that lie opposite each other."""
    apart = np.linalg.norm(baseline[:, None] + baseline[None], axis=-1)
    opposite = np.argmin(apart, axis=1)
    return [(n, int(m)) for n, m in enumerate(opposite) if n < m]


def _index(views: Views, k: Indices, l: Indices, parity: Indices, number: int) -> Indices:
    column, row = k + views.step_k[parity, number], l + views.step_l[parity, number]
    inside = (column >= 0) & (column < views.columns) & (row >= 0) & (row < views.rows)
    return np.where(inside, row * views.columns + column, -1)
