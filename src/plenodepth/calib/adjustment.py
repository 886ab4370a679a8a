"""The calibration's bundle adjustment: from a rough camera and features to a camera, board poses and residuals.

Staged: poses alone, then the distances of the optics, then all. Weights are refreshed between solutions: robustly,
and by how large residuals of each kind (positions, blur radii, centres) turn out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.board_poses import BoardView, pinhole_poses
from plenodepth.calib.bundle import Estimate, Prior, Problem, Weighted, WeightedCenters, solve
from plenodepth.calib.corner_depth import cluster_views
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.calib.residuals import Residuals, Seen, center_residuals, feature_residuals
from plenodepth.calib.weights import (
    RHO_BIAS,
    Scales,
    common_errors,
    common_scale,
    line_scale,
    plane_scale,
    robust_weight,
    whitening,
)
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

ALWAYS_HELD = ("sensor.pixel_size",)  # it only scales the rest
LAST_FREED = ("distortion",)  # what a rough start must not be fitted with
ROUNDS = 12  # of weights and solution
SETTLED = 2e-3  # relative change of the residuals' scales after which the rounds end
ROUGH_ITERATIONS, ROUGH = 15, 1e-5  # and relative change of the cost, in stages that others follow
ITERATIONS, PRECISE = 60, 1e-10  # in the last one
# px: corners' views err alike by at least this; less cannot be told from the scatter.
LEAST_COMMON = 0.02
FOCAL = "main_lens.focal_length"
# F, D and the boards' distances are hardly told apart, and what the model does not know of a real lens can move them by
# a tenth. So the nominal F is a prior, F is freed last, and stays free only if it ends near its nominal value.
# Distances of the optics that priors may be about, as sums of parameters: D and d, of an array that hardly tilts.
DISTANCES = {
    "D": {"micro_lenses.translation.z": -1.0},
    "d": {"micro_lenses.translation.z": 1.0, "sensor.position.z": -1.0},
}
FOCAL_SIGMA = 0.005  # of the nominal focal length: what it is known to
FOCAL_TRUSTED = 0.02  # of it
DIFFERENT = 0.01  # of the focal length: by so much lens types must differ to be told apart
LEAST_FEATURES = 12  # of a board in a frame


@dataclass(frozen=True)
class AdjustSettings:
    """What is adjusted and how."""

    aperture: bool = False  # pixels look through the main lens' aperture (`calib.looking`)
    hold: tuple[str, ...] = ()  # intrinsic parameters, or the beginnings of their names
    priors: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # name: value, standard deviation
    use_rho: bool = True
    rounds: int = ROUNDS


@dataclass(frozen=True, eq=False)
class Fit:
    """What the residuals of the final estimate are, in the order of `features` and `centers`."""

    features: Features  # those of boards with a pose
    residuals: Array  # (n, 3) px: u, v, ρ, predicted less observed; ρ NaN where it is unknown
    weight: Array  # (n,) robust, 0 for outliers
    centers: Centers | None
    center_residuals: Array  # (c, 2) px
    center_weight: Array  # (c,)


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The result of `adjust`."""

    estimate: Estimate
    problem: Problem  # as solved last, for the uncertainty
    fit: Fit
    scales: Scales
    considered: Mapping[str, float]  # parameters held at a value of this standard deviation
    iterations: int
    converged: bool
    cpu_seconds: float
    notes: tuple[str, ...]

    @property
    def camera(self) -> PlenopticCamera:
        """The calibrated camera."""
        return self.estimate.camera

    @property
    def rmse_uv(self) -> float:
        """Root mean square of the distance of predicted and observed positions, px, over all features."""
        return float(np.sqrt((self.fit.residuals[:, :2] ** 2).sum(axis=1).mean()))

    @property
    def rmse_rho(self) -> float:
        """Root mean square of the blur radii's residuals, px; NaN without any."""
        values = self.fit.residuals[:, 2]
        known = np.isfinite(values)
        return float(np.sqrt((values[known] ** 2).mean())) if known.any() else float("nan")

    @property
    def rmse_centers(self) -> float:
        """Root mean square of the centres' residuals, px; NaN without any."""
        values = self.fit.center_residuals
        return float(np.sqrt((values**2).sum(axis=1).mean())) if len(values) else float("nan")


Report = Callable[[str], None]


def adjust(
    camera: PlenopticCamera,
    features: Features,
    centers: Centers | None,
    board: Board,
    settings: AdjustSettings | None = None,
    *,
    start_poses: Mapping[BoardView, Pose] | None = None,
    report: Report | None = None,
) -> Adjustment:
    """Calibrate: `camera` is the start, and keeps what is held."""
    settings = settings or AdjustSettings()
    began = time.process_time()
    say = report or (lambda _: None)
    data = _Data(replace(camera, depth_scale=None), features, centers, board, settings)
    say("board poses")
    progress = _Progress(data.posed(start_poses))
    free = free_parameters(camera, settings)
    judged = FOCAL in free and FOCAL not in settings.priors
    considered: dict[str, float] = {}
    stages = [
        (),
        tuple(name for name in free if not name.startswith(LAST_FREED) and not (judged and name == FOCAL)),
        tuple(name for name in free if not (judged and name == FOCAL)),
    ]
    stages = [names for number, names in enumerate(stages) if names or number == 0]
    for number, names in enumerate(stages):
        say(f"adjusting, stage {number + 1} of {len(stages) + judged}")
        last = number == len(stages) - 1 and not judged
        progress = _settled(data, progress, names, settings.rounds, precisely=last)
    if judged:
        say(f"adjusting, stage {len(stages) + 1} of {len(stages) + 1}")
        freed = _settled(data, progress, free, settings.rounds, precisely=True)
        nominal, found = camera.main_lens.focal_length, freed.estimate.camera.main_lens.focal_length
        if abs(found / nominal - 1) <= FOCAL_TRUSTED:
            progress = freed
        else:
            progress = progress._replace(iterations=freed.iterations)
            progress = _settled(data, progress, progress.names, settings.rounds, precisely=True)
            considered = {FOCAL: FOCAL_SIGMA * nominal}
            data.notes.append(
                f"F is held at its nominal {nominal:g} ± {FOCAL_SIGMA * nominal:.2g} mm: freed, it went to {found:.2f} "
                f"mm ({data.rmse(freed.estimate):.3f} instead of {data.rmse(progress.estimate):.3f} px), an error of "
                "the model rather than of the lens"
            )
    data.notes += exchanged_types(camera, progress.estimate.camera)
    problem, scales, weights = data.weighted(progress.estimate, progress.names)
    return Adjustment(
        estimate=progress.estimate,
        problem=problem,
        fit=data.fit(progress.estimate, weights),
        scales=scales,
        considered=considered,
        iterations=progress.iterations,
        converged=progress.converged,
        cpu_seconds=time.process_time() - began,
        notes=tuple(data.notes),
    )


def _factors(name: str, places: Mapping[str, int]) -> Array:
    """(n,): of the parameters whose sum a prior is about."""
    factors = np.zeros(len(places))
    for part, factor in DISTANCES.get(name, {name: 1.0}).items():
        factors[places[part]] = factor
    return factors


class _Progress(NamedTuple):
    """An estimate and how it came about."""

    estimate: Estimate
    names: tuple[str, ...] = ()
    iterations: int = 0
    converged: bool = True


def _settled(data: _Data, progress: _Progress, names: tuple[str, ...], rounds: int, *, precisely: bool) -> _Progress:
    """Weights and solution in turn until the residuals' scales no longer change, roughly or to the end."""
    estimate, iterations, settled, before = progress.estimate, progress.iterations, False, None
    limit, tolerance = (ITERATIONS, PRECISE) if precisely else (ROUGH_ITERATIONS, ROUGH)
    for _ in range(rounds):
        problem, scales, _ = data.weighted(estimate, names)
        settled = before is not None and np.allclose(scales, before, rtol=SETTLED, atol=1e-6)
        if settled:
            break
        solution = solve(problem, estimate, iterations=limit, tolerance=tolerance)
        estimate, iterations, before = solution.estimate, iterations + solution.iterations, scales
    return _Progress(estimate, names, iterations, settled and solution.converged)


def exchanged_types(start: PlenopticCamera, found: PlenopticCamera) -> list[str]:
    """What to say where lens types have come out in another order of focal lengths than they were given in."""
    given, now = start.micro_lenses.focal_lengths, found.micro_lenses.focal_lengths
    order, turned = np.argsort(given), np.argsort(now)
    clear = len(now) > 1 and min(np.diff(np.sort(given)).min(), np.diff(np.sort(now)).min()) > DIFFERENT * now.mean()
    if not clear or (order == turned).all():
        return []
    types = " and ".join(str(index) for index in np.flatnonzero(np.argsort(order) != np.argsort(turned)))
    return [
        f"lens types {types} were exchanged in the camera to start from: by the images their focal lengths are "
        + ", ".join(f"{1000 * value:.0f}" for value in now)
        + " µm"
    ]


def free_parameters(camera: PlenopticCamera, settings: AdjustSettings) -> tuple[str, ...]:
    """The names of the intrinsic parameters that are adjusted."""
    names = intrinsic_names(camera)
    for given in settings.hold:
        if not any(_belongs(name, given) for name in names):
            raise InputError(f"is no parameter (there are: {', '.join(names)})", field=f"hold {given}")
    for given, (value, sigma) in settings.priors.items():
        if given not in (*names, *DISTANCES):
            raise InputError(f"is no parameter (there are: D, d, {', '.join(names)})", field=f"prior {given}")
        if not (np.isfinite(value) and np.isfinite(sigma) and sigma > 0):
            raise InputError(f"is {value:g} ± {sigma:g}", field=f"prior {given}", fix="give a standard deviation > 0")
    blur_matters = settings.use_rho or settings.aperture
    held = (*settings.hold, *ALWAYS_HELD, *(() if blur_matters else ("micro_lenses.focal_lengths",)))
    return tuple(name for name in names if not any(_belongs(name, given) for given in held))


def _belongs(name: str, group: str) -> bool:
    """Whether a parameter is the one named, or one of the group named."""
    return name == group or name.startswith(f"{group}.")


class _Data:
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
        nominal = camera.main_lens.focal_length
        self.priors = {FOCAL: (nominal, FOCAL_SIGMA * nominal), **settings.priors}
        assigned = features.where(features.corner >= 0)
        if not len(assigned):
            raise InputError("have no feature that belongs to a board", field="features", fix="detect them first")
        if assigned.corner.max() >= board.corner_count:
            raise InputError(
                f"have a corner {assigned.corner.max()}, the board has {board.columns} × {board.rows}",
                field="features",
                fix="give the board's inner corners as columns x rows",
            )
        order = np.lexsort((assigned.corner, assigned.board, assigned.frame))
        self.features = assigned.where(order)
        self.rows: dict[BoardView, Indices] = {}

    def posed(self, start: Mapping[BoardView, Pose] | None) -> Estimate:
        """Poses of every board that has enough features: given ones, or the better of two candidates."""
        keys = np.stack([self.features.frame, self.features.board], axis=1)
        candidates = {v: [p] for v, p in (start or {}).items()}
        if not start:
            candidates = pinhole_poses(self.camera, cluster_views(self.camera, self.features), self.board)
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
            estimate.camera,
            estimate.poses[view],
            self._seen(view),
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
            values, _ = center_residuals(estimate.camera, self.centers, derivatives=False)
            norm = np.linalg.norm(root @ values[..., None], axis=(1, 2))
            scales = scales._replace(centers=plane_scale(norm))
            center_weight = robust_weight(norm / scales.centers)
            root = root * (np.sqrt(center_weight) / scales.centers)[:, None, None]
            centers = WeightedCenters(self.centers, root)
        places = {name: index for index, name in enumerate(intrinsic_names(self.camera))}
        priors = [
            Prior(_factors(name, places), *given)
            for name, given in self.priors.items()
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
        """τ: what corners' mean errors scatter more than their views' own errors explain, px."""
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
            of_centers, _ = center_residuals(estimate.camera, self.centers, derivatives=False)
        return Fit(self.features, values, weights[0], self.centers, of_centers, weights[1])


def inliers(fit: Fit) -> NDArray[np.bool_]:
    """Features (n,) that count."""
    return np.asarray(fit.weight > 0)
