"""Targets are found in a simulated scan to parts of a millimetre."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.calib.lidar.scan_targets import find_lidar_targets
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.lidar import LidarScan, extrinsic_targets, lidar_for_scene, scan_scene
from plenodepth.sim.scenes.scene import Checkerboard, Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image


def target(place: tuple[float, float, float], turn: tuple[float, float, float], square: float = 40.0) -> Checkerboard:
    pose = Pose(Pose.from_rotation_vector(turn).rotation, np.array(place))
    return Checkerboard(1, 1, square, pose, margin=square / 4, emits=False)


def scene() -> Scene:
    wall = Rectangle(
        700, 500, Pose(np.eye(3), np.array([0.0, 0.0, 1200.0])), Material(texture=noise_image(200, 150, seed=2))
    )
    targets = (target((-120, -80, 900), (0.2, -0.3, 0.4)), target((130, 60, 1000), (-0.3, 0.2, -0.7), 60.0))
    return Scene((*targets, wall), ambient=0.6)


def scanned(sigma: float, points: int = 40_000) -> tuple[LidarScan, np.ndarray]:
    settings = lidar_for_scene(scene(), points, range_sigma=sigma, seed=3)
    return scan_scene(scene(), settings), extrinsic_targets(scene(), settings.cam_from_lidar).lidar


@pytest.mark.parametrize("sigma", [0.0, 1.0])
@pytest.mark.parametrize("turned", [False, True])
def test_targets_are_found_to_parts_of_a_millimetre(sigma: float, turned: bool) -> None:
    result, true = scanned(sigma)
    other = Pose.from_rotation_vector([1.0, 2.0, -0.5], [5000.0, -300.0, 20.0]) if turned else Pose.identity()
    found = find_lidar_targets(other(result.points), result.intensity)
    distance = np.linalg.norm(found.points[:, None] - other(true)[None], axis=2)
    nearest = distance.argmin(axis=0)
    assert (distance.min(axis=0) < 0.5).all()
    assert (distance.min(axis=0) < 5 * found.sigma[nearest]).all()
    # They are told better than what the wall's texture may have made look alike.
    assert set(nearest.tolist()) == {0, 1}


def test_a_wall_alone_and_few_points_have_no_sure_target() -> None:
    result, _ = scanned(0.0)
    wall = result.objects == 2
    found = find_lidar_targets(result.points[wall], result.intensity[wall])
    assert not (found.explained > 0.9).any()
    assert len(find_lidar_targets(result.points[:20], result.intensity[:20])) == 0
    assert len(find_lidar_targets(result.points, np.ones(len(result.points)))) == 0


def test_brightness_of_other_points_is_refused() -> None:
    with pytest.raises(InputError, match="cloud"):
        find_lidar_targets(np.zeros((5, 3)), np.zeros(4))
