"""The observations of an adjustment, sorted by board and frame: start poses, weighted problems, residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plenodepth.calib.bundle.problem import Estimate, Prior, Problem, Weighted, WeightedCenters, solve
from plenodepth.calib.bundle.residuals import Residuals, Seen, center_residuals, feature_residuals
from plenodepth.calib.bundle.settings import DISTANCES, AdjustSettings, prior_factors, usual_priors
from plenodepth.calib.bundle.start_poses import corner_depths, pinhole_poses
from plenodepth.calib.bundle.weights import (
    RHO_BIAS,
    Scales,
    common_errors,
    common_scale,
    line_scale,
    plane_scale,
    robust_weight,
    whitening,
)
from plenodepth.calib.features import Board, BoardView, Centers, Features, require_corners_of
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

# px: corners' views err alike by at least this; less cannot be told from the scatter.
LEAST_COMMON = 0.02
LEAST_FEATURES = 12  # of a board in a frame


@dataclass(frozen=True, eq=False)
class Fit:
    """Residuals of the final estimate, in the order of `features` and `centers`."""

    features: Features  # those of boards with a pose
    residuals: Array  # (n, 3) px: u, v, ρ, predicted less observed; ρ NaN where it is unknown
    weight: Array  # (n,) robust, 0 for outliers
    centers: Centers | None
    center_residuals: Array  # (c, 2) px
    center_weight: Array  # (c,)


class BoardObservations:
    """The observations, sorted by board and frame."""

    def __init__(
        self,
        camera: PlenopticCamera,
        features: Features,
        centers: Centers | None,
        board: Board,
        settings: AdjustSettings,
    ) -> None:
        self.camera, self.board, self.settings, self.notes = camera, board, settings, list[str]()
        self.centers = centers
        self.priors = {**usual_priors(camera), **settings.priors}
        self.scatter_factor = 1.0  # by which residuals scatter more than their weights say; priors count as much more
        require_corners_of(board, features)
        assigned = features.where(features.corner >= 0)
        order = np.lexsort((assigned.corner, assigned.board, assigned.frame))
        self.features = assigned.where(order)
        self.rows: dict[BoardView, Indices] = {}

    def start_estimate(self, start: Mapping[BoardView, Pose] | None) -> Estimate:
        """Poses of every board that has enough features: given ones, or the better of two candidates."""
        keys = np.stack([self.features.frame, self.features.board], axis=1)
        candidates = {v: [p] for v, p in (start or {}).items()}
        if not start:
            candidates = pinhole_poses(corner_depths(self.features, self.camera), self.board, self.camera)
        poses: dict[BoardView, Pose] = {}
        for frame, board in np.unique(keys, axis=0).tolist():
            rows = np.flatnonzero((keys == [frame, board]).all(axis=1))
            options = candidates.get((frame, board), [])
            if len(rows) < LEAST_FEATURES or not options:
                self.notes.append(f"frame {frame}: {len(rows)} features are too few for a pose; left out")
                continue
            self.rows[frame, board] = rows
            poses[frame, board] = self._better((frame, board), options)
        if not poses:
            fix = "check the board's corner counts, or give frames that show more of it"
            raise InputError("give no pose of any board", field="features", fix=fix)
        self.features = self.features.where(np.concatenate(list(self.rows.values())))
        ends = np.cumsum([len(rows) for rows in self.rows.values()])
        self.rows = {
            view: np.arange(end - len(rows), end) for (view, rows), end in zip(self.rows.items(), ends, strict=True)
        }
        return Estimate(self.camera, poses)

    def _better(self, view: BoardView, options: Sequence[Pose]) -> Pose:
        best, lowest = options[0], np.inf
        for pose in options if len(options) > 1 else ():
            weighted = Weighted(self._seen(view), np.broadcast_to(np.eye(3), (len(self.rows[view]), 3, 3)))
            problem = Problem({view: weighted}, None, (), (), self.settings.aperture)
            solution = solve(problem, Estimate(self.camera, {view: pose}), iterations=30)
            values = self._residuals(solution.estimate, view).values
            typical = float(np.median(np.hypot(values[:, 0], values[:, 1])))
            if typical < lowest:
                best, lowest = solution.estimate.poses[view], typical
        return best

    def _seen(self, view: BoardView) -> Seen:
        mine = self.features.where(self.rows[view])
        rho = mine.rho if self.settings.use_rho and self.camera.type_count else np.full(len(mine), np.nan)
        return Seen(self.board.points(mine.corner), mine.k, mine.l, mine.uv, rho)

    def _residuals(self, estimate: Estimate, view: BoardView) -> Residuals:
        return feature_residuals(
            self._seen(view),
            estimate.poses[view],
            estimate.camera,
            aperture=self.settings.aperture,
            derivatives=False,
        )

    def rmse(self, estimate: Estimate) -> float:
        """Root mean square of the features' distances from where they are predicted, px."""
        squares = [(self._residuals(estimate, view).values[:, :2] ** 2).sum(axis=1) for view in self.rows]
        return float(np.sqrt(np.concatenate(squares).mean()))

    def weighted(self, estimate: Estimate, names: Sequence[str]) -> tuple[Problem, Scales, tuple[Array, Array]]:
        """The problem with weights by the residuals of an estimate, its scales and the robust weights."""
        residuals = {view: self._residuals(estimate, view) for view in self.rows}
        roots, norms, blurs = {}, {}, {}
        for view, rows in self.rows.items():
            roots[view] = whitening(self.features.covariance[rows])
            norms[view] = np.linalg.norm(roots[view] @ residuals[view].values[:, :2, None], axis=(1, 2))
            blurs[view] = residuals[view].values[:, 2] / np.where(
                np.isfinite(self._seen(view).rho), self.features.rho_sigma[rows], np.inf
            )
        blur = np.concatenate(list(blurs.values()))
        # Blur radii that were computed from positions agree with each other far better than they know the blur.
        scales = Scales(plane_scale(np.concatenate(list(norms.values()))), max(line_scale(blur[blur != 0]), 1.0))
        scales = scales._replace(corner=self._common_scale(roots, residuals, scales.uv))
        views = {}
        weight = np.empty(len(self.features))
        for view, rows in self.rows.items():
            weight[rows] = robust_weight(norms[view] / scales.uv)
            root = np.zeros((len(rows), 3, 3))
            root[:, :2, :2] = roots[view] * (np.sqrt(weight[rows]) / scales.uv)[:, None, None]
            sigma = np.where(np.isfinite(self._seen(view).rho), self.features.rho_sigma[rows], np.inf)
            robust = np.minimum(weight[rows], robust_weight(np.abs(blurs[view]) / scales.rho))
            root[:, 2, 2] = np.sqrt(robust) / (scales.rho * sigma)
            views[view] = self._weighted(view, rows, root, scales.corner)
        center_weight, centers = np.ones(0), None
        if self.centers is not None:
            root = whitening(self.centers.covariance)
            values, _ = center_residuals(self.centers, estimate.camera, derivatives=False)
            norm = np.linalg.norm(root @ values[..., None], axis=(1, 2))
            scales = scales._replace(centers=plane_scale(norm))
            center_weight = robust_weight(norm / scales.centers)
            root = root * (np.sqrt(center_weight) / scales.centers)[:, None, None]
            centers = WeightedCenters(self.centers, root)
        places = {name: index for index, name in enumerate(intrinsic_names(self.camera))}
        priors = [
            Prior(prior_factors(name, places), value, sigma / float(np.sqrt(self.scatter_factor)))
            for name, (value, sigma) in self.priors.items()
            if name in names or (names and name in DISTANCES)
        ]
        problem = Problem(views, centers, priors, [places[name] for name in names], self.settings.aperture)
        return problem, scales, (weight, center_weight)

    def _weighted(self, view: BoardView, rows: Indices, root: Array, tau: float) -> Weighted:
        share = np.sqrt((root[:, :2, :2] ** 2).sum(axis=(1, 2)) / 2)
        common = common_errors(self.features.corner[rows], share, tau)
        types = self.camera.micro_images.lens_type(self.features.k[rows], self.features.l[rows])
        return Weighted(self._seen(view), root, common, common_errors(types, root[:, 2, 2], RHO_BIAS))

    def _common_scale(
        self, roots: Mapping[BoardView, Array], residuals: Mapping[BoardView, Residuals], scale: float
    ) -> float:
        """τ px: scatter of the corners' mean errors beyond what the errors of single views explain."""
        squares, explained = [], []
        for view, rows in self.rows.items():
            root = roots[view] / scale
            white = (root @ residuals[view].values[:, :2, None])[..., 0]
            share = np.sqrt((root**2).sum(axis=(1, 2)) / 2)
            share = share * np.sqrt(robust_weight(np.linalg.norm(white, axis=1)))
            square, own = common_scale(self.features.corner[rows], share, white)
            squares.append(square)
            explained.append(own)
        # The median of (x² + y²)/2 of a normal distribution is ln 2 of its variance.
        ratio = np.concatenate(squares) / np.log(2) - np.concatenate(explained)
        return max(float(np.sqrt(max(np.median(ratio), 0.0))), LEAST_COMMON)

    def fit(self, estimate: Estimate, weights: tuple[Array, Array]) -> Fit:
        """Residuals in pixels of the image."""
        values = np.empty((len(self.features), 3))
        for view, rows in self.rows.items():
            values[rows] = self._residuals(estimate, view).values
            values[rows[~np.isfinite(self._seen(view).rho)], 2] = np.nan
        of_centers = np.zeros((0, 2))
        if self.centers is not None:
            of_centers, _ = center_residuals(self.centers, estimate.camera, derivatives=False)
        return Fit(self.features, values, weights[0], self.centers, of_centers, weights[1])
