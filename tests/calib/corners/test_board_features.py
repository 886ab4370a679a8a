"""Corners of boards are found in simulated raw images: the right ones, in nearly all micro-images that show them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from plenodepth.calib.corners.board_features import FrameFeatures, find_features
from plenodepth.calib.features import Board, Features
from plenodepth.camera import PlenopticCamera, load_camera, metric_from_virtual, preset, project
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.raw.load import clean_image, load_raw
from plenodepth.sim.rays import ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Checkerboard, Material, Rectangle, Scene, SceneObject
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.scenes.twins import view_center, view_size
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

BOARD = Board(5, 4, 1.0)  # corners; the square is that of each scene


@cache
def camera() -> PlenopticCamera:
    return replace(shrunk(preset("r12-a"), 40, 34), depth_scale=None)


def exposed(scene: Scene, seed: int) -> NDArray[Any]:
    settings = RenderSettings(rays=32, seed=seed)
    setup = ray_setup(camera(), *scene_depths(scene, camera().main_lens.focal_length))
    return expose(render(scene, camera(), settings, setup=setup).light, SensorSettings(seed=seed), setup.owner)


@cache
def white_image() -> NDArray[Any]:
    return exposed(white_scene(camera()), 1)


def gray_image(*things: SceneObject) -> NDArray[np.float32]:
    image = exposed(Scene(things, ambient=1.0), 2)
    return clean_image(image, camera(), white=white_image()).gray


def depth_at(virtual_depth: float) -> float:
    return float(metric_from_virtual([virtual_depth], camera())[0])


def board(
    virtual_depth: float = 5.0, turn: Any = (0.2, -0.15, 0.1), shift: Any = (0.0, 0.0), size: float = 0.6
) -> Checkerboard:
    """A board about the middle of the view, its corners over `size` of the view's width."""
    depth = depth_at(virtual_depth)
    width, height = view_size(depth, camera())
    square = size * width / (BOARD.columns - 1)
    rotation = Pose.from_rotation_vector(turn).rotation
    half = square * np.array([BOARD.columns - 1, BOARD.rows - 1, 0]) / 2
    middle = view_center(depth, camera()) + [shift[0] * width, shift[1] * height, 0]
    return Checkerboard(BOARD.columns, BOARD.rows, square, Pose(rotation, middle - rotation @ half), margin=square / 2)


def found(*things: SceneObject, with_camera: bool = True) -> FrameFeatures:
    known = camera() if with_camera else None
    return find_features(gray_image(*things), camera().micro_images, BOARD, camera=known)


class Truth:
    """Where the corners of a board appear, in all micro-images that show them at least `margin` px inside."""

    def __init__(self, thing: Checkerboard, margin: float = 2.5) -> None:
        points = thing.cam_from_object(thing.corners())
        k, l = (index.reshape(-1, 1) for index in camera().micro_images.lattice.indices())
        seen = project(points[None], k, l, camera(), apparent=True, margin=margin)
        thin = project(points[None], k, l, camera())
        lens, self.corner = np.nonzero(seen.visible)
        self.k, self.l = k[lens, 0], l[lens, 0]
        self.uv, self.rho = seen.uv[seen.visible], thin.rho[seen.visible]

    def matched(self, features: Features) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For each feature the nearest true corner of its micro-image, and whether it lies within 1.5 px."""
        tree = cKDTree(np.column_stack([self.uv, 1e3 * self.k, 1e3 * self.l]))
        distance, row = tree.query(np.column_stack([features.uv, 1e3 * features.k, 1e3 * features.l]))
        return np.minimum(row, len(self.k) - 1), distance < 1.5


def assert_found(result: FrameFeatures, thing: Checkerboard, *, recall: float = 0.9) -> Features:
    """Nearly all features are true and nearly all sharp views are found; they are returned."""
    features = result.features
    everything = Truth(thing, margin=0.0)
    _, true = everything.matched(features)
    assert true.mean() >= 0.99
    wanted = Truth(thing)
    row, true = wanted.matched(features)
    hit = np.zeros(len(wanted.k), dtype=np.bool_)
    hit[row[true]] = True
    assert hit[np.abs(wanted.rho) <= 4].mean() >= recall
    return features


def assert_numbered(features: Features, thing: Checkerboard, *, turned: bool = False) -> None:
    """Each feature has its corner's number, or that of the board turned by half."""
    truth = Truth(thing, margin=0.0)
    row, true = truth.matched(features)
    number = truth.corner[row]
    expected = BOARD.corner_count - 1 - number if turned else number
    np.testing.assert_array_equal(features.corner[true], expected[true])


def test_board_in_the_middle_is_found_whole_and_numbered() -> None:
    thing = board()
    result = found(thing)
    features = assert_found(result, thing, recall=0.98)
    assert_numbered(features, thing)
    assert set(features.corner) == set(range(BOARD.corner_count))
    assert set(features.board) == {0}
    assert result.notes == ()


def test_clusters_are_corners() -> None:
    features = found(board()).features
    pairs = np.unique(np.column_stack([features.cluster, features.corner]), axis=0)
    assert len(pairs) == BOARD.corner_count
    assert sorted(pairs[:, 0]) == list(range(BOARD.corner_count))


@pytest.mark.parametrize("virtual_depth", [3.0, 5.0, 9.0])
def test_positions_and_blur_are_as_uncertain_as_they_say(virtual_depth: float) -> None:
    thing = board(virtual_depth)
    features = assert_found(found(thing), thing)
    truth = Truth(thing, margin=0.0)
    row, true = truth.matched(features)
    error = (features.uv - truth.uv[row])[true]
    square = np.einsum("ni,nij,nj->n", error, np.linalg.inv(features.covariance[true]), error)
    assert 0.6 < np.sqrt(square.mean() / 2) < 1.5
    assert np.sqrt((error**2).mean()) < 0.2
    blur = ((features.rho - truth.rho[row]) / features.rho_sigma)[true]
    assert np.sqrt((blur**2).mean()) < 1.8
    assert np.sqrt(np.mean((features.rho - truth.rho[row])[true] ** 2)) < 0.25


@pytest.mark.parametrize("virtual_depth", [3.0, 9.0])
def test_corners_are_drawn_neither_outwards_nor_inwards(virtual_depth: float) -> None:
    """By more than a hundredth of a pixel: that would change the focal length of the main lens."""
    thing = board(virtual_depth)
    features = found(thing).features
    truth = Truth(thing, margin=0.0)
    row, true = truth.matched(features)
    away = truth.uv[row] - predicted_center(features.k, features.l, camera())
    error = np.einsum("ni,ni->n", features.uv - truth.uv[row], away) / np.linalg.norm(away, axis=1)
    far = true & (np.linalg.norm(away, axis=1) > 3)
    assert abs(error[far].mean()) < 0.015 + 2 * error[far].std() / np.sqrt(far.sum())


def test_virtual_depths_are_those_of_the_corners() -> None:
    thing = board(6.0, turn=(0.0, 0.0, 0.1))
    result = found(thing)
    error = result.virtual_depth - 6.0
    assert np.abs(error).max() < 0.15
    assert np.sqrt(np.mean((error / result.virtual_depth_sigma) ** 2)) < 2.5


def test_without_a_camera_the_board_is_found_but_its_blur_has_no_sign() -> None:
    thing = board()
    result = found(thing, with_camera=False)
    features = assert_found(result, thing, recall=0.8)
    assert_numbered(features, thing)
    assert np.isnan(features.rho).all()
    assert np.isnan(result.virtual_depth).all()
    assert (result.blur > 0).all()


def test_board_cut_by_the_border_is_found_in_part() -> None:
    thing = board(shift=(0.3, 0.1))
    result = found(thing)
    features = assert_found(result, thing)
    truth = Truth(thing, margin=0.0)
    row, true = truth.matched(features)
    # Whole rows are there and some columns; numbers count from the first column found.
    columns = truth.corner[row][true] % BOARD.columns
    assert columns.max() < BOARD.columns - 1
    np.testing.assert_array_equal(features.corner[true] % BOARD.columns, columns - columns.min())
    assert "missing" in result.notes[0]


@pytest.mark.parametrize(("turn", "turned"), [(np.pi, True), (np.pi - 0.3, True), (0.5, False), (-0.5, False)])
def test_turned_boards_are_numbered_along_u(turn: float, turned: bool) -> None:
    thing = board(turn=(0.0, 0.0, turn), size=0.5)
    features = assert_found(found(thing), thing)
    assert_numbered(features, thing, turned=turned)


def test_board_on_its_side_is_told_by_its_sides() -> None:
    thing = board(turn=(0.1, 0.0, np.pi / 2), size=0.4)
    features = assert_found(found(thing), thing)
    truth = Truth(thing, margin=0.0)
    row, true = truth.matched(features)
    same = features.corner[true] == truth.corner[row][true]
    assert same.all() or (features.corner[true] == BOARD.corner_count - 1 - truth.corner[row][true]).all()


def test_numbers_never_mirror_the_board() -> None:
    for turn in (np.pi / 2, np.pi):
        features = found(board(turn=(0.0, 0.0, turn), size=0.4)).features
        middle = np.array([features.uv[features.corner == corner].mean(axis=0) for corner in (0, 1, BOARD.columns)])
        along, down = middle[1] - middle[0], middle[2] - middle[0]
        assert along[0] * down[1] - along[1] * down[0] > 0


def test_frame_far_out_of_focus_gives_no_wrong_corner() -> None:
    thing = board(25.0, size=0.4)
    result = found(thing)
    if len(result.features):
        assert Truth(thing, margin=0.0).matched(result.features)[1].mean() > 0.95
    else:
        assert "no board" in result.notes[0]


@pytest.mark.parametrize(
    "texture",
    [
        None,
        noise_image(160, 120, octaves=4, cell=16.0, seed=4),
        # Some of these corners look like a board, until all of its views are fitted.
        pytest.param(noise_image(160, 120, octaves=4, cell=16.0, seed=3), marks=pytest.mark.slow),
    ],
    ids=["plain", "textured", "almost a board"],
)
def test_frame_without_a_board_gives_none(texture: Any) -> None:
    depth = depth_at(4.0)
    width, height = view_size(depth, camera())
    pose = Pose(np.eye(3), view_center(depth, camera()))
    result = found(Rectangle(1.3 * width, 1.3 * height, pose, Material(texture=texture, emits=True)))
    assert len(result.features) == 0
    assert "no board" in result.notes[0]


def test_dark_frame_gives_none() -> None:
    dark = np.zeros((camera().sensor.height, camera().sensor.width), dtype=np.float32)
    assert len(find_features(dark, camera().micro_images, BOARD).features) == 0
    unusable = np.full_like(dark, np.nan)
    assert len(find_features(unusable, camera().micro_images, BOARD).features) == 0


def test_image_of_another_camera_is_refused() -> None:
    with pytest.raises(InputError, match="does not match"):
        find_features(np.zeros((300, 4000), dtype=np.float32), camera().micro_images, BOARD)
    with pytest.raises(InputError, match="height, width"):
        find_features(np.zeros((300, 400, 3), dtype=np.float32), camera().micro_images, BOARD)


def test_two_boards_are_kept_apart() -> None:
    left = board(5.0, turn=(0.0, 0.2, 0.05), shift=(-0.25, 0.0), size=0.3)
    right = board(7.0, turn=(0.1, -0.2, -0.1), shift=(0.25, 0.05), size=0.3)
    result = found(left, right)
    features = result.features
    assert set(features.board) == {0, 1}
    for thing in (left, right):
        truth = Truth(thing, margin=0.0)
        row, true = truth.matched(features)
        assert len(set(features.board[true])) == 1
        np.testing.assert_array_equal(features.corner[true], truth.corner[row][true])
        assert len(set(features.corner[true])) == BOARD.corner_count


def test_clutter_behind_the_board_does_no_harm() -> None:
    thing = board(5.0, size=0.4)
    depth = depth_at(3.5)
    width, height = view_size(depth, camera())
    texture = noise_image(200, 150, octaves=4, cell=16.0, seed=5)
    wall = Rectangle(
        1.3 * width, 1.3 * height, Pose(np.eye(3), view_center(depth, camera())), Material(texture=texture, emits=True)
    )
    features = assert_found(found(thing, wall), thing)
    assert_numbered(features, thing)


def test_part_of_a_larger_board_is_numbered_from_its_first_corner() -> None:
    result = find_features(gray_image(board()), camera().micro_images, Board(11, 6, 1.0), camera=camera())
    row, column = np.divmod(result.features.corner, 11)
    assert set(row) == set(range(BOARD.rows))
    assert set(column) == set(range(BOARD.columns))
    assert "missing" in result.notes[0]


@pytest.mark.realdata
def test_real_scene_of_figurines_has_no_board(real_data: Path) -> None:
    known = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    gray = load_raw(real_data / "r5" / "fujita2-frame0.png", known).gray
    for size in ((9, 5), (5, 4)):
        assert len(find_features(gray, known.micro_images, Board(*size, 10.0)).features) == 0
