"""The calibration's bundle adjustment: from a rough camera and features to a camera, board poses and residuals.

Staged: poses alone, then the distances of the optics, then all. Weights are refreshed between solutions: robustly,
and by how large residuals of each kind (positions, blur radii, centres) turn out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from plenodepth.calib.bundle.observations import BoardObservations, Fit
from plenodepth.calib.bundle.parameter_uncertainty import uncertainty
from plenodepth.calib.bundle.problem import Estimate, Problem, solve
from plenodepth.calib.bundle.settings import (
    FOCAL,
    FOCAL_SIGMA,
    AdjustSettings,
    free_parameters,
    is_optional,
    with_freed_parts,
)
from plenodepth.calib.bundle.weights import Scales
from plenodepth.calib.features import Board, BoardView, Centers, Features
from plenodepth.camera.model import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

LAST_FREED = "distortion"  # what a rough start must not be fitted with
SETTLED = 2e-3  # relative change of the residuals' scales after which the rounds end
ROUGH_ITERATIONS, ROUGH = 15, 1e-5  # and relative change of the cost, in stages that others follow
ITERATIONS, PRECISE = 60, 1e-10  # in the last one
FOCAL_TRUSTED = 2 * FOCAL_SIGMA  # of the nominal focal length: where it ends farther off, it is held
SCATTERED = 1.5  # φ up to which priors keep their weight
DIFFERENT = 0.01  # of the focal length: by so much lens types must differ to be told apart


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
    features: Features,
    centers: Centers | None,
    board: Board,
    camera: PlenopticCamera,
    settings: AdjustSettings | None = None,
    *,
    start_poses: Mapping[BoardView, Pose] | None = None,
    report: Report | None = None,
) -> Adjustment:
    """Adjust the camera and the poses of the boards to the features and centres, beginning with `camera`.

    Parameters that are held keep their value in `camera`. `start_poses` are cam_from_board to begin with; by default
    they are estimated. `report` is told what is being done.
    """
    settings = settings or AdjustSettings()
    camera = with_freed_parts(camera, settings, centers=centers is not None)
    began = time.process_time()
    say = report or (lambda _: None)
    data = BoardObservations(replace(camera, depth_scale=None), features, centers, board, settings)
    say("board poses")
    progress = _Progress(data.start_estimate(start_poses))
    free = free_parameters(camera, settings)
    judged = FOCAL in free and FOCAL not in settings.priors
    considered: dict[str, float] = {}
    stages = [
        (),
        tuple(name for name in free if not _freed_late(name) and not (judged and name == FOCAL)),
        tuple(name for name in free if not (judged and name == FOCAL)),
    ]
    stages = [names for number, names in enumerate(stages) if names or number == 0]
    for number, names in enumerate(stages):
        say(f"adjusting, stage {number + 1} of {len(stages) + judged}")
        last = number == len(stages) - 1 and not judged
        progress = _settled(data, progress, names, settings.rounds, precisely=last)
        if last:
            progress = _weighed(data, progress, settings.rounds)
    if judged:
        say(f"adjusting, stage {len(stages) + 1} of {len(stages) + 1}")
        freed = _weighed(data, _settled(data, progress, free, settings.rounds, precisely=True), settings.rounds)
        nominal, found = camera.main_lens.focal_length, freed.estimate.camera.main_lens.focal_length
        if abs(found / nominal - 1) <= FOCAL_TRUSTED:
            progress = freed
        else:
            progress = progress._replace(iterations=freed.iterations)
            progress = _settled(data, progress, progress.names, settings.rounds, precisely=True)
            progress = _weighed(data, progress, settings.rounds)
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


def _freed_late(name: str) -> bool:
    return name.startswith(LAST_FREED) or is_optional(name)


class _Progress(NamedTuple):
    """An estimate, which parameters were free, how many iterations it took, and whether they converged."""

    estimate: Estimate
    names: tuple[str, ...] = ()
    iterations: int = 0
    converged: bool = True


def _settled(
    data: BoardObservations, progress: _Progress, names: tuple[str, ...], rounds: int, *, precisely: bool
) -> _Progress:
    """Update the weights and solve, in turn, until the scales of the residuals no longer change."""
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


def _weighed(data: BoardObservations, progress: _Progress, rounds: int) -> _Progress:
    """The solution with priors weighed against what the images really tell.

    Frames scatter more than their residuals do, by φ (`parameter_uncertainty`), which says how far their information is
    to be trusted. A prior is not part of that, so it counts φ times as much beside them.
    """
    if not any(name in data.priors for name in progress.names):
        return progress
    problem, _, _ = data.weighted(progress.estimate, progress.names)
    try:
        factor = uncertainty(problem, progress.estimate).scatter_factor
    except InputError:  # undetermined: the same error comes at the end, where it is said
        return progress
    if factor <= SCATTERED:
        return progress
    data.scatter_factor = factor
    return _settled(data, progress, progress.names, rounds, precisely=True)


def exchanged_types(start: PlenopticCamera, found: PlenopticCamera) -> list[str]:
    """A note where the order of the lens types by focal length differs from that of the start."""
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
