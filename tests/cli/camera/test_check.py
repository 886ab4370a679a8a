"""plenodepth camera check: reprojection of features and centres, and every way in which the files may not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Refused, Run
from random_cameras import base
from vendor_grid import grid_xml

from plenodepth.camera import Distortion, PlenopticCamera, predicted_center, project, save_camera
from plenodepth.geometry import Pose
from plenodepth.io import (
    CENTER_DTYPE,
    FEATURE_DTYPE,
    FramePose,
    LibplenoBoard,
    LibplenoScene,
    Observations,
    observation_table,
    read_observations,
    write_observations,
    write_poses,
    write_scene,
)

BOARD = LibplenoBoard(5, 4, 10.0, np.eye(3), np.zeros(3))
FRAMES = {2: 500.0, 5: 700.0}  # distance of the board in each frame, mm
SHIFT_UV, SHIFT_RHO = (0.3, -0.4), 0.25  # of every feature from where the camera puts it, px


def pose_of(frame: int) -> Pose:
    return Pose.from_euler_xyz([0.05, -0.08, 0.01 * frame], [-20.0, -15.0, FRAMES[frame]])


def observed(camera: PlenopticCamera) -> Observations:
    """Thirty corners per frame, each a known distance beside its projection, and all micro-image centres."""
    generator = np.random.default_rng(0)
    tables = []
    for frame in FRAMES:
        cluster = generator.integers(0, 20, 30)
        k, l = generator.integers(0, [24, 20], (30, 2)).T
        seen = project(pose_of(frame)(BOARD.corners()[cluster]), k, l, camera)
        u, v = (seen.uv - SHIFT_UV).T
        rho = seen.rho - SHIFT_RHO if camera.type_count else np.zeros(30)
        tables.append(observation_table(FEATURE_DTYPE, k=k, l=l, u=u, v=v, rho=rho, cluster=cluster, frame=frame))
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    u, v = (predicted_center(k, l, camera) + [0.6, 0.8]).T
    centers = observation_table(CENTER_DTYPE, k=k, l=l, u=u, v=v)
    return Observations(centers=centers, features=np.concatenate(tables))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and the working one, with features, centres, poses and the board of r12-mini."""
    monkeypatch.chdir(tmp_path)
    everything = observed(base("r12-mini"))
    write_observations(everything, "all.bin.gz")
    write_observations(Observations(features=everything.features), "features.csv")
    write_observations(Observations(features=everything.features), "features.bin")
    write_observations(Observations(centers=everything.centers), "centers.csv")
    # The file gives the camera in the board's frame.
    camera_poses = [(frame, pose_of(frame).inverse()) for frame in FRAMES]
    write_poses([FramePose(frame, pose.rotation, pose.translation) for frame, pose in camera_poses], "poses.js")
    write_scene(LibplenoScene((BOARD,)), "scene.js")
    return tmp_path


def changed(path: str, change: dict[str, Any]) -> None:
    content = json.loads(Path(path).read_text())
    Path(path).write_text(json.dumps(content | change))


POSED = ("--poses", "poses.js")

# --- numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", ["features.csv", "features.bin", "all.bin.gz"])
@pytest.mark.parametrize("board", [(), ("--board", "5x4:10mm"), ("--board", "5x4:10"), ("--scene", "scene.js")])
def test_the_errors_are_those_that_the_features_have(
    succeeds: Run, files: Path, features: str, board: tuple[str, ...]
) -> None:
    checked = succeeds("camera", "check", "r12-mini", "--features", features, *POSED, *board, "--json").json
    assert checked["rmse_uv"] == pytest.approx(0.5)
    assert checked["rmse_rho"] == pytest.approx(0.25)
    assert [(frame["frame"], frame["n"]) for frame in checked["frames"]] == [(2, 30), (5, 30)]
    for frame in checked["frames"]:
        assert (frame["rmse_uv"], frame["rmse_rho"]) == (pytest.approx(0.5), pytest.approx(0.25))
    # An archive holds the centres as well.
    assert checked["rmse_centers"] == (pytest.approx(1.0) if features == "all.bin.gz" else None)


def test_centers_are_checked_alone(succeeds: Run, files: Path) -> None:
    checked = succeeds("camera", "check", "r12-mini", "--centers", "centers.csv", "--json").json
    assert checked["rmse_centers"] == pytest.approx(1.0)
    assert (checked["rmse_uv"], checked["rmse_rho"], checked["frames"]) == (None, None, [])


def test_a_camera_is_checked_with_itself(succeeds: Run) -> None:
    checked = succeeds("camera", "check", "r12-mini", "--json").json
    assert set(checked) >= {"rmse_uv", "rmse_rho", "rmse_centers", "frames"}
    assert checked["rmse_grid"] < 0.01
    assert checked["rmse_inverse_distortion"] < 1e-3


def test_the_table_says_the_same(succeeds: Run, files: Path) -> None:
    words = succeeds("camera", "check", "r12-mini", "--features", "all.bin.gz", *POSED).words
    assert words.startswith("Camera r12-mini RMSE micro-image lattice against projected lens centres 0.00")
    assert "observed micro-image centres 1.000 px" in words
    assert "features (u, v) 0.500 px" in words
    assert "features ρ 0.250 px" in words
    assert words.endswith("frame features (u, v) [px] ρ [px] 2 30 0.500 0.250 5 30 0.500 0.250")


def test_pinholes_have_no_blur_to_check(succeeds: Run, files: Path) -> None:
    pinhole = base("r12-a-pinhole")
    write_observations(Observations(features=observed(pinhole).features), "pinhole.csv")
    arguments = ("camera", "check", "r12-a-pinhole", "--features", "pinhole.csv", *POSED)
    checked = succeeds(*arguments, "--json").json
    assert checked["rmse_uv"] == pytest.approx(0.5)
    assert checked["rmse_rho"] is None
    assert {frame["rmse_rho"] for frame in checked["frames"]} == {None}
    assert "2 30 0.500 – 5 30 0.500 –" in succeeds(*arguments).words


def test_frames_without_a_pose_are_left_out_and_said_so(succeeds: Run, files: Path) -> None:
    changed("poses.js", {"poses": json.loads(Path("poses.js").read_text())["poses"][:1]})
    arguments = ("camera", "check", "r12-mini", "--features", "features.csv", *POSED)
    checked = succeeds(*arguments, "--json").json
    assert [frame["frame"] for frame in checked["frames"]] == [2]
    assert checked["frames_without_pose"] == [5]
    assert "no pose for frames 5: left out" in succeeds(*arguments).words


def test_a_distortion_without_inverse_is_a_finding(succeeds: Run, tmp_path: Path) -> None:
    for radial in ([1e300, 0, 0], [-1, 0, 0]):
        save_camera(replace(base("r12-mini"), distortion=Distortion(np.array(radial))), tmp_path / "c.yaml")
        assert succeeds("camera", "check", tmp_path / "c.yaml", "--json").json["rmse_inverse_distortion"] is None
        assert "inverse distortion cannot be computed" in succeeds("camera", "check", tmp_path / "c.yaml").words


@pytest.mark.realdata
@pytest.mark.parametrize("features", ["bap-R12-A.csv", "linked-observations-R12-A.bin.gz"])
def test_the_authors_calibration_explains_their_features(succeeds: Run, real_data: Path, features: str) -> None:
    folder = real_data / "r12a"
    centers = ("--centers", folder / "center-R12-A.csv") if features.endswith(".csv") else ()
    poses = ("--poses", folder / "poses.js")
    checked = succeeds(
        "camera", "check", folder / "intrinsics.js", "--features", folder / features, *poses, *centers, "--json"
    ).json
    assert checked["rmse_uv"] == pytest.approx(0.969, abs=0.002)
    assert checked["rmse_centers"] == pytest.approx(0.294, abs=0.005)
    assert [frame["frame"] for frame in checked["frames"]] == list(range(16))
    assert sum(frame["n"] for frame in checked["frames"]) == 14_569
    for frame in checked["frames"]:
        assert 0.64 <= frame["rmse_uv"] <= 1.28
        assert frame["rmse_rho"] < 1


@pytest.mark.realdata
def test_a_native_copy_of_the_authors_camera_explains_as_much(succeeds: Run, real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "r12a"
    succeeds("camera", "convert", folder / "intrinsics.js", tmp_path / "c.yaml", "--params", folder / "params.js")
    archive = ("--features", folder / "linked-observations-R12-A.bin.gz", "--poses", folder / "poses.js")
    checked = [
        succeeds("camera", "check", camera, *archive, "--json").json
        for camera in (folder / "intrinsics.js", tmp_path / "c.yaml")
    ]
    assert checked[0] == checked[1]


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("--features features.csv", "features.csv: --poses must go with it"),
        ("--poses poses.js", "poses.js: --features must go with it"),
        ("--features missing.csv --poses poses.js", "missing.csv: does not exist"),
        ("--features features.csv --poses missing.js", "missing.js: does not exist"),
        ("--features features.csv --poses scene.js", "scene.js: poses: is missing"),
        ("--features poses.js --poses poses.js", "poses.js: is not the name of an observations file"),
        ("--features centers.csv --poses poses.js", "centers.csv: holds no features"),
        ("--centers features.csv", "features.csv: centers: holds no micro-image centre"),
        ("--centers missing.csv", "missing.csv: does not exist"),
        ("--features features.csv --poses poses.js --scene missing.js", "missing.js: does not exist"),
        ("--features features.csv --poses poses.js --scene poses.js", "poses.js: checkerboards: has 0 boards"),
        ("--features features.csv --poses poses.js --board 5x4", "--board: is '5x4' (give inner corners and square"),
        ("--features features.csv --poses poses.js --board 0x4:10mm", "--board: is '0x4:10mm'"),
        ("--features features.csv --poses poses.js --board 99999x99999:1", "--board: is '99999x99999:1'"),
        ("--features features.csv --poses poses.js --board 2x2:10", "features.csv: cluster: goes from 0 to 19, the b"),
        ("--params params.js", "params.js: goes with a libpleno camera file only"),
    ],
)
def test_files_that_do_not_fit_are_named(refused: Refused, files: Path, arguments: str, error: str) -> None:
    assert refused("camera", "check", "r12-mini", *arguments.split()).startswith(error)


def test_features_of_a_larger_camera_are_named(refused: Refused, files: Path) -> None:
    seen = observed(base("r12-mini"))
    seen.features["k"][7] = 24
    seen.centers["l"][0] = -1
    write_observations(seen, "all.bin")
    error = refused("camera", "check", "r12-mini", "--features", "all.bin", *POSED)
    assert error.startswith("all.bin: k, l: row 8 names micro-image (24, ")
    error = refused("camera", "check", "r12-mini", "--centers", "all.bin")
    assert error.startswith("all.bin: k, l: row 1 names micro-image (0, -1), the camera has 24 × 20")


def test_a_board_must_be_found_somewhere(refused: Refused, files: Path) -> None:
    Path("scene.js").unlink()
    error = refused("camera", "check", "r12-mini", "--features", "features.csv", *POSED)
    assert error.startswith("--board: the size of the board is needed (give --board 9x5:10mm, or --scene scene.js)")


def test_one_board_is_needed(refused: Refused, files: Path) -> None:
    write_scene(LibplenoScene((BOARD, BOARD)), "scene.js")
    error = refused("camera", "check", "r12-mini", "--features", "features.csv", *POSED)
    assert error == "scene.js: checkerboards: has 2 boards, needs one"


@pytest.mark.parametrize(
    ("pose", "error"),
    [
        ({"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 0]], "translation": [[0, 0, -500]]}, "poses.0.pose.rotation: sing"),
        ({"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, -1]], "translation": [[0, 0, 0]]}, "poses.0.pose.rotation: sing"),
        ({"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "translation": [[0, 0, 500]]}, "pose of frame 2: puts the bo"),
        ({"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "translation": [[0, 0, -9]]}, "pose of frame 2: puts the bo"),
        ({"translation": [[0, 0, -500]]}, "poses.0.pose.rotation: is missing"),
    ],
    ids=["singular", "mirrored", "behind the camera", "inside the focal length", "no rotation"],
)
def test_a_bad_pose_is_named(refused: Refused, files: Path, pose: dict[str, Any], error: str) -> None:
    changed("poses.js", {"poses": [{"frame": 2, "pose": pose}]})
    assert refused("camera", "check", "r12-mini", "--features", "features.csv", *POSED).startswith(f"poses.js: {error}")


def test_poses_of_other_frames_are_told(refused: Refused, files: Path) -> None:
    write_poses([FramePose(9, np.eye(3), np.zeros(3))], "poses.js")
    error = refused("camera", "check", "r12-mini", "--features", "features.csv", *POSED)
    assert error == "features.csv: frame: no frame has both features and a pose"


@pytest.mark.parametrize("file", ["features.csv", "features.bin", "all.bin.gz"])
def test_truncated_observations_are_named(refused: Refused, files: Path, file: str) -> None:
    path = Path(file)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    if file == "features.csv":  # cut inside a line
        path.write_text(path.read_text().rsplit(",", 1)[0])
    assert refused("camera", "check", "r12-mini", "--features", file, *POSED).startswith(f"{file}: ")


def test_a_grid_without_optics_cannot_be_checked(refused: Refused, files: Path) -> None:
    Path("grid.xml").write_text(grid_xml())
    assert refused("camera", "check", "grid.xml").startswith("grid.xml: holds the grid only, no optics")


@pytest.mark.realdata
def test_the_features_of_r12a_are_not_those_of_a_small_camera(refused: Refused, real_data: Path) -> None:
    features = real_data / "r12a" / "bap-R12-A.csv"
    error = refused(
        "camera", "check", "r12-mini", "--features", features, "--poses", real_data / "r12a" / "poses.js"
    )  # fmt: skip
    assert error.startswith(f"{features}: k, l: row 1 names micro-image (156, 69), the camera has 24 × 20")
    assert len(read_observations(features).features) == 14_569
