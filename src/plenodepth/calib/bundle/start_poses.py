"""Where boards stand, to begin with: from where the views of each corner put it.

Lens (k, l), whose micro-image has the centre c, sees a point at virtual depth v at uv with
    uv − c = g (w − c),     g = (1 − λ) + λ/v
(the disparity of `camera.disparity`), where w is the pixel that the ray through the exit pupil's middle reaches. So
the views of a corner lie on a straight line in c, of one slope for both axes, and w is where the line crosses zero. By
v it tells where the corner's image stands, and so which pixel the ray through the main lens' centre reaches. These
pixels of all corners together are what a pinhole camera there would see of the board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import cv2
import numpy as np

from plenodepth.calib.features import Board, BoardView, Features
from plenodepth.camera.micro_lenses import lens_distances, pitch_ratio
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.geometry import Pose

LEAST_VIEWS = 3
ITERATIONS = 12  # of the robust fit
OUTLYING = 2.5  # robust standard deviations
LEAST_CORNERS = 4


class CornerDepths(NamedTuple):
    """m clusters: corners of boards in frames, sorted by frame, board and corner."""

    frame: Indices  # (m,)
    board: Indices  # (m,)
    corner: Indices  # (m,)
    uv: Array  # (m, 2) px: where the ray through the main lens' centre meets the image
    virtual_depth: Array  # (m,) NaN where too few views tell
    views: Indices  # (m,)


def corner_depths(features: Features, camera: PlenopticCamera) -> CornerDepths:
    """One row for each corner of a board in a frame; features without a corner are left out."""
    assigned = features.where(features.corner >= 0)
    keys = np.stack([assigned.frame, assigned.board, assigned.corner], axis=1)
    unique, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    count = len(unique)
    center = camera.micro_images.center(assigned.k, assigned.l)
    offset = assigned.uv - center
    weight = np.ones(len(assigned))
    mean = middle = np.zeros((count, 2))
    gain = np.zeros(count)
    for _ in range(ITERATIONS):
        mean, middle, gain = _lines(center, offset, weight, group, count)
        missed = offset - mean[group] + gain[group, None] * (center - middle[group])
        distance = np.hypot(missed[:, 0], missed[:, 1])
        spread = OUTLYING * max(1.48 * float(np.median(distance)), 1e-6)
        weight = 1 / (1 + (distance / spread) ** 2) ** 2
    views = np.bincount(group, minlength=count)
    ratio = float(pitch_ratio(camera))
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = ratio / (gain - (1 - ratio))
        crossing = _from_main_lens(middle + mean / gain[:, None], depth, camera)
    known = (views >= LEAST_VIEWS) & np.isfinite(crossing).all(axis=1)
    # Too few views for a line: their mean stands for the corner.
    uv = np.where(known[:, None], crossing, mean + middle)
    frame, board, corner = unique.T
    return CornerDepths(frame, board, corner, uv, np.where(known, depth, np.nan), views)


def _from_main_lens(uv: Array, virtual_depth: Array, camera: PlenopticCamera) -> Array:
    """Pixels (m, 2) as the main lens' centre sees what its exit pupil sees at `uv` (m, 2) and virtual depths (m,)."""
    pupil, sensor = camera.main_lens.pupil_center, camera.sensor
    if not pupil.any():
        return uv
    main, to_sensor = lens_distances(camera)
    depth = -(main + virtual_depth * to_sensor)[:, None]
    on_sensor = sensor.metric_from_image(uv)
    image = pupil[:2] + (on_sensor - pupil[:2]) * ((depth - pupil[2]) / (sensor.position[2] - pupil[2]))
    return sensor.image_from_metric(image * (sensor.position[2] / depth))


def _lines(center: Array, offset: Array, weight: Array, group: Indices, count: int) -> tuple[Array, Array, Array]:
    """Weighted means of the offsets and centres, (m, 2) each, and the gains g (m,) of the lines through them."""
    total = np.maximum(np.bincount(group, weight, count), 1e-12)

    def mean_of(values: Array) -> Array:
        return np.stack([np.bincount(group, weight * axis, count) for axis in values.T], axis=1) / total[:, None]

    mean, middle = mean_of(offset), mean_of(center)
    away, shift = center - middle[group], offset - mean[group]
    products = np.bincount(group, weight * (away * shift).sum(axis=1), count)
    squares = np.bincount(group, weight * (away**2).sum(axis=1), count)
    return mean, middle, -products / np.maximum(squares, 1e-12)


def pinhole_poses(
    clusters: CornerDepths, boards: Mapping[int, Board] | Board, camera: PlenopticCamera
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
