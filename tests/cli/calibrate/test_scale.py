"""plenodepth calibrate scale: Γ of a small simulated camera, cross-validation, figure, and bad input."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from board_shots import BOARD, BoardShots, board_shots
from commands import Refused, Run

from plenodepth.camera import load_plenoptic_camera
from plenodepth.io import read_image

SIZE = f"{BOARD.columns}x{BOARD.rows}:{BOARD.square}mm"


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> BoardShots:
    return board_shots(tmp_path_factory.mktemp("shots"))


def command(shots: BoardShots, out: Path, **changed: object) -> list[object]:
    given = {
        "camera": shots.camera,
        "boards": shots.boards,
        "features": shots.features,
        "white": shots.white,
        "board": SIZE,
        "out": out,
        **changed,
    }
    options = (part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value))
    return ["calibrate", "scale", *options]


def test_with_the_aperture_undone_boards_have_their_size_before_any_scale(
    succeeds: Run, shots: BoardShots, tmp_path: Path
) -> None:
    out = tmp_path / "camera.yaml"
    result = succeeds(*command(shots, out), "--json").json
    assert result["aperture_model"] == "per_pixel"
    assert result["median_size_before"] < 0.005
    assert result["median_size_after"] <= result["median_size_before"]
    assert [row["frame"] for row in result["frames"]] == shots.frames
    found = [row["distance"] for row in result["frames"]]
    true = [pose(BOARD.points(np.arange(BOARD.corner_count)))[:, 2].mean() for pose in shots.poses]
    assert np.allclose(found, true, rtol=0.01)
    camera = load_plenoptic_camera(out)
    assert camera.depth_scale is not None
    assert np.allclose(camera.depth_scale, result["depth_scale"])
    assert camera.depth_scale_model == "per_pixel"
    assert any(note.startswith("Γ: ") for note in camera.provenance.notes)
    assert read_image(result["figure"]).ndim == 3


def test_without_it_the_scale_repairs_what_the_aperture_does(succeeds: Run, shots: BoardShots, tmp_path: Path) -> None:
    out = tmp_path / "camera.yaml"
    arguments = command(shots, out, aperture_model="off", order="constant")
    result = succeeds(*arguments, "--json").json
    assert (result["aperture_model"], result["order"]) == ("off", "constant")
    assert abs(result["median_before"]) > 0.02
    assert result["median_size_after"] < result["median_size_before"] / 3
    assert set(result["held_out"]) == {"constant", "linear", "quadratic"}
    assert load_plenoptic_camera(out).depth_scale_model == "off"
    # The camera with Γ may take the place of the one without: its Γ is left aside, and nothing is estimated again.
    again = succeeds(*command(shots, out, camera=out, aperture_model="off", order="constant"), "--json").json
    assert (again["up_to_date"], again["depth_scale"]) == (True, result["depth_scale"])
    text = succeeds(*arguments).words
    assert "up to date; camera:" in text
    assert f"median scale error: {100 * result['median_before']:.3f} % before" in text
    assert "constant" in text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--board '9 by 5'", "--board"),
        ("--board 4x3:2.5mm", "have a corner"),
        ("--boards none", "is no folder"),
        ("--camera r12-a", "outside their micro-images"),
        ("--boards 00 --order quadratic", "3 or more distances"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, shots: BoardShots, tmp_path: Path, given: str, message: str) -> None:
    out = tmp_path / "camera.yaml"
    assert message in refused(*command(shots, out), *shlex.split(given), folder=shots.boards)
    assert not out.exists()
