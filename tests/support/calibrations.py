"""Calibrations made up from a known camera: what its lenses see of boards, with noise, and the fit at the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from plenodepth.calib.advice.summary import CalibrationRun
from plenodepth.calib.bundle.adjustment import Adjustment
from plenodepth.calib.bundle.observations import Fit
from plenodepth.calib.bundle.parameter_uncertainty import uncertainty
from plenodepth.calib.bundle.problem import Estimate, Problem, Weighted, WeightedCenters
from plenodepth.calib.bundle.residuals import Seen, center_residuals, feature_residuals
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.weights import Scales
from plenodepth.calib.features import Board, BoardView, Centers, Features
from plenodepth.camera import PlenopticCamera, lens_distances, preset, project
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.camera.projection import lenses_that_see
from plenodepth.geometry import Pose

BOARD = Board(5, 4, 10.0)
NOISE = 0.1  # px


def facing(
    board: Board, distance: float, tilt: Sequence[float] = (0.0, 0.0), shift: Sequence[float] = (0.0, 0.0)
) -> Pose:
    """A board whose middle is `distance` mm before the camera, tilted about x and y by rad and shifted by mm."""
    turn = Pose.from_rotation_vector([*tilt, 0.0])
    middle = board.points(np.arange(board.corner_count)).mean(axis=0)
    return Pose(turn.rotation, np.array([*shift, distance]) - turn(middle))


def usual_poses(board: Board = BOARD) -> dict[BoardView, Pose]:
    """Boards all over r12-mini's range, tilted both ways."""
    near, far = 1 / 420, 1 / 1900
    rng = np.random.default_rng(5)
    return {
        (frame, 0): facing(board, 1 / share, rng.uniform(-0.6, 0.6, 2))
        for frame, share in enumerate(np.linspace(near, far, 10))
    }


def features_of(camera: PlenopticCamera, board: Board, poses: Mapping[BoardView, Pose], seed: int = 1) -> Features:
    rng = np.random.default_rng(seed)
    parts = []
    for (frame, number), pose in poses.items():
        points = pose(board.points(np.arange(board.corner_count)))
        corner, k, l = lenses_that_see(points, camera)
        seen = project(points[corner], k, l, camera)
        n = len(corner)
        parts.append(
            Features(
                np.full(n, frame),
                k,
                l,
                seen.uv + rng.normal(0, NOISE, (n, 2)),
                np.broadcast_to(NOISE**2 * np.eye(2), (n, 2, 2)),
                seen.rho + rng.normal(0, NOISE, n),
                np.full(n, NOISE),
                corner,
                corner,
                np.full(n, number),
            )
        )
    return Features.joined(parts)


def centers_of(camera: PlenopticCamera, seed: int = 2) -> Centers:
    lattice = camera.micro_images.lattice
    l, k = (index.ravel() for index in np.indices((lattice.rows, lattice.columns)))
    noise = np.random.default_rng(seed).normal(0, NOISE, (len(k), 2))
    return Centers(k, l, predicted_center(k, l, camera) + noise, np.broadcast_to(NOISE**2 * np.eye(2), (len(k), 2, 2)))


def fitted_at_truth(
    camera: PlenopticCamera | None = None,
    poses: Mapping[BoardView, Pose] | None = None,
    board: Board = BOARD,
    *,
    with_centers: bool = True,
) -> Adjustment:
    """An adjustment that found the truth: residuals are the noise."""
    camera = camera or preset("r12-mini")
    poses = poses or usual_poses(board)
    features = features_of(camera, board, poses)
    views, residuals = {}, []
    for view, pose in poses.items():
        mine = features.where((features.frame == view[0]) & (features.board == view[1]))
        seen = Seen(board.points(mine.corner), mine.k, mine.l, mine.uv, mine.rho)
        views[view] = Weighted(seen, np.broadcast_to(np.eye(3) / NOISE, (len(mine), 3, 3)))
        values = feature_residuals(seen, pose, camera, aperture=False, derivatives=False).values
        values[np.isnan(seen.rho), 2] = np.nan
        residuals.append(values)
    centers = centers_of(camera) if with_centers else None
    of_centers = np.zeros((0, 2)) if centers is None else center_residuals(centers, camera, derivatives=False)[0]
    weighted = None
    if centers is not None:
        weighted = WeightedCenters(centers, np.broadcast_to(np.eye(2) / NOISE, (len(centers), 2, 2)))
    free = range(len(intrinsic_names(camera)) - 1)  # the pixel size is held
    fit = Fit(
        features, np.concatenate(residuals), np.ones(len(features)), centers, of_centers, np.ones(len(of_centers))
    )
    problem = Problem(views, weighted, (), free, False)
    return Adjustment(Estimate(camera, poses), problem, fit, Scales(), {}, 12, True, 0.5, ("a note",))


def share_of_distances(camera: PlenopticCamera) -> float:
    """d/D."""
    main, sensor = lens_distances(camera)
    return float(sensor / main)


@cache
def calibration_run() -> CalibrationRun:
    """A calibration of r12-mini with its uncertainty and a note whose characters HTML must escape."""
    adjustment = fitted_at_truth()
    known = uncertainty(adjustment.problem, adjustment.estimate)
    return CalibrationRun(adjustment, AdjustSettings(), BOARD, known, preset("r12-mini"), notes=("5 < 6 & so on",))
