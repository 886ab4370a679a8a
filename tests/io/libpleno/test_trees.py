"""Internal parameters, poses and scenes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from plenodepth.errors import InputError
from plenodepth.io import (
    FramePose,
    InternalParameters,
    LibplenoBoard,
    LibplenoPlate,
    LibplenoScene,
    as_columns,
    read_parameters,
    read_poses,
    read_scene,
    write_parameters,
    write_pose,
    write_poses,
    write_scene,
)

IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
PARAMETERS = {
    "m": "-0.14", "scale": 0.0055, "q": ["-0.029", "-0.024"], "q_prime": [0.035, 0.040], "dc": "0.128", "dC": "0.127",
    "N": "4", "I": "3", "lambda": "0.9931",
}  # fmt: skip


def stored(tmp_path: Path, content: dict[str, Any]) -> Path:
    path = tmp_path / "a.js"
    path.write_text(json.dumps(content))
    return path


def turn(seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return Rotation.random(rng=seed).as_matrix()


# --- internal parameters ----------------------------------------------------------------------------------------


def test_parameters_are_read_with_kappa_one_by_default(tmp_path: Path) -> None:
    p = read_parameters(stored(tmp_path, PARAMETERS))
    assert (p.white_slope, p.pixel_size, p.f_number, p.kappa, p.lambda_ratio) == (-0.14, 0.0055, 4, 1, 0.9931)
    assert (p.micro_image_pitch, p.lens_pitch) == (0.128, 0.127)
    np.testing.assert_array_equal(p.white_intercepts, [-0.029, -0.024])
    np.testing.assert_array_equal(p.corrected_intercepts, [0.035, 0.040])


def test_parameters_come_back_exactly(tmp_path: Path) -> None:
    first = read_parameters(stored(tmp_path, PARAMETERS | {"kappa": 1 / 3, "q": "", "q_prime": ""}))
    write_parameters(first, tmp_path / "b.js")
    second = read_parameters(tmp_path / "b.js")
    assert second.kappa == 1 / 3
    for name in InternalParameters.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(second, name), getattr(first, name))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": ["1", "x"]}, r"q\.1: is not a number"),
        ({"q": [1.0]}, r"q_prime: has \(2,\) values and q has \(1,\)"),
        ({"scale": "0"}, "scale: is not positive"),
        ({"kappa": "nan"}, "kappa: is not finite"),
        ({"dc": None}, "dc: is not a number"),
    ],
)
def test_bad_parameters_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.js: {message}"):
        read_parameters(stored(tmp_path, PARAMETERS | change))


@pytest.mark.parametrize("key", [key for key in PARAMETERS if key != "I"])
def test_missing_parameters_are_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match=rf"a\.js: {key}: is missing"):
        read_parameters(stored(tmp_path, {k: v for k, v in PARAMETERS.items() if k != key}))


# --- poses ------------------------------------------------------------------------------------------------------


def test_poses_come_back_exactly_and_in_order(tmp_path: Path) -> None:
    poses = [FramePose(frame, turn(frame), np.array([0.1, -2.0, frame])) for frame in (5, 3, 4)]
    write_poses(poses, tmp_path / "a.js")
    back = read_poses(tmp_path / "a.js")
    assert [pose.frame for pose in back] == [5, 3, 4]
    for pose, expected in zip(back, poses, strict=True):
        np.testing.assert_array_equal(pose.rotation, expected.rotation)
        np.testing.assert_array_equal(pose.translation, expected.translation)


def test_no_poses_is_an_empty_list(tmp_path: Path) -> None:
    write_poses([], tmp_path / "a.js")
    assert read_poses(tmp_path / "a.js") == []


def test_rotations_are_stored_by_columns(tmp_path: Path) -> None:
    quarter = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]  # columns: x goes to y, y to -x
    (pose,) = read_poses(stored(tmp_path, {"pose": {"rotation": quarter, "translation": [[1, 2, 3]]}}))
    np.testing.assert_array_equal(pose.rotation @ [1, 0, 0], [0, 1, 0])
    assert pose.frame == -1


def test_the_single_form_comes_back(tmp_path: Path) -> None:
    write_pose(FramePose(7, turn(1), np.ones(3)), tmp_path / "a.js")
    assert "poses" not in json.loads((tmp_path / "a.js").read_text())
    (pose,) = read_poses(tmp_path / "a.js")
    assert pose.frame == 7
    np.testing.assert_array_equal(pose.rotation, turn(1))


SINGULAR = {
    "zero": np.zeros((3, 3)),
    "rank 2": np.diag([1.0, 1.0, 0.0]),
    "scaled": 1.001 * np.eye(3),
    "huge": 1e200 * np.ones((3, 3)),
    "sheared": np.eye(3) + 1e-4 * np.eye(3, k=1),
    "mirrored": np.diag([1.0, 1.0, -1.0]),
}


@pytest.mark.parametrize("rotation", SINGULAR.values(), ids=SINGULAR.keys())
def test_a_singular_pose_is_named(tmp_path: Path, rotation: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    good = {"frame": 0, "pose": {"rotation": IDENTITY, "translation": [[0, 0, 0]]}}
    bad = {"frame": 1, "pose": {"rotation": as_columns(rotation), "translation": [[0, 0, 0]]}}
    with pytest.raises(InputError, match=r"a\.js: poses\.1\.pose\.rotation: singular pose"):
        read_poses(stored(tmp_path, {"poses": [good, bad]}))
    with pytest.raises(InputError, match=r"b\.js: poses\.0\.pose\.rotation: singular pose"):
        write_poses([FramePose(0, rotation, np.zeros(3))], tmp_path / "b.js")
    board = LibplenoBoard(9, 5, 10.0, rotation, np.zeros(3))
    with pytest.raises(InputError, match=r"b\.js: checkerboards\.0\.pose\.rotation: singular pose"):
        write_scene(LibplenoScene((board,)), tmp_path / "b.js")


@pytest.mark.parametrize("rotation", [np.full((3, 3), np.nan), np.eye(2)])
def test_a_pose_without_a_rotation_is_not_written(tmp_path: Path, rotation: Any) -> None:
    with pytest.raises(InputError, match=r"pose\.rotation"):
        write_pose(FramePose(0, rotation, np.zeros(3)), tmp_path / "a.js")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "poses: is missing"),
        ({"poses": {}}, "poses: is not a list"),
        ({"poses": [{"frame": 1}]}, r"poses\.0\.pose: is missing"),
        ({"poses": [{"frame": 1, "pose": ""}]}, r"poses\.0\.pose\.rotation: is missing"),
        ({"poses": [{"pose": {"rotation": IDENTITY, "translation": [[0, 0, 0]]}}]}, r"poses\.0\.frame: is missing"),
        ({"pose": {"rotation": IDENTITY, "translation": [0, 0, 0]}}, r"pose\.translation: does not hold"),
        ({"pose": {"rotation": IDENTITY, "translation": [["inf", 0, 0]]}}, r"pose\.translation\.0\.0: is not finite"),
        ({"pose": {"rotation": IDENTITY}}, r"pose\.translation: is missing"),
        (
            {"poses": [{"frame": 2, "pose": {"rotation": IDENTITY, "translation": [[0, 0, 0]]}}] * 2},
            r"poses\.1\.frame: 2 is there twice",
        ),
    ],
)
def test_bad_poses_are_named(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.js: {message}"):
        read_poses(stored(tmp_path, content))


# --- scenes -----------------------------------------------------------------------------------------------------


def test_corners_run_along_the_columns_first() -> None:
    board = LibplenoBoard(3, 2, 10.0, turn(2), np.array([1.0, 2.0, 3.0]))
    expected = [[0, 0, 0], [10, 0, 0], [20, 0, 0], [0, 10, 0], [10, 10, 0], [20, 10, 0]]
    np.testing.assert_array_equal(board.corners(), expected)


def test_a_scene_takes_defaults(tmp_path: Path) -> None:
    boards = [{"lph": "10", "x_grid": "9", "y_grid": 5, "pose": {"translation": [[1, 2, 3]]}}]
    scene = read_scene(stored(tmp_path, {"checkerboards": boards, "plates": [""], "constellations": ""}))
    (board,), (plate,) = scene.checkerboards, scene.plates
    assert (board.columns, board.rows, board.square) == (9, 5, 10)
    np.testing.assert_array_equal(board.rotation, np.eye(3))
    np.testing.assert_array_equal(board.translation, [1, 2, 3])
    assert (plate.width, plate.height, plate.scale, plate.texture) == (-1, -1, 1, "")
    np.testing.assert_array_equal(plate.translation, np.zeros(3))
    assert scene.constellations == ()


def test_a_scene_comes_back_exactly(tmp_path: Path) -> None:
    board = LibplenoBoard(9, 6, 26.25, turn(3), np.array([1.0, 2.0, 1 / 3]))
    plate = LibplenoPlate(262.5, 183.75, 0.05, "board.png", turn(4), np.array([0.0, 0.0, 900.0]))
    points = np.arange(12.0).reshape(4, 3) / 7
    write_scene(LibplenoScene((board,), (plate,), (points, np.empty((0, 3)))), tmp_path / "a.js")
    back = read_scene(tmp_path / "a.js")
    for record, expected in ((back.checkerboards[0], board), (back.plates[0], plate)):
        for name in expected.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(record, name), getattr(expected, name))
    np.testing.assert_array_equal(back.constellations[0], points)
    assert back.constellations[1].shape == (0, 3)


def test_an_empty_scene_comes_back(tmp_path: Path) -> None:
    write_scene(LibplenoScene(), tmp_path / "a.js")
    back = read_scene(tmp_path / "a.js")
    assert (back.checkerboards, back.plates, back.constellations) == ((), (), ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"checkerboards": [{"x_grid": 9, "y_grid": 5}]}, r"checkerboards\.0\.lph: is missing"),
        ({"checkerboards": [{"x_grid": 9, "y_grid": 0, "lph": 1}]}, r"checkerboards\.0\.y_grid: is not positive"),
        ({"checkerboards": [{"x_grid": 9.5, "y_grid": 5, "lph": 1}]}, r"checkerboards\.0\.x_grid: is not an integer"),
        (
            {"checkerboards": [{"x_grid": 9, "y_grid": 5, "lph": 1, "pose": 3}]},
            r"checkerboards\.0\.pose: is not an object",
        ),
        ({"plates": [{"scale": "-1"}]}, r"plates\.0\.scale: is not positive"),
        ({"constellations": [{"points": [[[1, 2]]]}]}, r"constellations\.0\.points\.0: does not hold"),
        ({"constellations": [{}]}, r"constellations\.0\.points: is missing"),
    ],
)
def test_bad_scenes_are_named(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.js: {message}"):
        read_scene(stored(tmp_path, content))
