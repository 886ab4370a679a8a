"""A plane through a cloud that has outliers: how flat a flat target comes out, and where it is.

Planes through three random points each are tried. The best is refined by least squares with Tukey's weights, which
are 0 for points that are far off. Distances count on both sides of the plane. (The authors' program tests signed
distances, so that everything on one side of a plane is an inlier, and its threshold is fixed at 1 mm.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.calib.scale.fit import MAD_TO_SIGMA, TUKEY
from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.nearest import checked_points

Float64 = NDArray[np.float64]

INLIER = 3.0  # standard deviations within which a point belongs to the plane, where no threshold is given
TRIALS = 300  # of three points: with half the points wrong, all trials fail in 1 of 10¹⁷ cases
JUDGES = 5000  # points, drawn at random, that decide between the trials
ITERATIONS = 50
CONVERGED = 1e-10
THIN = 1e-6  # width over length of a cloud that is a line


@dataclass(frozen=True)
class Spread:
    """Size of the residuals of the inliers, mm."""

    rms: float
    robust: float  # 1.4826 × MAD: the median of |residual − median|
    bias: float  # median


@dataclass(frozen=True, eq=False)
class PlaneFit:
    """The plane normal · p + offset = 0 among n points."""

    normal: Float64  # (3,) of length 1, towards the camera: z ≤ 0
    offset: float  # mm
    residuals: Float64  # (n,) mm along the normal: > 0 nearer to the camera than the plane
    inliers: NDArray[np.bool_]  # (n,)
    threshold: float  # mm along the normal, of the inliers
    along_normal: Spread
    along_z: Spread

    @property
    def residuals_z(self) -> Float64:
        """Depth of the points minus that of the plane at their x and y (n,), mm: > 0 is too far; ±∞ if it has none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.residuals / self.normal[2])

    @property
    def inlier_share(self) -> float:
        """Share of the points that belong to the plane."""
        return float(self.inliers.mean())

    @property
    def tilt(self) -> float:
        """Angle between the normal and the optical axis, rad: 0 for a plane that faces the camera."""
        return float(np.arccos(min(-self.normal[2], 1.0)))

    @property
    def axial_depth(self) -> float:
        """Depth of the plane on the optical axis x = y = 0, mm."""
        return -self.offset / float(self.normal[2]) if self.normal[2] else float("nan")


def fit_plane(points: ArrayLike, *, threshold: float | None = None, trials: int = TRIALS, seed: int = 0) -> PlaneFit:
    """The plane that most of the points (n, 3), mm, lie on; n ≥ 3 and not all on a line.

    `threshold`, mm along the normal: how far an inlier is off at most, on either side; the plane with the most of them
    is refined over them. None takes the plane whose median distance is least (so more than half of the points must be
    on it) and inliers within 3 robust standard deviations.
    """
    cloud = checked_points(points, "points")
    if len(cloud) < 3:
        raise InputError(f"has {len(cloud)} points, needs 3 or more", field="points")
    if threshold is not None and not threshold > 0:
        raise InputError(f"is {threshold:g} mm, needs a number > 0", field="threshold")
    middle = np.median(cloud, axis=0)
    centred = cloud - middle
    normal, offset, spread = _best_trial(centred, threshold, trials, np.random.default_rng(seed))
    normal, offset, spread = _refined(centred, normal, offset, spread, threshold)
    residuals = centred @ normal + offset
    limit = threshold if threshold is not None else max(INLIER * spread, _rounding(centred))
    inliers = np.abs(residuals) <= limit
    if not inliers.any():
        raise InputError("has no plane with points on it", field="points", fix="raise the threshold")
    with np.errstate(divide="ignore", invalid="ignore"):
        along_z = residuals[inliers] / normal[2]
    return PlaneFit(
        normal=normal,
        offset=float(offset - normal @ middle),
        residuals=residuals,
        inliers=inliers,
        threshold=float(limit),
        along_normal=_spread(residuals[inliers]),
        along_z=_spread(along_z) if normal[2] else Spread(float("nan"), float("nan"), float("nan")),
    )


def _best_trial(
    points: Float64, threshold: float | None, trials: int, generator: np.random.Generator
) -> tuple[Float64, float, float]:
    """Normal, offset and robust standard deviation of the best of planes through three random points."""
    corners = points[generator.integers(0, len(points), (trials, 3))]
    one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(one, other)
    length = np.linalg.norm(normals, axis=1)
    some = length > THIN * np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    if not some.any():
        raise InputError("lie on a line", field="points", fix="give points that span a plane")
    normals = normals[some] / length[some, None]
    offsets = -np.einsum("tc,tc->t", normals, corners[some, 0])
    judges = points if len(points) <= JUDGES else points[generator.integers(0, len(points), JUDGES)]
    away = np.abs(normals @ judges.T + offsets[:, None])  # (trials, judges)
    middle = np.median(away, axis=1)
    best = int(np.argmin(middle) if threshold is None else np.argmax(np.count_nonzero(away <= threshold, axis=1)))
    return normals[best], float(offsets[best]), MAD_TO_SIGMA * float(middle[best])


def _refined(
    points: Float64, normal: Float64, offset: float, spread: float, threshold: float | None
) -> tuple[Float64, float, float]:
    """Least squares along the normal with Tukey's weights, again and again until the plane stays.

    The scale of the weights is that of the trial, where it is not given: estimated anew each time, it could creep
    outwards. The one returned is of the points that count.
    """
    reach = threshold if threshold is not None else max(TUKEY * spread, _rounding(points))
    for _ in range(ITERATIONS):
        away = points @ normal + offset
        weights = np.maximum(1 - (away / reach) ** 2, 0) ** 2
        total = weights.sum()
        if np.count_nonzero(weights) < 3:
            break
        center = weights @ points / total
        apart = points - center
        values, axes = np.linalg.eigh((apart * weights[:, None]).T @ apart / total)
        if values[1] <= THIN**2 * values[2]:
            raise InputError("lie on a line", field="points", fix="give points that span a plane")
        turned = axes[:, 0] * np.sign(axes[:, 0] @ normal or 1.0)
        moved = float(np.abs(turned - normal).max())
        normal, offset = turned, -float(turned @ center)
        if moved < CONVERGED:
            break
    if normal[2] > 0:
        normal, offset = -normal, -offset
    away = np.abs(points @ normal + offset)
    near = away[away <= reach]
    return normal, offset, MAD_TO_SIGMA * float(np.median(near)) if len(near) else spread


def _rounding(points: Float64) -> float:
    """The largest distance, mm, that rounding alone gives to points of an exact plane."""
    return 1e-12 * max(float(np.abs(points).max()), 1e-300)


def _spread(residuals: Float64) -> Spread:
    middle = float(np.median(residuals))
    robust = MAD_TO_SIGMA * float(np.median(np.abs(residuals - middle)))
    return Spread(float(np.sqrt(np.mean(residuals**2))), robust, middle)
