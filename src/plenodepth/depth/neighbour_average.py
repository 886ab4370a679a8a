"""A coarse map's depths averaged with those of neighbours that see the same.

At virtual depth v a micro-image sees a patch of the scene that is v lens pitches wide, and its neighbours see it, too,
all but a part 1/v of it per pitch. What the aperture leaves of unequal blur errs with the texture (see
`aperture.chief_rays`),
and the farther apart lenses are, the less alike. So where v is large, an average over lenses that are near compared
with the patch is more precise, and not less sharp: each depth is one of all the patch anyhow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.views import Views

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

PATCH = 1 / 6  # of the patch's width: neighbours count up to so far away, and less the farther
AGREEMENT = 3.0  # standard deviations between a depth and the mean of two neighbours up to which they are averaged,
ALIKE = 0.1  # and the relative difference of each one's 1/v up to which it is taken for the same surface


def average_with_neighbours(
    virtual_depth: NDArray[np.float32], sigma: NDArray[np.float32], views: Views
) -> NDArray[np.float32]:
    """Virtual depths (rows, columns), each averaged (as 1/v, by their σ) with those around it; NaN stays NaN.

    Neighbours take part in pairs, one opposite the other, if both are there and their mean agrees: on a slanted surface
    they make up for each other, and across a depth edge there is no such pair. σ stays that of a lens' own match: what
    neighbours err alike, by no noise, it does not know of.
    """
    v = virtual_depth.astype(np.float64)
    inverse = 1 / v
    variance = (sigma * inverse**2) ** 2
    weights = 1 / variance
    total = weights * inverse
    reach = PATCH * np.abs(v)  # pitches
    inverses, variances = np.append(inverse, np.nan), np.append(variance, np.nan)  # the last: beyond the array
    for away, one, other in _pairs(views, float(np.nanmax(reach, initial=0))):
        near = 1 - (away / reach) ** 2
        mean = (inverses[one] + inverses[other]) / 2
        spread = (variances[one] + variances[other]) / 4
        apart = np.maximum(np.abs(inverses[one] - inverse), np.abs(inverses[other] - inverse))
        agree = (near > 0) & (apart <= ALIKE * np.abs(inverse))  # NaN never does
        agree &= (mean - inverse) ** 2 <= AGREEMENT**2 * (variance + spread)
        weight = np.where(agree, near / np.where(agree, spread, 1), 0)
        weights += weight
        total += np.where(agree, weight * mean, 0)
    return np.asarray(weights / total, np.float32)


def _pairs(views: Views, farthest: float) -> Iterator[tuple[float, Indices, Indices]]:
    """Distance in pitches, and for each lens (rows, columns) the indices of the two; −1 where there is none."""
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
