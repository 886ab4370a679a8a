"""The depth scale Γ from frames at known distances: depths that the model without Γ finds against the true ones.

Γ is fitted to the *relative* depth error Γ(z)/true − 1, for three reasons. The whole point is rescaled by γ = Γ(z)/z,
so an error of Γ of one percent makes an object one percent too large at any distance: it is the paper's scale error of
a board that faces the camera. Errors of depth grow with distance (as z² for a given error of disparity), so in
millimetres the farthest frames would decide alone. And a relative error means the same in every unit.

The depths must come from a camera without Γ: fitted to depths that are corrected already, Γ would be applied twice.
`with_depth_scale` therefore refuses a camera that has one; `replace(camera, depth_scale=None)` takes it off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import ApertureModel, Array
from plenodepth.errors import InputError

ScaleOrder = Literal["constant", "linear", "quadratic"]

# Powers of z in Γ. "constant" is a constant factor γ1, one coefficient: a constant alone would give all one depth.
POWERS: dict[str, tuple[int, ...]] = {"constant": (1,), "linear": (0, 1), "quadratic": (0, 1, 2)}

TUKEY = 4.685  # standard deviations beyond which a frame counts no more; 95 % efficient where there are no outliers
MAD_TO_SIGMA = 1.4826
LEAST_SPREAD = 0.01  # in parts of the depth. Γ is empirical: a frame within a percent or so of it is no outlier
MOST_SUBSETS = 1000  # of which hundreds hold no wrong frame, even where a third of the frames are wrong
LEAST_SLOPE = 1e-3  # of Γ: below, all depths become about one
ITERATIONS = 100
CONVERGED = 1e-13  # largest change of a fitted depth, in parts of the largest


@dataclass(frozen=True, eq=False)
class DepthScaleFit:
    """A fitted Γ and how well it explains the n frames."""

    coefficients: Array  # (3,) γ0 mm, γ1, γ2 1/mm: what `PlenopticCamera.depth_scale` holds
    standard_errors: Array  # (3,) of the coefficients; 0 where one is not fitted, NaN without frames to spare
    residuals: Array  # (n,) Γ(z)/true − 1
    weights: Array  # (n,) in [0, 1]: 1 for a frame that fits in, less the farther out it is
    depth_range: tuple[float, float]  # mm, of the uncorrected depths; beyond, Γ is a guess
    order: ScaleOrder
    offset: float | None = None  # mm, true depth of position 0; None where true depths were given

    @property
    def rmse(self) -> float:
        """Root of the mean squared relative depth error, outliers included."""
        return float(np.sqrt(np.mean(self.residuals**2)))

    def corrected(self, depth: ArrayLike) -> Array:
        """Γ(z), mm, of uncorrected depths."""
        return _polynomial(self.coefficients, np.asarray(depth, dtype=np.float64))


def fit_depth_scale(
    measured: ArrayLike, true: ArrayLike, order: ScaleOrder = "quadratic", weights: ArrayLike | None = None
) -> DepthScaleFit:
    """Γ with Γ(measured) ≈ true, by robust least squares on the relative depth error.

    `measured` (n,) mm: one depth per frame of a camera *without* Γ, as the median of a frame's map. `true` (n,) mm: the
    distance along the optical axis from the main lens' centre. `weights` (n,) > 0 multiply the squares, as 1/σ² of the
    relative error; which frames are outliers is judged without them. `order`: "constant" Γ = γ1 z, "linear" γ0 + γ1 z,
    "quadratic" (the paper's) γ0 + γ1 z + γ2 z²; at least as many distances as coefficients.
    """
    z, distance, given = _frames(measured, true, "true", order, weights)
    _require_positive(distance, "true")
    _require_distances(z, distance, len(POWERS[order]), order)
    powers = POWERS[order]
    design = np.column_stack([z**power for power in powers]) / distance[:, None]
    solution, errors, robust = _robust_least_squares(design, np.ones_like(z), given, distance)
    coefficients, standard_errors = _all_three(powers, solution), _all_three(powers, errors)
    return checked_scale(DepthScaleFit(coefficients, standard_errors, design @ solution - 1, robust, _range(z), order))


def fit_depth_scale_to_displacements(
    measured: ArrayLike, position: ArrayLike, order: ScaleOrder = "quadratic", weights: ArrayLike | None = None
) -> DepthScaleFit:
    """Γ where only displacements are known, as on the paper's linear stage: true depth = position + an unknown offset.

    `measured` as in `fit_depth_scale`; `position` (n,) mm on the stage, growing away from the camera, from any zero.
    The offset is found along with Γ. It cannot be told from Γ's own constant γ0, which is 0 here: displacements are
    right, absolute depths only as far as Γ does go through the origin. So "linear" is refused: without γ0 it is
    "constant". One distance more than coefficients is needed. Errors are relative to the corrected depth.
    """
    if order == "linear":
        raise InputError("is 'linear', whose γ0 displacements cannot tell", field="order", fix="constant or quadratic")
    z, stage, given = _frames(measured, position, "position", order, weights)
    powers = tuple(power for power in POWERS[order] if power > 0)
    _require_distances(z, stage, len(powers) + 1, order)
    # Γ(z) − offset = position. The true depths that errors are relative to are not known beforehand, the uncorrected
    # ones are within a quarter or so of them.
    design = np.column_stack([*(z**power for power in powers), -np.ones_like(z)]) / z[:, None]
    solution, errors, robust = _robust_least_squares(design, stage / z, given, stage)
    coefficients, standard_errors = _all_three(powers, solution[:-1]), _all_three(powers, errors[:-1])
    offset = float(solution[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        residuals = _polynomial(coefficients, z) / (stage + offset) - 1
    return checked_scale(DepthScaleFit(coefficients, standard_errors, residuals, robust, _range(z), order, offset))


def with_depth_scale(camera: PlenopticCamera, fit: DepthScaleFit, model: ApertureModel) -> PlenopticCamera:
    """The camera with the fitted Γ, its relative error among the residuals; refuses a camera that has a Γ already.

    `model` is the aperture model of the measured depths (`VirtualDepthMap.aperture_model`): Γ is for such depths alone.
    """
    if camera.depth_scale is not None:
        raise InputError(
            f"of camera '{camera.name}' is set already, so its depths are corrected and no fit of Γ is for them",
            field="depth_scale",
            fix="measure with replace(camera, depth_scale=None)",
        )
    residuals = {**camera.provenance.residuals, "depth_scale": fit.rmse}
    provenance = replace(camera.provenance, residuals=residuals)
    return replace(camera, depth_scale=fit.coefficients, depth_scale_model=model, provenance=provenance)


def _frames(
    measured: ArrayLike, other: ArrayLike, name: str, order: str, weights: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Measured depths, distances and weights, (n,) each; InputError for what cannot be fitted."""
    if order not in POWERS:
        raise InputError(f"is {order!r}", field="order", fix=f"one of {', '.join(POWERS)}")
    z, distance = np.array(measured, dtype=np.float64), np.array(other, dtype=np.float64)
    given = np.ones_like(z) if weights is None else np.array(weights, dtype=np.float64)
    for label, values in (("measured", z), (name, distance), ("weights", given)):
        if values.ndim != 1 or values.shape != z.shape:
            raise InputError(f"has shape {values.shape}, needs one number per frame {z.shape}", field=label)
        if not np.isfinite(values).all():
            raise InputError("holds a number that is not finite", field=label, fix="leave frames without depth out")
    _require_positive(z, "measured")
    if (given <= 0).any():
        raise InputError(f"holds {given.min():g}", field="weights", fix="give numbers > 0, leave other frames out")
    return z, distance, given


def _require_positive(values: Array, name: str) -> None:
    if (values <= 0).any():
        raise InputError(f"holds {values.min():g} mm", field=name, fix="depths are > 0")


def _require_distances(z: Array, distance: Array, least: int, order: str) -> None:
    found = min(len(np.unique(z)), len(np.unique(distance)))
    if found < least:
        raise InputError(
            f"'{order}' needs frames at {least} or more distances, there are {found}",
            field="order",
            fix="add distances or take a lower order",
        )


def _polynomial(coefficients: Array, z: Array) -> Array:
    return np.asarray(coefficients[0] + z * (coefficients[1] + z * coefficients[2]))


def _range(z: Array) -> tuple[float, float]:
    return float(z.min()), float(z.max())


def _all_three(powers: tuple[int, ...], values: Array) -> Array:
    """(γ0, γ1, γ2) with 0 for powers that are not fitted."""
    full = np.zeros(3)
    full[list(powers)] = values
    full.flags.writeable = False
    return full


def checked_scale(fit: DepthScaleFit) -> DepthScaleFit:
    """Refuse a Γ that falls somewhere in the range of its frames, where it has no inverse, or that is negative."""
    ends = np.array(fit.depth_range)
    slope = fit.coefficients[1] + 2 * fit.coefficients[2] * ends  # of a parabola: extreme at the ends
    if not (slope > LEAST_SLOPE).all():
        turn = ends[int(np.argmin(slope))]
        raise InputError(
            f"does not grow with distance at {turn:.4g} mm, so that two depths would become one",
            field="depth_scale",
            fix="check the distances of the frames, or take a lower order",
        )
    if not fit.corrected(ends[0]) > 0:
        raise InputError(f"is negative at {ends[0]:.4g} mm", field="depth_scale", fix="check the frames' distances")
    return fit


def _robust_least_squares(design: Array, target: Array, weights: Array, place: Array) -> tuple[Array, Array, Array]:
    """Solution (p,), standard errors (p,) and robust weights (n,) of design (n, p) · x ≈ target (n,).

    An MM-estimate: the least median of residuals gives start and spread, which nearly half of the frames may spoil
    without harm, be they the first and the last; reweighting with Tukey's function then makes use of all that fit in.
    `place` (n,) tells which frames stand at the same distance.
    """
    column_norm = np.linalg.norm(design, axis=0)  # 1, z and z² differ by orders of magnitude
    unit = design / column_norm
    solution, spread = _least_median(unit, target, place)
    for _ in range(ITERATIONS):
        robust = _tukey_weights((unit @ solution - target) / spread)
        previous, solution = solution, _weighted_solution(unit, target, weights * robust)
        if np.abs(unit @ (solution - previous)).max() <= CONVERGED * np.abs(target).max():
            break
    errors = _standard_errors(unit, unit @ solution - target, weights, robust)
    return solution / column_norm, errors / column_norm, robust


def _least_median(design: Array, target: Array, place: Array) -> tuple[Array, float]:
    """Of the solutions through p frames each, that with the least median of |residuals|, and their standard deviation.

    The median is that of Rousseeuw and Leroy (Robust Regression, 1987), with their factor for few frames.
    """
    n, p = design.shape
    if n == p:
        return _weighted_solution(design, target, np.ones(n)), np.inf  # nothing to tell a wrong frame by
    chosen = _subsets(place, p)
    chosen = chosen[np.linalg.matrix_rank(design[chosen]) == p]
    if not len(chosen):
        raise InputError("are the same at different distances", field="measured", fix="check the frames' distances")
    solutions = np.linalg.solve(design[chosen], target[chosen][..., None])[..., 0]
    middle = (n + p + 1) // 2 - 1
    medians = np.partition(np.abs(solutions @ design.T - target), middle, axis=1)[:, middle]
    best = int(np.argmin(medians))
    return solutions[best], max(MAD_TO_SIGMA * (1 + 5 / (n - p)) * float(medians[best]), LEAST_SPREAD)


def _subsets(place: Array, p: int) -> NDArray[np.int64]:
    """All choices (m, p) of p frames at different places; the same random ones each time where there are too many."""
    n = len(place)
    if comb(n, p) <= MOST_SUBSETS:
        chosen = np.array(list(combinations(range(n), p)), dtype=np.int64)
        return chosen[(np.diff(np.sort(place[chosen], axis=1), axis=1) > 0).all(axis=1)]
    generator, places = np.random.default_rng(0), np.unique(place)
    drawn = [generator.choice(places, p, replace=False) for _ in range(MOST_SUBSETS)]
    return np.array([[generator.choice(np.flatnonzero(place == one)) for one in row] for row in drawn])


def _tukey_weights(residuals: Array) -> Array:
    """(1 − (r/c)²)² within c standard deviations, 0 beyond."""
    return np.asarray(np.maximum(1 - (residuals / TUKEY) ** 2, 0) ** 2)


def _weighted_solution(design: Array, target: Array, weights: Array) -> Array:
    root = np.sqrt(weights)
    return np.asarray(np.linalg.lstsq(design * root[:, None], target * root, rcond=None)[0])


def _standard_errors(design: Array, residuals: Array, weights: Array, robust: Array) -> Array:
    """Huber's for an M-estimate: from the squares of ψ = robust · residual, larger the lower the mean slope of ψ."""
    spare = len(residuals) - design.shape[1]
    if spare < 1:
        return np.full(design.shape[1], np.nan)
    within = np.sqrt(robust)  # 1 − (r/c)²
    slope = within * (5 * within - 4)  # dψ/dr of Tukey's function
    variance = float(np.sum(weights * (robust * residuals) ** 2)) / spare / float(slope.mean()) ** 2
    covariance = np.linalg.inv((design * weights[:, None]).T @ design)
    return np.asarray(np.sqrt(variance * np.diag(covariance)))
