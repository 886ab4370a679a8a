"""Bundle adjustment with Ceres: one residual block per board and frame, one for the micro-image centres, priors.

Least squares need no more of the many residuals r of a block and their derivatives J than [J r]ᵀ [J r]. So Ceres gets a
block of as few residuals as it has unknowns, and one, with the same products.

The unknowns are steps from an estimate: the camera's of `perturbed_camera`, and six of `Pose.perturbed` for
each board. Robust weights are given; `calib.bundle.adjustment` refreshes them between solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyceres
from numpy.typing import NDArray

from plenodepth.calib.bundle.kernels.rows import product_root
from plenodepth.calib.bundle.residuals import Seen
from plenodepth.calib.bundle.rows import CenterRows, FeatureRows, packed
from plenodepth.calib.bundle.weights import CommonErrors
from plenodepth.calib.features import BoardView, Centers
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names, intrinsic_values, perturbed_camera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.geometry.pose import cross_matrix

TRUST = 1e8  # the first step is nearly Gauss and Newton's: small first steps look like convergence
THREADS = 1  # the blocks are Python and run one at a time anyhow


@dataclass(frozen=True, eq=False)
class Estimate:
    """A camera and where the boards stand: cam_from_board of each frame and board."""

    camera: PlenopticCamera
    poses: Mapping[BoardView, Pose]


class Weighted(NamedTuple):
    """Features of a board in a frame with the roots of their weights."""

    seen: Seen
    root: Array  # (n, 3, 3): whitened residual = root · residual
    common: CommonErrors | None = None  # of the positions
    common_rho: CommonErrors | None = None

    def whitened(self, rows: Array) -> Array:
        """Residuals or their derivatives (n, 3, ...) in standard deviations."""
        own = self.root @ rows
        if self.common is not None:
            own[:, :2] = self.common.whitened(own[:, :2])
        if self.common_rho is not None:
            own[:, 2] = self.common_rho.whitened(own[:, 2])
        return own


class WeightedCenters(NamedTuple):
    """Centres with the roots of their weights, (n, 2, 2)."""

    centers: Centers
    root: Array


class Prior(NamedTuple):
    """What is known of a parameter, or of a sum of parameters, besides the images."""

    factors: Array  # (n,) of the parameters of `intrinsic_names`
    value: float
    sigma: float


class Solution(NamedTuple):
    """The result of `solve`."""

    estimate: Estimate
    cost: float  # half the sum of squares
    iterations: int
    converged: bool
    message: str


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised: weighted observations, priors and which parameters are free."""

    views: Mapping[BoardView, Weighted]
    centers: WeightedCenters | None
    priors: Sequence[Prior]
    free: Sequence[int]  # intrinsic parameters that are not held, by their place in `intrinsic_names`
    aperture: bool


def solve(problem: Problem, start: Estimate, *, iterations: int = 50, tolerance: float = 1e-9) -> Solution:
    """Solve by least squares, beginning with `start`."""
    count = len(intrinsic_names(start.camera))
    camera_step = np.zeros(count)
    steps = {view: np.zeros(6) for view in problem.views}
    ceres: Any = pyceres.Problem()
    blocks: list[Any] = []  # Ceres does not keep Python's cost functions alive
    optics = _Optics(start.camera, problem.aperture)
    for view, weighted in problem.views.items():
        rows = FeatureRows(weighted, start.camera, problem.aperture)
        blocks.append(_Block(_board_function(rows, optics, start.poses[view]), (count, 6)))
        ceres.add_residual_block(blocks[-1], None, [camera_step, steps[view]])
    # A block whose unknowns are all held tells nothing (and its part of the total cost crashes pyceres 2.6).
    if problem.centers is not None and problem.free:
        blocks.append(_Block(_center_function(CenterRows(problem.centers, start.camera), optics), (count,)))
        ceres.add_residual_block(blocks[-1], None, [camera_step])
    if problem.priors and problem.free:
        blocks.append(_Block(_prior_function(problem, start), (count,)))
        ceres.add_residual_block(blocks[-1], None, [camera_step])
    held = [index for index in range(count) if index not in set(problem.free)]
    if ceres.has_parameter_block(camera_step):
        if len(held) == count:
            ceres.set_parameter_block_constant(camera_step)
        elif held:
            ceres.set_manifold(camera_step, pyceres.SubsetManifold(count, held))
    options = pyceres.SolverOptions()
    # The boards' poses are eliminated one by one; what is left is the camera, a small dense matrix.
    options.linear_solver_type = (
        pyceres.LinearSolverType.DENSE_SCHUR if len(held) < count else (pyceres.LinearSolverType.SPARSE_NORMAL_CHOLESKY)
    )
    options.max_num_iterations = iterations
    options.function_tolerance = tolerance
    options.parameter_tolerance = 1e-12
    options.gradient_tolerance = 1e-14
    options.initial_trust_region_radius = TRUST
    options.num_threads = THREADS
    options.minimizer_progress_to_stdout = False
    options.logging_type = pyceres.LoggingType.SILENT
    summary = pyceres.SolverSummary()
    pyceres.solve(options, ceres, summary)
    estimate = Estimate(
        perturbed_camera(start.camera, camera_step),
        {**start.poses, **{v: start.poses[v].perturbed(s) for v, s in steps.items()}},
    )
    converged = summary.termination_type == pyceres.TerminationType.CONVERGENCE
    number = int(summary.num_successful_steps + summary.num_unsuccessful_steps)
    return Solution(estimate, float(summary.final_cost), number, converged, str(summary.message))


def objective(problem: Problem, estimate: Estimate) -> float:
    """Weighted squares of all residuals and priors at an estimate: −2 log of its likelihood, up to a constant.

    The estimate's camera may have more parameters than the problem was made with, if its priors have them, too.
    """
    camera, optics = estimate.camera, packed(estimate.camera, problem.aperture)
    total = 0.0
    for view, weighted in problem.views.items():
        squares = FeatureRows(weighted, camera, problem.aperture).products(optics, estimate.poses[view], False)
        if squares is None:
            return float("inf")
        total += float(squares[0, 0])
    if problem.centers is not None:
        total += float(CenterRows(problem.centers, camera).products(optics, False)[0, 0])
    now = intrinsic_values(camera)
    return total + sum(((float(prior.factors @ now) - prior.value) / prior.sigma) ** 2 for prior in problem.priors)


Function = Callable[[Sequence[Array], bool], "Array | None"]


class _Block(pyceres.CostFunction):  # type: ignore[misc]
    """A residual block by its products: `function` gives [J r]ᵀ [J r], or [[r · r]] where no derivatives are wanted."""

    def __init__(self, function: Function, sizes: Sequence[int]) -> None:
        super().__init__()
        self.function, self.sizes = function, sizes
        self.set_num_residuals(sum(sizes) + 1)
        self.set_parameter_block_sizes(list(sizes))

    def Evaluate(
        self, parameters: Sequence[Array], residuals: Array, jacobians: Sequence[NDArray[np.float64] | None] | None
    ) -> bool:
        try:
            products = self.function(parameters, jacobians is not None)
        except InputError:  # a step to an impossible camera, as of negative focal length: Ceres takes a shorter one
            return False
        if products is None:
            return False
        if jacobians is None:
            residuals[:] = 0
            residuals[0] = np.sqrt(products[0, 0])
            return True
        root = np.empty(products.shape)
        product_root(products, root)
        residuals[:] = root[:, -1]
        end = 0
        for given, size in zip(jacobians, self.sizes, strict=True):
            if given is not None:
                given[:] = root[:, end : end + size].ravel()
            end += size
        return True


class _Optics:
    """The optics after a step from a camera, for the kernels: computed once for all blocks that Ceres evaluates."""

    def __init__(self, camera: PlenopticCamera, aperture: bool) -> None:
        self.camera, self.aperture = camera, aperture
        self.step, self.optics = np.full(len(intrinsic_names(camera)), np.nan), np.zeros(0)

    def after(self, step: Array) -> Array:
        if not np.array_equal(step, self.step):
            self.optics = packed(perturbed_camera(self.camera, step), self.aperture)
            self.step = np.array(step)
        return self.optics


def _board_function(rows: FeatureRows, optics: _Optics, start: Pose) -> Function:
    def function(parameters: Sequence[Array], derivatives: bool) -> Array | None:
        step, pose_step = parameters
        products = rows.products(optics.after(step), start.perturbed(pose_step), derivatives)
        return _turned(products, [(step, 6), (pose_step, 0)]) if derivatives and products is not None else products

    return function


def _center_function(rows: CenterRows, optics: _Optics) -> Function:
    def function(parameters: Sequence[Array], derivatives: bool) -> Array:
        products = rows.products(optics.after(parameters[0]), derivatives)
        return _turned(products, [(parameters[0], 6)]) if derivatives else products

    return function


def _prior_function(problem: Problem, start: Estimate) -> Function:
    now = intrinsic_values(start.camera)
    jacobian = np.array([prior.factors / prior.sigma for prior in problem.priors])

    def function(parameters: Sequence[Array], derivatives: bool) -> Array:
        step = parameters[0]
        values = np.array([[(p.factors @ (now + step) - p.value) / p.sigma] for p in problem.priors])
        rows = np.hstack([jacobian, values]) if derivatives else values
        return np.asarray(rows.T @ rows)

    return function


def _turned(products: Array, steps: Sequence[tuple[Array, int]]) -> Array:
    """Products by the steps that were taken, from products by small steps from where these lead."""
    turning = np.eye(len(products))
    end = 0
    for step, first in steps:
        turning[end : end + len(step), end : end + len(step)] = _turning(step, first)
        end += len(step)
    return np.asarray(turning.T @ products @ turning)


def _turning(step: Array, first: int) -> Array:
    """d(small step from the moved pose)/d(step), (n, n): where a rotation vector begins, its right Jacobian."""
    turn = step[first : first + 3]
    angle = float(np.linalg.norm(turn))
    cross = cross_matrix(turn)
    square = cross @ cross
    if angle > 1e-6:
        right = np.eye(3) - (1 - np.cos(angle)) / angle**2 * cross + (angle - np.sin(angle)) / angle**3 * square
    else:
        right = np.eye(3) - cross / 2
    matrix = np.eye(len(step))
    matrix[first : first + 3, first : first + 3] = right
    return matrix
