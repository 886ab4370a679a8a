"""How well a calibration knows its parameters: covariance, correlations, and what they mean for depth.

The normal equations of the last solution give the covariance that the residuals' own scatter explains. What a model
does not know shows as frames or lens types that pull in different directions: at the optimum their pulls (gradients)
cancel, and should scatter by what the information of each says. If the frames' scatter φ times as much, variances are φ
times as large. Lens types are few, and what is wrong with them (the aperture's effect differs between them) is the same
in all frames: the directions in which they disagree get the variance that their disagreement amounts to.

Corners are found a little too far out where they are sharp and too far in where they are blurred, alike in all frames,
which no scatter shows. So such shifts of each lens type's corners are passed on to the parameters as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plenodepth.calib.bundle.problem import Estimate, Problem
from plenodepth.calib.bundle.residuals import Seen, center_residuals, feature_residuals
from plenodepth.calib.features import BoardView
from plenodepth.camera.depth import metric_from_virtual
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names, perturbed_camera
from plenodepth.camera.projection import project
from plenodepth.errors import InputError

# px, away from the micro-images' centres: what corners of simulated boards are off, found with the aperture's clipping
# modelled; and what at least to expect of a search that does not know of it (it can be a third of a pixel).
RADIAL_BIAS, UNAWARE_BIAS = 0.02, 0.1
BLURRED = 4.0  # px, of ρ
ALIKE = 0.99  # correlation above which two parameters are hardly told apart
LEAST_GROUPS = 3
DEGENERATE = 1e-14  # eigenvalues of the scaled information below it (of the largest) are directions without any


class Information(NamedTuple):
    """Information of some residuals about the p intrinsics, poses eliminated: matrix (p, p) and pull (p,).

    `bias_pull` (p, 2) is what a shift of all corners by 1 px away from their micro-images' centres would pull, and one
    that goes from −1 px for sharp to 1 px for blurred ones.
    """

    matrix: Array
    pull: Array
    bias_pull: Array


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Covariance of the intrinsic parameters `names` (n,), by steps of `camera.parameters.perturbed_camera`."""

    names: tuple[str, ...]
    covariance: Array  # (n, n)
    scatter_factor: float  # φ ≥ 1
    condition: float  # of the information, each parameter in its own standard deviations when alone
    considered: Mapping[str, float]  # parameters held at a value of this standard deviation, which is passed on

    @property
    def sigma(self) -> Array:
        """Standard deviations (n,)."""
        return np.sqrt(np.diag(self.covariance))

    def correlated(self) -> list[tuple[str, str, float]]:
        """Pairs of parameters whose correlation exceeds 0.99, the strongest first."""
        sigma = np.maximum(self.sigma, 1e-300)
        correlation = self.covariance / np.outer(sigma, sigma)
        rows, columns = np.nonzero(np.triu(np.abs(correlation) > ALIKE, 1))
        pairs = [(self.names[i], self.names[j], float(correlation[i, j])) for i, j in zip(rows, columns, strict=True)]
        return sorted(pairs, key=lambda pair: -abs(pair[2]))

    def sigma_of(self, camera: PlenopticCamera, value: Callable[[PlenopticCamera], Array]) -> Array:
        """Standard deviation of anything (...) that is computed from the camera, to first order."""
        places = {name: index for index, name in enumerate(intrinsic_names(camera))}
        sigma = self.sigma
        slopes = []
        for index, name in enumerate(self.names):
            step = np.zeros(len(places))
            step[places[name]] = size = max(1e-2 * sigma[index], 1e-12)
            slopes.append((value(perturbed_camera(camera, step)) - value(perturbed_camera(camera, -step))) / (2 * size))
        jacobian = np.stack(slopes, axis=-1)
        variance = np.einsum("...i,ij,...j->...", jacobian, self.covariance, jacobian)
        return np.asarray(np.sqrt(np.maximum(variance, 0)))


def uncertainty(problem: Problem, estimate: Estimate, considered: Mapping[str, float] | None = None) -> Uncertainty:
    """Covariance of the free parameters of a solved problem, and of `considered` ones.

    Considered parameters were held at a value of known standard deviation, which is passed on to the others.
    """
    given = dict(considered or {})
    names = intrinsic_names(estimate.camera)
    free = [names[place] for place in problem.free]
    places = [names.index(name) for name in [*free, *given]]
    frames = [_of_frame(problem, estimate, view) for view in problem.views]
    parts = [*[part for frame in frames for part in frame], *_of_centers(problem, estimate)]
    matrix = sum((part.matrix for part in parts), np.zeros((len(names),) * 2))[np.ix_(places, places)]
    for prior in problem.priors:
        matrix += np.outer(prior.factors[places], prior.factors[places]) / prior.sigma**2
    count = len(free)
    inverse, condition = _inverse(matrix[:count, :count], free)
    by_frame = [[_chosen(part, places[:count]) for part in frame] for frame in frames]
    factor = _scatter_factor(inverse, [_together(parts) for parts in by_frame])
    types = [_together(parts) for parts in zip(*by_frame, strict=True)]
    covariance = np.zeros((len(places),) * 2)
    sensitivity = np.vstack([-inverse @ matrix[:count, count:], np.eye(len(given))])
    covariance[:count, :count] = factor * inverse + _disagreement(inverse, types, factor)
    covariance[:count, :count] += _biased(inverse, types, RADIAL_BIAS if problem.aperture else UNAWARE_BIAS)
    covariance += sensitivity @ np.diag([value**2 for value in given.values()]) @ sensitivity.T
    return Uncertainty((*free, *given), covariance, factor, condition, given)


def information_of(problem: Problem, estimate: Estimate) -> list[Information]:
    """The information of all observations of a problem, in parts."""
    frames = [_of_frame(problem, estimate, view) for view in problem.views]
    return [*[part for frame in frames for part in frame], *_of_centers(problem, estimate)]


class Derived(NamedTuple):
    """A quantity that users know a camera by, with its standard deviation."""

    name: str
    value: float
    sigma: float
    unit: str


def derived_parameters(camera: PlenopticCamera, known: Uncertainty) -> list[Derived]:
    """D, d (at the corner lens, as tables give them), the principal point and the pitch, each with its σ."""
    lattice = camera.micro_images.lattice
    corner = (lattice.columns - 1, lattice.rows - 1)

    def values(some: PlenopticCamera) -> Array:
        distances = lens_distances(some, *corner)
        return np.array([*map(float, distances), *some.sensor.principal_point, some.micro_lenses.pitch.mean()])

    labels = [("D", "mm"), ("d", "mm"), ("u0", "px"), ("v0", "px"), ("pitch", "mm")]
    return [
        Derived(name, float(value), float(sigma), unit)
        for (name, unit), value, sigma in zip(labels, values(camera), known.sigma_of(camera, values), strict=True)
    ]


def depth_uncertainty(virtual_depth: Array, camera: PlenopticCamera, known: Uncertainty) -> tuple[Array, Array]:
    """Depths (n,) mm of virtual depths amid the array, and their standard deviations from the calibration alone, mm."""

    def depth(some: PlenopticCamera) -> Array:
        return metric_from_virtual(virtual_depth, some, invalid="nan")

    return depth(camera), known.sigma_of(camera, depth)


def _of_frame(problem: Problem, estimate: Estimate, view: BoardView) -> list[Information]:
    """Information of one board in one frame, separately for each lens type."""
    weighted = problem.views[view]
    values, by_intrinsics, by_pose = feature_residuals(
        weighted.seen, estimate.poses[view], estimate.camera, aperture=problem.aperture, derivatives=True
    )
    assert by_intrinsics is not None
    assert by_pose is not None
    rows = len(values) * 3
    residual = weighted.whitened(values[..., None]).reshape(rows)
    camera, pose = (weighted.whitened(part).reshape(rows, -1) for part in (by_intrinsics, by_pose))
    # What the pose explains is taken out of both: the same as eliminating it from the normal equations.
    basis, _ = np.linalg.qr(pose)
    camera, residual = camera - basis @ (basis.T @ camera), residual - basis @ (basis.T @ residual)
    rho = project(estimate.poses[view](weighted.seen.points), weighted.seen.k, weighted.seen.l, estimate.camera).rho
    outwards = weighted.whitened(_outwards(estimate.camera, weighted.seen, rho)).reshape(rows, -1)
    types = np.repeat(estimate.camera.micro_images.lens_type(weighted.seen.k, weighted.seen.l), 3)
    kinds = range(estimate.camera.type_count) if estimate.camera.type_count else [-1]  # pinholes have none
    groups = [(camera[types == kind], residual[types == kind], outwards[types == kind]) for kind in kinds]
    return [Information(rows.T @ rows, rows.T @ values, rows.T @ shift) for rows, values, shift in groups]


def _of_centers(problem: Problem, estimate: Estimate) -> list[Information]:
    if problem.centers is None:
        return []
    centers, root = problem.centers
    values, jacobian = center_residuals(centers, estimate.camera, derivatives=True)
    assert jacobian is not None
    white = (root @ jacobian).reshape(len(values) * 2, -1)
    residual = (root @ values[..., None]).ravel()
    return [Information(white.T @ white, white.T @ residual, np.zeros((white.shape[1], 2)))]


def _chosen(part: Information, places: Sequence[int]) -> Information:
    return Information(part.matrix[np.ix_(places, places)], part.pull[places], part.bias_pull[places])


def _outwards(camera: PlenopticCamera, seen: Seen, rho: Array) -> Array:
    """(n, 3, 2): unit vectors from the micro-images' centres to the corners, also times −1 (sharp) … 1 (blurred)."""
    away = seen.uv - camera.micro_images.center(seen.k, seen.l)
    unit = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    blurred = np.clip(2 * np.abs(np.nan_to_num(rho)) / BLURRED - 1, -1, 1)
    result = np.zeros((len(unit), 3, 2))
    result[:, :2, 0], result[:, :2, 1] = unit, unit * blurred[:, None]
    return result


def _inverse(matrix: Array, names: Sequence[str]) -> tuple[Array, float]:
    if not len(matrix):
        return matrix, 1.0
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    if values[0] <= DEGENERATE * values[-1]:
        strongest = [names[index] for index in np.argsort(-np.abs(vectors[:, 0]))[:3]]
        raise InputError(
            f"do not tell {', '.join(strongest)} apart",
            field="features",
            fix="hold one of them, or add frames at other distances and tilts",
        )
    inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
    return np.asarray(inverse), float(values[-1] / values[0])


def _scatter_factor(inverse: Array, groups: Sequence[Information]) -> float:
    """φ: variance of the groups' pulls over the expected one; 1 if there are too few groups."""
    if len(groups) < LEAST_GROUPS or not len(inverse):
        return 1.0
    pulls = sum(float(part.pull @ inverse @ part.pull) for part in groups)
    expected = sum(float(np.trace(inverse @ part.matrix)) for part in groups)
    # The solution makes the pulls cancel, which takes one group's worth of freedom.
    return max(1.0, pulls / expected * len(groups) / (len(groups) - 1))


def _together(parts: Sequence[Information]) -> Information:
    matrices, pulls, biases = zip(*parts, strict=True)
    return Information(np.sum(matrices, axis=0), np.sum(pulls, axis=0), np.sum(biases, axis=0))


def _disagreement(inverse: Array, types: Sequence[Information], factor: float) -> Array:
    """Covariance (n, n) along directions in which lens types disagree by more than chance."""
    if len(types) < 2 or not len(inverse):
        return np.zeros_like(inverse)
    pulls = np.stack([part.pull for part in types], axis=1)
    values, vectors = np.linalg.eigh(pulls.T @ inverse @ pulls)
    # By chance the few pulls share the scatter of all n directions among themselves.
    excess = np.maximum(values - factor * len(inverse), 0)
    excess *= len(types) / (len(types) - 1)  # the pulls cancel: one of them tells nothing new
    steps = inverse @ pulls @ vectors * np.sqrt(excess / np.maximum(values, 1e-300))
    return np.asarray(steps @ steps.T)


def _biased(inverse: Array, types: Sequence[Information], bias: float) -> Array:
    """Covariance (n, n) from a shift of `bias` px of each lens type's corners."""
    if not len(inverse):
        return inverse
    steps = bias * np.concatenate([inverse @ part.bias_pull for part in types], axis=1)
    return np.asarray(steps @ steps.T)
