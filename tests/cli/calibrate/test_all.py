"""plenodepth calibrate: images in, camera and report out; steps, and bad input."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from board_shots import BOARD, SETTINGS, BoardShots, board_shots
from commands import Refused, Run
from simulated import scene_shot

from plenodepth.calib.feature_files import read_features
from plenodepth.camera import load_plenoptic_camera
from plenodepth.io import read_image
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.simulate import simulate_white

BOARD_TEXT = f"{BOARD.columns}x{BOARD.rows}:{BOARD.square}mm"
OPTICS = ["--sensor", "5.5um", "--focal", "50", "--aperture", "4", "--focus", "450mm"]
LENSES = ["--lenses", "24x20"]


@dataclass(frozen=True)
class Shots:
    boards: BoardShots
    whites: Path


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Shots:
    folder = tmp_path_factory.mktemp("shots")
    boards = board_shots(folder)
    for number in (4.0, 8.0):
        simulate_white(number, load_plenoptic_camera(boards.camera), folder / "whites" / f"f{number:04.1f}", SETTINGS)
    return Shots(boards, folder / "whites")


def everything(shots: Shots, out: Path, *more: object) -> list[object]:
    folders = ["--whites", shots.whites, "--boards", shots.boards.boards]
    return ["calibrate", *folders, "--board", BOARD_TEXT, *OPTICS, "--out", out, *more]


def test_one_command_gives_a_camera_and_a_report(succeeds: Run, shots: Shots, tmp_path: Path) -> None:
    out = tmp_path / "camera.yaml"
    result = succeeds(*everything(shots, out), "--json").json
    true, found = load_plenoptic_camera(shots.boards.camera), load_plenoptic_camera(out)
    assert result["frames"] == len(shots.boards.frames)
    assert result["rmse_uv"] < 0.3
    assert result["rmse_centers"] < 0.05
    assert found.micro_lenses.pitch == pytest.approx(true.micro_lenses.pitch, rel=1e-3)
    assert found.main_lens.focal_length == pytest.approx(true.main_lens.focal_length, rel=0.01)
    assert found.blur_coefficient == pytest.approx(result["kappa"]["kappa"])
    assert {"iterations", "cpu_seconds", "rmse_rho"} <= set(result)
    assert result["parameters"]["main_lens.focal_length"]["sigma"] > 0
    assert result["white_radii"] is not None
    work = tmp_path / "camera-calibration"
    assert "<html" in (work / "report.html").read_text()
    for figure in ("white.png", "features.png", "residuals.png"):
        assert read_image(work / figure).ndim == 3
    again = succeeds(*everything(shots, out)).words
    assert "up to date: white, features, kappa" in again


def test_each_step_alone_gives_what_the_next_needs(succeeds: Run, shots: Shots, tmp_path: Path) -> None:
    work, white = tmp_path / "work", shots.boards.white
    succeeds("calibrate", "white", "--whites", shots.whites, *OPTICS, "--out", work)
    boards = ["--boards", shots.boards.boards, "--board", BOARD_TEXT]
    start = work / "start.yaml"
    succeeds("calibrate", "features", *boards, "--camera", start, "--white", white, "--out", work)
    assert set(read_features(work / "features.csv").frames) == set(shots.boards.frames)
    inputs = ["--features", work / "features.csv", "--centers", work / "centers.csv", "--camera", start]
    out = tmp_path / "camera.yaml"
    result = succeeds("calibrate", "adjust", *inputs, "--board", BOARD_TEXT, "--out", out, "--json").json
    assert result["converged"]
    assert load_plenoptic_camera(out).provenance.covariance is not None
    # Going on from the result, with F held.
    inputs[-1] = out
    held = succeeds("calibrate", "adjust", *inputs, "--board", BOARD_TEXT, "--hold", "F", "--out", out, "--json").json
    assert held["parameters"]["main_lens.focal_length"]["sigma"] is None


def test_one_white_image_is_enough_and_the_rest_is_said(succeeds: Run, shots: Shots, tmp_path: Path) -> None:
    words = succeeds("calibrate", "white", "--whites", shots.whites / "f04.0", *OPTICS, "--out", tmp_path).words
    assert "note:" in words
    assert load_plenoptic_camera(tmp_path / "start.yaml").type_count == 3


def test_another_camera_makes_features_anew(succeeds: Run, shots: Shots, tmp_path: Path) -> None:
    one = shots.boards.boards / "00"
    given = ["calibrate", "features", "--boards", one, "--board", BOARD_TEXT, "--out", tmp_path]
    first = succeeds(*given, "--camera", shots.boards.camera, "--json").json
    again = succeeds(*given, "--camera", shots.boards.camera, "--json").json
    assert (first.pop("up_to_date"), again.pop("up_to_date")) == (False, True)
    assert again == first
    other = tmp_path / "other.yaml"
    text = Path(shots.boards.camera).read_text().replace("f_number: 4.0", "f_number: 4.2")
    other.write_text(text)
    assert not succeeds(*given, "--camera", other, "--json").json["up_to_date"]
    assert not succeeds(*given, "--camera", other, "--fresh", "--json").json["up_to_date"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("--board 9by5", "--board: is '9by5'"),
        ("--board 9x5:tenmm", "--board: is 'tenmm'"),
        ("--board 1x5:10mm", "needs at least 2"),
        ("--sensor 5.5parsec", "--sensor: is '5.5parsec'"),
        ("--focus 100", "no lens of 50 mm focuses nearer"),
        ("--whites nowhere", "nowhere: is no folder"),
        ("--boards nowhere", "nowhere: is no folder"),
        ("--hold d", "hold d: is no parameter"),
        ("--prior F=50", "--prior: is 'F=50'"),
        ("--lenses many", "--lenses: is 'many'"),
    ],
)
def test_wrong_options_are_one_line(refused: Refused, shots: Shots, tmp_path: Path, changed: str, message: str) -> None:
    # Of an option given twice the last one counts.
    assert message in refused(*everything(shots, tmp_path / "camera.yaml"), *changed.split())
    assert not (tmp_path / "camera.yaml").exists()


def test_the_help_of_the_group_shows_the_options_that_it_takes(succeeds: Run) -> None:
    said, of_all = succeeds("calibrate", "--help").words, succeeds("calibrate", "all", "--help").words
    options = set(re.findall(r"--[a-z-]{3,}", of_all))
    assert len(options) > 20
    assert options <= set(re.findall(r"--[a-z-]{3,}", said))
    assert "Without a COMMAND all steps are done" in said
    assert all(step in said for step in ("white", "features", "adjust", "kappa", "scale", "poses", "lidar"))


def test_images_without_any_board_are_refused(refused: Refused, shots: Shots, tmp_path: Path) -> None:
    camera = load_plenoptic_camera(shots.boards.camera)
    wall = scene_shot(wall_scene(300.0, 3, camera), camera, SETTINGS)
    given = ["--boards", wall, "--board", BOARD_TEXT, "--camera", shots.boards.camera, "--out", tmp_path]
    assert "show no board" in refused("calibrate", "features", *given)


@pytest.mark.parametrize("folder", ["", "f04.0", "f08.0"])
def test_white_images_in_place_of_boards_are_called_so(
    refused: Refused, shots: Shots, tmp_path: Path, folder: str
) -> None:
    changed = ["--boards", shots.whites / folder]  # of an option given twice the last one counts
    for message in (
        refused(*everything(shots, tmp_path / "camera.yaml"), *changed),
        refused("calibrate", "features", *changed, "--board", BOARD_TEXT, "--camera", shots.boards.camera,
                "--out", tmp_path / "work"),
    ):  # fmt: skip
        assert "raw.png: boards: is a white image, not one of a checkerboard (give the images of the" in message
        assert "aperture" not in message
    assert not (tmp_path / "camera.yaml").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_boards_to_tell_f_from_the_distances_are_refused(
    refused: Refused, succeeds: Run, shots: Shots, tmp_path: Path, count: int
) -> None:
    for frame in range(count):
        shutil.copytree(shots.boards.boards / f"{frame:02}", tmp_path / "few" / f"{frame:02}")
    out = tmp_path / "camera.yaml"
    given = [*everything(shots, out), "--boards", tmp_path / "few"]
    message = refused(*given)
    assert f"boards: show {count} view" in message
    assert "fewer than 3 do not tell F, D and the boards' distances apart" in message
    assert "--hold F" in message
    assert not out.exists()
    held = succeeds(*given, "--hold", "F", "--json").json
    assert held["frames"] == count
    features = ["--features", tmp_path / "camera-calibration" / "features.csv", "--camera", shots.boards.camera]
    line = refused("calibrate", "adjust", *features, "--board", BOARD_TEXT, "--out", tmp_path / "other.yaml")
    assert f"features: show {count} view" in line
    assert not (tmp_path / "other-calibration").exists()


def test_features_with_missing_numbers_are_refused(refused: Refused, shots: Shots, tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    lines = Path(shots.boards.features).read_text().splitlines()
    broken.write_text("\n".join([*lines[:5], lines[5].rsplit(",", 3)[0]]))
    given = ["--features", broken, "--camera", shots.boards.camera, "--board", BOARD_TEXT]
    line = refused("calibrate", "adjust", *given, "--out", tmp_path / "camera.yaml")
    assert "broken.csv: line 6" in line
    assert not (tmp_path / "camera.yaml").exists()


def test_held_out_frames_are_tested(succeeds: Run, shots: Shots, tmp_path: Path) -> None:
    given = ["--features", shots.boards.features, "--camera", shots.boards.camera, "--board", BOARD_TEXT]
    out = tmp_path / "camera.yaml"
    hold = ["--hold", "micro_lenses", "--hold", "sensor", "--hold", "main_lens", "--hold", "distortion"]
    result = succeeds("calibrate", "adjust", *given, *hold, "--hold-out", "3", "--out", out, "--json").json
    assert result["hold_out"]["frames"] == 1
    assert result["hold_out"]["rmse_uv"] == pytest.approx(result["rmse_uv"], rel=0.5)
    assert np.isfinite(result["rmse_uv"])
