"""Where boards stand, to begin with: each cluster seen through the main lens' centre as by a pinhole."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from plenodepth.calib.bundle.corner_depth import Clusters
from plenodepth.calib.features import Board
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.geometry import Pose

LEAST_CORNERS = 4
BoardView = tuple[int, int]  # frame, board


def pinhole_poses(
    clusters: Clusters, boards: Mapping[int, Board] | Board, camera: PlenopticCamera
) -> dict[BoardView, list[Pose]]:
    """cam_from_board of each board in each frame: two candidates, the likelier first; none where corners are too few.

    A plane seen from afar looks nearly the same tilted either way, so that both must be tried.
    """
    poses: dict[BoardView, list[Pose]] = {}
    focal = -camera.sensor.position[2] / camera.sensor.pixel_size
    u0, v0 = camera.sensor.principal_point
    matrix = np.array([[focal, 0, u0], [0, focal, v0], [0, 0, 1]])
    for frame, board in np.unique(np.stack([clusters.frame, clusters.board], axis=1), axis=0).tolist():
        mine = (clusters.frame == frame) & (clusters.board == board)
        kind = boards if isinstance(boards, Board) else boards[board]
        points = kind.points(clusters.corner[mine])
        if mine.sum() < LEAST_CORNERS or np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-6) < 2:
            continue
        poses[frame, board] = _candidates(points, clusters.uv[mine], matrix)
    return poses


def _candidates(points: Array, uv: Array, matrix: Array) -> list[Pose]:
    # IPPE wants the points about its frame's origin.
    middle = points.mean(axis=0)
    count, turns, shifts, _ = cv2.solvePnPGeneric(
        (points - middle)[:, None], uv[:, None], matrix, None, flags=cv2.SOLVEPNP_IPPE
    )
    poses = []
    for turn, shift in zip(turns[:count], shifts[:count], strict=True):
        pose = Pose.from_rotation_vector(turn.ravel(), shift.ravel())
        if np.isfinite(pose.translation).all() and pose(np.zeros(3))[2] > 0:
            poses.append(pose @ Pose(np.eye(3), -middle))
    return poses
