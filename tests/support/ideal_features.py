"""Features of known boards by the camera model itself, with noise: quick, and free of the errors of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plenodepth.calib.features import Board, Centers, Features
from plenodepth.calib.whites.start_camera import Optics, initial_camera
from plenodepth.camera import PlenopticCamera, preset, project
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.presets import shrunk
from plenodepth.camera.projection import lenses_that_see
from plenodepth.geometry import Pose

SIGMA, RHO_SIGMA, CENTER_SIGMA = 0.1, 0.2, 0.02  # px
MARGIN, MOST_BLUR = 2.5, 4.0  # px, of micro-images and corners that show
BOARD = Board(9, 5, 3.0)
MIDDLE = np.array([12.0, 6.0, 0.0])


def small_camera(name: str = "r12-a") -> PlenopticCamera:
    """A camera of 64 × 48 lenses, with its distortion made visible on so small a sensor."""
    return replace(shrunk(preset(name), 64, 48), depth_scale=None)


def nominal(camera: PlenopticCamera, focal_length: float = 50.0) -> PlenopticCamera:
    """The camera that a calibration of it starts from."""
    sensor = camera.sensor
    optics = Optics(
        focal_length,
        camera.main_lens.f_number or 4.0,
        camera.focus_distance or np.inf,
        sensor.pixel_size,
        sensor.width,
        sensor.height,
    )
    return initial_camera(optics, camera.micro_images, camera.white_radius, type_count=camera.type_count)


def spread_poses(
    count: int = 10, *, near: float = 265.0, far: float = 355.0, tilt: float = 0.4, seed: int = 0
) -> list[Pose]:
    """Boards at many distances, tilted this way and that, about the middle of the view."""
    generator = np.random.default_rng(seed)
    poses = []
    for depth in 1 / np.linspace(1 / far, 1 / near, count):
        rotation = Pose.from_rotation_vector(generator.uniform(-tilt, tilt, 3) * [1, 1, 0.3]).rotation
        middle = [*generator.uniform(-4, 4, 2), depth]
        poses.append(Pose(rotation, middle - rotation @ MIDDLE))
    return poses


def ideal_features(
    camera: PlenopticCamera,
    poses: Sequence[Pose],
    board: Board = BOARD,
    *,
    apparent: bool = True,
    sigma: float = SIGMA,
    seed: int = 1,
) -> Features:
    """All views of the boards' corners, displaced by noise of the stated standard deviation."""
    generator = np.random.default_rng(seed)
    parts = []
    for frame, pose in enumerate(poses):
        points = pose(board.points(np.arange(board.corner_count)))
        point, k, l = lenses_that_see(points, camera, margin=MARGIN)
        seen, thin = project(points[point], k, l, camera, apparent=apparent), project(points[point], k, l, camera)
        offset = np.linalg.norm(seen.uv - camera.micro_images.center(k, l), axis=1)
        shown = (offset < camera.micro_images.radius - MARGIN) & ~(np.abs(thin.rho) > MOST_BLUR)
        count = int(shown.sum())
        parts.append(
            Features(
                frame=np.full(count, frame),
                k=k[shown],
                l=l[shown],
                uv=seen.uv[shown] + generator.normal(0, sigma, (count, 2)),
                covariance=np.broadcast_to(max(sigma, 1e-3) ** 2 * np.eye(2), (count, 2, 2)).copy(),
                rho=thin.rho[shown] + generator.normal(0, RHO_SIGMA, count),
                rho_sigma=np.full(count, RHO_SIGMA),
                cluster=point[shown],
                corner=point[shown],
                board=np.zeros(count, dtype=np.int64),
            )
        )
    return Features.joined(parts)


def ideal_centers(camera: PlenopticCamera, seed: int = 2) -> Centers:
    """Micro-image centres with noise."""
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    uv = predicted_center(k, l, camera) + np.random.default_rng(seed).normal(0, CENTER_SIGMA, (len(k), 2))
    return Centers(k, l, uv, np.broadcast_to(CENTER_SIGMA**2 * np.eye(2), (len(k), 2, 2)).copy())
