"""cam_from_lidar of the simulated calibration scene of R12-ELP20: five targets."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from plenodepth.calib.features import Features
from plenodepth.calib.lidar.pose import LidarPose, find_lidar_pose
from plenodepth.camera import PlenopticCamera, project
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.lidar import extrinsic_targets, pose_beside_camera
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.scenes.twins import twin
from plenodepth.sim.truth import board_features

NOISE = 0.3  # px
TURNS = {
    "beside the camera": None,
    "upside down": Pose.from_rotation_vector([0.1, 3.0, 0.2], [250.0, 80.0, -900.0]),
    "behind the targets": Pose.from_rotation_vector([0.3, -1.2, 2.0], [-200.0, 400.0, 2500.0]),
}


@cache
def scene() -> tuple[PlenopticCamera, Scene]:
    plan = twin("r12-elp20")
    planned = next(frame for frame in plan.frames if frame.folder == "scenes/calib")
    assert planned.scene is not None
    return replace(plan.camera, depth_scale=None), planned.scene()


def features(*, apparent: bool = False, noise: float = NOISE, seed: int = 0) -> Features:
    camera, targets = scene()
    generator = np.random.default_rng(seed)
    table = board_features(targets, camera)
    k, l, cluster = (table[name].astype(np.int64) for name in ("k", "l", "cluster"))
    points = extrinsic_targets(targets, Pose.identity()).camera[cluster]
    seen = project(points, k, l, camera, apparent=apparent)
    count, zero = len(k), np.zeros(len(k), dtype=np.int64)
    made = Features(
        frame=zero,
        k=k,
        l=l,
        uv=seen.uv + generator.normal(0, noise, (count, 2)),
        covariance=np.broadcast_to(0.3**2 * np.eye(2), (count, 2, 2)),
        rho=seen.rho + generator.normal(0, noise, count),
        rho_sigma=np.full(count, 0.3),
        cluster=cluster,
        corner=zero,
        board=zero,
    )
    return made.where(np.isfinite(seen.uv).all(axis=1))  # some would appear where no light falls


def true_pose(place: str) -> Pose:
    pose = TURNS[place]
    return pose_beside_camera(scene()[1]) if pose is None else pose


def targets(place: str, sigma: float = 0.0, seed: int = 0) -> np.ndarray:
    return extrinsic_targets(scene()[1], true_pose(place), sigma=sigma, seed=seed).lidar


def missed(found: Pose, true: Pose) -> tuple[float, float]:
    """Distance of the scanner's places, mm, and the angle between its directions, rad."""
    turn = found.rotation.T @ true.rotation
    angle = np.arcsin(min(1.0, np.linalg.norm(turn - turn.T) / np.sqrt(8)))
    return float(np.linalg.norm(found.translation - true.translation)), float(angle)


def middle_missed(found: Pose, true: Pose, points: np.ndarray) -> float:
    """How far apart the two poses put the targets, mm."""
    return float(np.linalg.norm(found(points) - true(points), axis=1).max())


@pytest.mark.parametrize("place", TURNS)
@pytest.mark.parametrize("apparent", [False, True])
def test_the_scanner_is_found_however_it_is_turned(place: str, apparent: bool) -> None:
    found = find_lidar_pose(targets(place), features(apparent=apparent), scene()[0], aperture=apparent)
    distance, angle = missed(found.cam_from_lidar, true_pose(place))
    assert distance < 0.5
    assert angle < 0.5e-3
    assert found.rmse == pytest.approx(NOISE * np.sqrt(2), rel=0.1)


def test_exact_features_give_the_exact_pose() -> None:
    found = find_lidar_pose(targets("beside the camera"), features(apparent=True, noise=0.0), scene()[0], aperture=True)
    distance, angle = missed(found.cam_from_lidar, true_pose("beside the camera"))
    assert distance < 0.01
    assert angle < 1e-5


def step_between(found: LidarPose, true: Pose) -> np.ndarray:
    turn = found.cam_from_lidar.rotation.T @ true.rotation
    vector = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    return np.concatenate([vector, true.translation - found.cam_from_lidar.translation])


@pytest.mark.parametrize("sigma", [0.0, 1.0])
def test_the_covariance_is_that_of_repeated_scans(sigma: float) -> None:
    """Squared errors in units of the covariance, of six unknowns, over 20 draws."""
    squares = []
    for seed in range(20):
        found = find_lidar_pose(
            targets("beside the camera", sigma, seed),
            features(seed=seed),
            scene()[0],
            aperture=False,
            target_sigma=sigma,
        )
        step = step_between(found, true_pose("beside the camera"))
        squares.append(step @ np.linalg.solve(found.covariance, step))
    assert 3.5 < np.mean(squares) < 9.5


def test_wrong_features_do_no_harm() -> None:
    seen = features()
    wrong = np.random.default_rng(3).random(len(seen)) < 0.2
    seen = replace(seen, uv=np.where(wrong[:, None], seen.uv + [5.0, -4.0], seen.uv))
    found = find_lidar_pose(targets("beside the camera"), seen, scene()[0], aperture=False)
    distance, angle = missed(found.cam_from_lidar, true_pose("beside the camera"))
    assert distance < 0.7
    assert angle < 0.7e-3
    order = np.argsort(seen.cluster, kind="stable")
    assert (found.weights[wrong[order]] < 0.5).mean() > 0.95


def test_four_targets_and_no_blur_are_enough() -> None:
    seen = features()
    seen = seen.where(seen.cluster != 2)
    seen = replace(seen, rho=np.full(len(seen), np.nan), rho_sigma=np.full(len(seen), np.nan))
    found = find_lidar_pose(targets("upside down"), seen, scene()[0], aperture=False)
    assert middle_missed(found.cam_from_lidar, true_pose("upside down"), targets("upside down")) < 1.0


def test_targets_in_another_order_are_refused() -> None:
    with pytest.raises(InputError, match="targets"):
        find_lidar_pose(targets("upside down")[[1, 0, 2, 4, 3]], features(), scene()[0], aperture=False)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((5, 2)), "shape"),
        (np.arange(15.0).reshape(5, 3), "straight line"),
        (np.eye(3), "needs 4"),
        (np.full((5, 3), np.nan), "finite"),
    ],
)
def test_impossible_targets_are_refused(points: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_lidar_pose(points, features(), scene()[0], aperture=False)
