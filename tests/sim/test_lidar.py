from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.lidar import (
    LidarScan,
    LidarSettings,
    beam,
    extrinsic_targets,
    join_scans,
    lidar_for_scene,
    pose_beside_camera,
    scan_scene,
)
from plenodepth.sim.scenes.scene import Box, Checkerboard, Light, Material, Mesh, Rectangle, Scene, Sphere

WALL = Rectangle(1200, 900, Pose.from_euler_xyz([0.2, -0.3, 0.1], [50, 20, 1600]), name="wall")
BALL = Sphere(80, Pose.from_euler_xyz([0.5, 0.2, 0.1], [-60, 30, 1000]), name="ball")
CRATE = Box(np.array([120, 80, 60]), Pose.from_euler_xyz([0.4, 0.3, 0], [150, -50, 900]), name="crate")
BOARD = Checkerboard(5, 3, 40, Pose.from_euler_xyz([0.1, 0.2, 0], [-300, -200, 1200]), margin=10, name="board")
PYRAMID = Mesh(
    np.array([[-90, -90, 0], [90, -90, 0], [90, 90, 0], [-90, 90, 0], [0, 0, -120]]),
    np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]),
    Pose.from_euler_xyz([0, 0, 0.4], [200, 200, 1100]),
    name="pyramid",
)
ROOM = Scene((WALL, BALL, CRATE, BOARD, PYRAMID))


def camera_points(result: LidarScan, index: int) -> np.ndarray[Any, Any]:
    """Points (n, 3) of one object in the camera frame."""
    return result.cam_from_lidar(result.points[result.objects == index])


def distance_to(index: int, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Distance (n,) of camera points from the surface of an object of the room, worked out from its shape alone."""
    thing = ROOM.objects[index]
    p = thing.cam_from_object.inverse()(points)
    if isinstance(thing, Sphere):
        return np.abs(np.linalg.norm(p, axis=1) - thing.radius)
    if isinstance(thing, Box):
        return np.abs((np.abs(p) - thing.size / 2).max(axis=1))
    if isinstance(thing, Mesh):
        return np.abs(np.abs(p[:, :2]).max(axis=1) * 120 / 90 - 120 - p[:, 2]) * 90 / math.hypot(90, 120)
    return np.abs(p[:, 2])


@pytest.fixture(scope="module")
def exact() -> LidarScan:
    return scan_scene(ROOM, lidar_for_scene(ROOM, 60_000))


@pytest.mark.parametrize("index", range(5), ids=[thing.name for thing in ROOM.objects])
def test_in_the_camera_frame_points_lie_on_the_objects_that_were_hit(exact: LidarScan, index: int) -> None:
    points = camera_points(exact, index)
    assert len(points) > 300
    assert distance_to(index, points).max() < 2e-3


def test_the_window_around_a_scene_holds_all_of_it(exact: LidarScan) -> None:
    p = WALL.cam_from_object.inverse()(camera_points(exact, 0))
    spacing = 2000 * lidar_for_scene(ROOM, 60_000).spacing
    assert np.abs(p[:, 0]).max() > 600 - 1.5 * spacing
    assert np.abs(p[:, 1]).max() > 450 - 1.5 * spacing


def test_points_scatter_along_the_beam_by_the_range_noise(exact: LidarScan) -> None:
    settings = lidar_for_scene(ROOM, 60_000, range_sigma=3.0)
    noisy = scan_scene(ROOM, settings)
    np.testing.assert_array_equal(noisy.objects, exact.objects)
    ranges, true_ranges = (np.linalg.norm(s.points, axis=1) for s in (noisy, exact))
    error = ranges - true_ranges
    assert abs(error.mean()) < 5 * 3 / math.sqrt(len(error))
    assert error.std() == pytest.approx(3, rel=0.02)
    np.testing.assert_allclose(noisy.points / ranges[:, None], exact.points / true_ranges[:, None], atol=1e-12)


def test_the_plane_and_the_sphere_are_recovered_from_noisy_points() -> None:
    noisy = scan_scene(ROOM, lidar_for_scene(ROOM, 60_000, range_sigma=2.0))
    wall = camera_points(noisy, 0)
    normal = np.linalg.svd(wall - wall.mean(axis=0), full_matrices=False)[2][2]
    assert abs(normal @ WALL.cam_from_object.rotation[:, 2]) > 1 - 1e-7
    assert distance_to(0, wall).max() < 6 * 2.0
    # |p|² = 2 c · p + (r² − |c|²) is linear in the centre and the last term.
    ball = camera_points(noisy, 1)
    *center, rest = np.linalg.lstsq(np.column_stack([2 * ball, np.ones(len(ball))]), (ball**2).sum(axis=1), rcond=None)[
        0
    ]
    np.testing.assert_allclose(center, BALL.cam_from_object.translation, atol=2)
    assert math.sqrt(rest + np.dot(center, center)) == pytest.approx(80, abs=2)


def test_a_nearer_object_hides_the_farther_from_the_scanner_not_from_the_camera() -> None:
    pose = pose_beside_camera(ROOM)
    screen = Rectangle(400, 400, Pose(np.eye(3), [0, 0, 500]))
    wall = Rectangle(4000, 4000, Pose(np.eye(3), [0, 0, 1000]))
    for objects in ((screen, wall), (wall, screen)):
        result = scan_scene(Scene(objects), lidar_for_scene(Scene(objects), 40_000, cam_from_lidar=pose))
        hidden = camera_points(result, objects.index(wall))
        # Where the line from the scanner to a point of the wall crosses the screen's plane.
        origin = pose.translation
        crossing = origin + (hidden - origin) * (500 - origin[2]) / (1000 - origin[2])
        assert (np.abs(crossing[:, :2]).max(axis=1) > 200 - 1e-2).all()
        # The shadow lies where the scanner's place puts it: to the right of the camera's own.
        p = hidden[np.abs(hidden[:, 1] - 100) < 100]
        right = p[p[:, 0] > 0]
        assert right[:, 0].min() == pytest.approx(700, abs=20)
        assert (result.objects == objects.index(screen)).sum() > 1000


def test_points_are_in_the_scanners_own_frame_x_forwards_y_left_z_up() -> None:
    # A scanner at the camera's place, upright: its x is the camera's z, its y the camera's −x, its z the camera's −y.
    pose = Pose(np.array([[0, -1, 0], [0, 0, -1], [1, 0, 0]]), np.zeros(3))
    dot = Scene((Sphere(5, Pose(np.eye(3), [-100, -50, 1000])),))  # to the left and above
    azimuth, elevation = math.atan2(100, 1000), math.atan2(50, math.hypot(1000, 100))
    window = {"azimuth": (azimuth - 0.01, azimuth + 0.01), "elevation": (elevation - 0.01, elevation + 0.01)}
    result = scan_scene(dot, LidarSettings(pose, **window, step=1e-3))
    np.testing.assert_allclose(result.points.mean(axis=0), [1000, 100, 50], atol=6)
    np.testing.assert_allclose(beam(math.pi / 2, 0), [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(beam(0.3, math.pi / 2), [0, 0, 1], atol=1e-15)


def test_the_scanner_beside_the_camera_is_upright_and_faces_the_scene() -> None:
    pose = pose_beside_camera(ROOM)
    np.testing.assert_allclose(pose.translation, [-300, -100, 0])
    forward, left, up = pose.rotation.T
    assert forward[2] > 0.9
    assert left[0] < -0.9
    assert left[1] == pytest.approx(0, abs=1e-12)
    assert up[1] < -0.9


def test_a_step_gives_beams_that_far_apart() -> None:
    settings = replace(lidar_for_scene(ROOM), points=None, step=0.01, azimuth=(-0.2, 0.2), elevation=(-0.1, 0.1))
    assert settings.beams == (40, 20)
    wall = Scene((Rectangle(9000, 9000, Pose(np.eye(3), [0, 0, 1500])),))
    p = scan_scene(wall, settings).points.reshape(20, 40, 3)
    directions = p / np.linalg.norm(p, axis=2, keepdims=True)
    along = np.arccos((directions[1:] * directions[:-1]).sum(axis=2))
    np.testing.assert_allclose(along, 0.01, rtol=1e-5)


def test_colours_and_intensity_tell_reflectance_and_incidence() -> None:
    material = Material(color=(1.0, 0.5, 0.25))
    pose = Pose.from_euler_xyz([0, math.pi / 3, 0], [0, 0, 1000])
    lamp = Light(0.5, direction=pose.rotation @ [0, 1, -1])  # at 45° to the normal
    scene = Scene((Rectangle(50, 50, pose, material),), lights=(lamp,), ambient=0.2)
    forwards = Pose(np.array([[0, -1, 0], [0, 0, -1], [1, 0, 0]]), np.zeros(3))
    result = scan_scene(scene, lidar_for_scene(scene, 1000, cam_from_lidar=forwards))
    light = 0.2 + 0.5 * math.cos(math.pi / 4)
    assert (np.abs(result.colors - 255 * light * np.array(material.color)) <= 0.51).all()
    reflectance = np.dot([0.299, 0.587, 0.114], material.color)
    # The rectangle is seen under a few degrees about 60°.
    assert result.intensity.mean() == pytest.approx(reflectance * math.cos(math.pi / 3), rel=0.01)


def test_a_lamp_near_the_scene_stays_where_it_is() -> None:
    lamp = Light(1, position=np.array([200.0, 0, 900]))
    scene = Scene((Rectangle(800, 800, Pose(np.eye(3), [0, 0, 1000])),), lights=(lamp,), ambient=0)
    result = scan_scene(scene, lidar_for_scene(scene, 40_000))
    brightest = camera_points(result, 0)[result.colors[:, 0] >= result.colors.max()]
    np.testing.assert_allclose(brightest.mean(axis=0), [200, 0, 1000], atol=5)


def test_the_same_seed_gives_the_same_points_and_another_one_others() -> None:
    one, same, other = (scan_scene(ROOM, lidar_for_scene(ROOM, 2000, range_sigma=1, seed=seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.points, same.points)
    assert (one.points != other.points).any()


def test_objects_behind_the_scanner_are_not_seen_and_the_rest_keeps_its_index() -> None:
    pose = Pose(np.array([[0, -1, 0], [0, 0, -1], [1, 0, 0]]), np.array([0, 0, 1300.0]))  # between ball and wall
    result = scan_scene(Scene((BALL, WALL)), lidar_for_scene(Scene((BALL, WALL)), 5000, cam_from_lidar=pose))
    assert set(result.objects) == {1}
    assert distance_to(0, camera_points(result, 1)).max() < 2e-3


def test_a_scanner_that_sees_nothing_says_so() -> None:
    away = Pose(np.array([[0, 1, 0], [0, 0, -1], [-1, 0, 0]]), np.zeros(3))  # looks to the back of the camera
    window = {"azimuth": (-0.5, 0.5), "elevation": (-0.5, 0.5), "points": 100}
    with pytest.raises(InputError, match=r"^lidar: the scene is behind the scanner"):
        scan_scene(ROOM, LidarSettings(away, **window))
    with pytest.raises(InputError, match=r"^lidar: the scene is behind the scanner"):
        lidar_for_scene(ROOM, cam_from_lidar=away)
    upwards = window | {"elevation": (0.4, 0.5)}
    with pytest.raises(InputError, match=r"^lidar: no beam meets an object"):
        scan_scene(Scene((BALL,)), LidarSettings(pose_beside_camera(ROOM), **upwards))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"azimuth": (0.2, 0.1)}, "azimuth: reaches from 0.2 to 0.1 rad"),
        ({"azimuth": (0.0, np.nan)}, "azimuth: holds a number that is not finite"),
        ({"elevation": (-2.0, 0.0)}, "elevation: reaches from -2 to 0 rad"),
        ({"azimuth": (-1.5, 1.5)}, "azimuth, elevation: reaches 86° from its middle"),
        ({"points": None}, "step, points: needs either"),
        ({"step": 0.1}, "step, points: needs either"),
        ({"points": None, "step": -0.1}, "step: is -0.1"),
        ({"points": 0}, "points: is "),
        ({"points": None, "step": 1e-6}, "step, points: asks for"),
        ({"range_sigma": -1.0}, "range_sigma: is -1.0"),
        ({"seed": -1}, "seed: is -1"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {"azimuth": (-0.5, 0.5), "elevation": (-0.3, 0.3), "points": 100}
    with pytest.raises(InputError, match=f"^{message}"):
        LidarSettings(Pose.identity(), **(fields | changes))


def test_the_corners_of_all_boards_are_targets_in_both_frames() -> None:
    second = replace(BOARD, columns=2, rows=2, cam_from_object=Pose(np.eye(3), [0, 0, 800]), name="second")
    pose = pose_beside_camera(ROOM)
    targets = extrinsic_targets(Scene((BOARD, WALL, second)), pose)
    assert targets.boards == ("board",) * 15 + ("second",) * 4
    np.testing.assert_allclose(targets.camera[15:], [[0, 0, 800], [40, 0, 800], [0, 40, 800], [40, 40, 800]])
    np.testing.assert_allclose(pose(targets.lidar), targets.camera, atol=1e-9)
    noisy = extrinsic_targets(Scene((BOARD,)), pose, sigma=0.5, seed=1)
    np.testing.assert_array_equal(noisy.camera, targets.camera[:15])
    assert 0.3 < (noisy.lidar - targets.lidar[:15]).std() < 0.7


def test_targets_need_a_board() -> None:
    with pytest.raises(InputError, match=r"^scene\.objects: holds no checkerboard"):
        extrinsic_targets(Scene((WALL,)), Pose.identity())


def test_scans_of_several_stations_are_one_cloud_in_the_frame_of_the_first() -> None:
    poses = [pose_beside_camera(ROOM, place) for place in ((-300.0, -100.0, 0.0), (300.0, -100.0, 0.0))]
    scans = [scan_scene(ROOM, lidar_for_scene(ROOM, 2000, cam_from_lidar=pose)) for pose in poses]
    both = join_scans(scans)
    assert len(both.points) == len(both.colors) == len(both.objects) == sum(len(one.points) for one in scans)
    in_camera = both.cam_from_lidar(both.points)
    expected = np.concatenate([one.cam_from_lidar(one.points) for one in scans])
    np.testing.assert_allclose(in_camera, expected, atol=1e-9)
