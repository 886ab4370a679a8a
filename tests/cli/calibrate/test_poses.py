"""plenodepth calibrate poses: boards in their places by a known camera, and bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from commands import Refused, Run
from ideal_features import BOARD, SIGMA, ideal_features, small_camera, spread_poses

from plenodepth.calib.feature_files import read_features, write_features
from plenodepth.camera import save_camera
from plenodepth.io import read_image, read_poses

SIZE = f"{BOARD.columns}x{BOARD.rows}:{BOARD.square}mm"
POSES = spread_poses(3)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("poses")
    camera = small_camera()
    save_camera(camera, folder / "camera.yaml")
    write_features(ideal_features(camera, POSES), folder / "features.csv")
    return folder


def command(files: Path, out: Path, **changed: object) -> list[object]:
    given = {
        "camera": files / "camera.yaml",
        "features": files / "features.csv",
        "board": SIZE,
        "out": out,
        **changed,
    }
    return ["calibrate", "poses", *(part for name, value in given.items() for part in (f"--{name}", value))]


def test_boards_are_found_where_they_stand(succeeds: Run, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "poses.js"
    result = succeeds(*command(files, out), "--json").json
    assert result["rmse_uv"] == pytest.approx(SIGMA * np.sqrt(2), rel=0.1)
    assert result["aperture_aware"]
    corners = BOARD.points(np.arange(BOARD.corner_count))
    for row, stored, true in zip(result["frames"], read_poses(out), POSES, strict=True):
        middle = true(corners.mean(axis=0))[2]
        assert row["distance"] == pytest.approx(middle, rel=1e-3)
        assert row["tilt"] == pytest.approx(np.degrees(np.arccos(true.rotation[2, 2])), abs=0.3)
        # libpleno's files hold the camera in the board's frame.
        in_camera = (corners - stored.translation) @ stored.rotation
        assert np.abs(in_camera - true(corners)).max() < 1e-3 * middle
    assert read_image(result["figure"]).ndim == 3
    text = succeeds(*command(files, out)).words
    assert f"{result['frames'][0]['distance']:.2f}" in text


def test_the_same_again_is_kept(succeeds: Run, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "poses.js"
    first = succeeds(*command(files, out), "--json").json
    made = out.stat().st_mtime_ns
    second = succeeds(*command(files, out), "--json").json
    assert (first["up_to_date"], second["up_to_date"], out.stat().st_mtime_ns) == (False, True, made)
    assert second["frames"] == first["frames"]
    assert "up to date; poses:" in succeeds(*command(files, out)).words
    assert not succeeds(*command(files, out), "--no-rho", "--json").json["up_to_date"]
    assert not succeeds(*command(files, out), "--no-rho", "--fresh", "--json").json["up_to_date"]
    out.unlink()
    assert not succeeds(*command(files, out), "--no-rho", "--json").json["up_to_date"]
    assert out.is_file()


def test_several_boards_in_a_frame_are_all_written(succeeds: Run, files: Path, tmp_path: Path) -> None:
    seen = read_features(files / "features.csv")
    frame, board = np.where(seen.frame == 2, 0, seen.frame), np.where(seen.frame == 2, 1, 0)
    cluster = seen.cluster + BOARD.corner_count * board
    write_features(replace(seen, frame=frame, board=board, cluster=cluster), tmp_path / "both.csv")
    out = tmp_path / "poses.js"
    result = succeeds(*command(files, out, features=tmp_path / "both.csv"), "--json").json
    assert [(row["frame"], row["board"]) for row in result["frames"]] == [(0, 0), (0, 1), (1, 0)]
    assert [pose.frame for pose in read_poses(out)] == [0, 1]
    assert "poses.boards.yaml has all" in result["notes"][-1]
    boards = yaml.safe_load((tmp_path / "poses.boards.yaml").read_text())["boards"]
    assert [(one["frame"], one["board"]) for one in boards] == [(0, 0), (0, 1), (1, 0)]
    for one, true in zip(boards, (POSES[0], POSES[2], POSES[1]), strict=True):
        assert np.allclose(one["cam_from_board"]["translation"], true.translation, rtol=2e-3, atol=1.0)


def test_without_regard_to_the_aperture_boards_fit_worse(succeeds: Run, files: Path, tmp_path: Path) -> None:
    aware = succeeds(*command(files, tmp_path / "poses.js"), "--json").json
    unaware = succeeds(*command(files, tmp_path / "poses.js"), "--no-aperture-aware", "--json").json
    assert unaware["rmse_uv"] > 1.5 * aware["rmse_uv"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--out poses.yaml", "--out"),
        ("--out none/poses.js", "in no folder"),
        ("--board 5x4:3mm", "have a corner 44"),
        ("--features none.csv", "none.csv"),
        ("--camera r12-b", "outside their micro-images"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, files: Path, tmp_path: Path, given: str, message: str) -> None:
    assert message in refused(*command(files, tmp_path / "poses.js"), *given.split(), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
