"""Distances between two point clouds: of a reading to the reference, and back.

Accuracy is the distance of each point of the reading to the nearest of the reference, completeness that of each point
of the reference to the nearest of the reading. One without the other says little: a reading of a single good point is
accurate, one that fills all space is complete.

Names are used in several ways. Here: *Chamfer* is the mean of the two directed means (many take the sum, twice that);
*Chamfer squared*, mm², the same of squared distances; *Hausdorff* the largest distance of either direction, and
*Hausdorff 95* the larger of the two 95 % quantiles, which a single stray point does not decide; the *F-score* at a
threshold is the harmonic mean of precision (share of the reading within it) and recall (share of the reference).

The authors' program computes neither of them so: see `authors_cloud_distances`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.nearest import nearest_points
from plenodepth.progress import Progress, no_progress

Float64 = NDArray[np.float64]

THRESHOLDS = (1.0, 2.0, 5.0, 10.0, 20.0)  # mm
AUTHORS_TRUNCATION = 10.0  # mm²


@dataclass(frozen=True)
class DirectedDistances:
    """Distances from n points to the nearest of something else, mm; those beyond a cap count as the cap."""

    mean: float
    q25: float
    median: float
    q75: float
    q95: float
    largest: float
    mean_squared: float  # mm²
    count: int
    beyond: float  # share that has nothing within the cap

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "points": self.count,
            "mean_mm": self.mean,
            "q25_mm": self.q25,
            "median_mm": self.median,
            "q75_mm": self.q75,
            "q95_mm": self.q95,
            "largest_mm": self.largest,
            "beyond_cap": self.beyond,
        }


@dataclass(frozen=True)
class FScore:
    """Precision and recall at a threshold in mm, as shares from 0 to 1."""

    threshold: float
    precision: float  # of the reading's points within the threshold of the reference
    recall: float  # of the reference's points within the threshold of the reading

    @property
    def f_score(self) -> float:
        """2 precision recall/(precision + recall); 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def content(self) -> dict[str, float]:
        """The figures for JSON."""
        return {
            "threshold_mm": self.threshold,
            "precision": self.precision,
            "recall": self.recall,
            "f_score": self.f_score,
        }


@dataclass(frozen=True, eq=False)
class CloudDistances:
    """A reading of n points against a reference of m, mm."""

    to_reference: Float64  # (n,) of the reading's points; ∞ beyond the cap
    to_reading: Float64  # (m,) of the reference's points; ∞ beyond the cap
    accuracy: DirectedDistances  # reading → reference
    completeness: DirectedDistances  # reference → reading
    f_scores: tuple[FScore, ...]

    @property
    def chamfer(self) -> float:
        """Mean of the two directed means, mm."""
        return (self.accuracy.mean + self.completeness.mean) / 2

    @property
    def chamfer_squared(self) -> float:
        """Mean of the two directed means of squares, mm²."""
        return (self.accuracy.mean_squared + self.completeness.mean_squared) / 2

    @property
    def hausdorff(self) -> float:
        """The largest distance of either direction, mm; never above the cap."""
        return max(self.accuracy.largest, self.completeness.largest)

    @property
    def hausdorff_95(self) -> float:
        """The larger of the two 95 % quantiles, mm."""
        return max(self.accuracy.q95, self.completeness.q95)

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "accuracy": self.accuracy.content(),
            "completeness": self.completeness.content(),
            "chamfer_mm": self.chamfer,
            "hausdorff_mm": self.hausdorff,
            "hausdorff_95_mm": self.hausdorff_95,
            "thresholds": [row.content() for row in self.f_scores],
        }


@dataclass(frozen=True)
class AuthorsCloudDistances:
    """What the authors' program calls Chamfer and Hausdorff: mm², one way, of near points only."""

    chamfer: float  # mm², mean of the squares that are below the truncation
    hausdorff: float  # mm², largest of them
    counted: float  # share of the reading's points that are in both figures


def compare_clouds(
    reading: ArrayLike,
    reference: ArrayLike,
    *,
    cap: float = np.inf,
    thresholds: Sequence[float] = THRESHOLDS,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> CloudDistances:
    """Both directions between clouds (n, 3) and (m, 3) in one frame, mm.

    Distances beyond `cap` count as the cap, so parts that only one cloud has do not decide the means; how many there
    are is in `beyond`. With ∞ nothing is capped. `progress` counts the points of both directions.

    >>> found = plenodepth.compare_clouds([[0.0, 0.0, 901.0]], [[0.0, 0.0, 900.0], [0.0, 3.0, 900.0]])
    >>> found.accuracy.mean, round(found.completeness.mean, 2)
    (1.0, 2.08)
    """
    for threshold in thresholds:
        if not 0 < threshold <= cap:
            raise InputError(f"holds {threshold:g} mm, needs numbers > 0 up to the cap {cap:g}", field="thresholds")
    first, second = len(np.asarray(reading)), len(np.asarray(reference))

    def shifted(by: int) -> Progress:
        return lambda done, _, what: progress(by + done, first + second, what)

    there = nearest_points(reading, reference, cap=cap, threads=threads, progress=shifted(0)).distance
    back = nearest_points(reference, reading, cap=cap, threads=threads, progress=shifted(first)).distance
    scores = tuple(FScore(float(limit), _within(there, limit), _within(back, limit)) for limit in thresholds)
    return CloudDistances(there, back, directed_distances(there, cap), directed_distances(back, cap), scores)


def directed_distances(distance: ArrayLike, cap: float = np.inf) -> DirectedDistances:
    """Figures of distances (n,), mm; those of ∞ count as the cap."""
    given = np.asarray(distance, dtype=np.float64)
    capped = np.minimum(given, cap)
    q25, median, q75, q95 = np.quantile(capped, (0.25, 0.5, 0.75, 0.95)).tolist()
    return DirectedDistances(
        mean=float(capped.mean()),
        q25=q25,
        median=median,
        q75=q75,
        q95=q95,
        largest=float(capped.max()),
        mean_squared=float(np.mean(capped**2)),
        count=len(given),
        beyond=float(np.count_nonzero(np.isinf(given))) / len(given),
    )


def authors_cloud_distances(
    reading: ArrayLike, reference: ArrayLike, *, truncation: float = AUTHORS_TRUNCATION, threads: int | None = None
) -> AuthorsCloudDistances:
    """Figures to compare with the authors' program, and with nothing else: it goes from the reading to the reference
    only, squares, and forgets every point whose square is not below `truncation`, mm² (10: 3.16 mm). So a reading may
    gain by getting worse; look at `counted`.
    """
    distance = nearest_points(reading, reference, cap=float(np.sqrt(truncation)), threads=threads).distance
    near = distance[np.isfinite(distance)] ** 2
    if not len(near):
        raise InputError(f"has no point within √{truncation:g} mm of the reference", field="reading")
    return AuthorsCloudDistances(float(near.mean()), float(near.max()), len(near) / len(distance))


def _within(distance: Float64, limit: float) -> float:
    return float(np.count_nonzero(distance <= limit)) / len(distance)
