"""The distance between two points of a cloud, with its standard deviation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Distance(NamedTuple):
    """mm. σ is None where that of a point is not known."""

    length: float
    sigma: float | None

    def __str__(self) -> str:
        """With as many digits as σ allows."""
        if self.sigma is None:
            return f"{self.length:.1f} mm (σ unknown)"
        digits = max(0, 1 - int(np.floor(np.log10(max(self.sigma, 1e-3)))))
        return f"{self.length:.{digits}f} ± {self.sigma:.{digits}f} mm"


def measured_distance(first: ArrayLike, second: ArrayLike, sigmas: tuple[float | None, float | None]) -> Distance:
    """|p − q| of points in the camera frame, mm, and its σ; `sigmas` are those of their depths z.

    An error dz moves a point along its ray through the centre of the main lens, by (p/z) dz. With u the unit vector
    from q to p, and errors that are independent of each other:

        σ² = (u·p / p_z)² σ_p² + (u·q / q_z)² σ_q²

    To first order, so only where the distance is larger than its σ. Two points of one micro-image of a coarse map share
    their error: then the true σ is smaller.
    """
    p, q = np.asarray(first, np.float64), np.asarray(second, np.float64)
    length = float(np.linalg.norm(p - q))
    if any(sigma is None or not np.isfinite(sigma) for sigma in sigmas):
        return Distance(length, None)
    if length == 0:
        return Distance(0.0, 0.0)
    towards = (p - q) / length
    parts = [(towards @ point / point[2]) * sigma for point, sigma in zip((p, q), sigmas, strict=True)]
    return Distance(length, float(np.hypot(*parts)))
