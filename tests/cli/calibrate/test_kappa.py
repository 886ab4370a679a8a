"""plenodepth calibrate kappa: camera, record, figure, and bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from board_shots import BoardShots, board_shots
from commands import Refused, Run

from plenodepth.calib.feature_files import read_features, write_features
from plenodepth.camera import load_plenoptic_camera, preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.io import read_image


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> BoardShots:
    """Boards, and beside them files that do not belong to them."""
    folder = tmp_path_factory.mktemp("shots")
    shots = board_shots(folder)
    found = read_features(shots.features)
    write_features(replace(found, frame=found.frame + 100), folder / "frames.csv")
    write_features(replace(found, k=found.k + 20), folder / "lenses.csv")
    write_features(replace(found, rho=np.full(len(found), np.nan)), folder / "no-radii.csv")
    header, line, *rest = shots.features.read_text().splitlines()
    (folder / "nan.csv").write_text("\n".join([header, ",".join(["0", "1", "1", "nan", *line.split(",")[4:]]), *rest]))
    save_camera(shrunk(preset("r12-a-pinhole")), folder / "pinholes.yaml")
    return shots


def command(shots: BoardShots, out: Path, **changed: object) -> list[object]:
    given = {
        "camera": shots.camera,
        "boards": shots.boards,
        "features": shots.features,
        "white": shots.white,
        "out": out,
        **changed,
    }
    return ["calibrate", "kappa", *(part for name, value in given.items() for part in (f"--{name}", value))]


def test_kappa_is_found_and_written_with_its_error(succeeds: Run, shots: BoardShots, tmp_path: Path) -> None:
    out = tmp_path / "camera.yaml"
    result = succeeds(*command(shots, out), "--json").json
    # Where the operator of depth estimation makes corners equal: see calib.blur_coefficient.
    assert result["kappa"] == pytest.approx(0.58, abs=0.05)
    assert 0 < result["standard_error"] < 0.03
    assert result["pairs"] >= 20
    assert [row["frame"] for row in result["frames"]] == shots.frames
    assert not result["up_to_date"]
    camera = load_plenoptic_camera(out)
    assert camera.blur_coefficient == result["kappa"]
    assert any(note.startswith("κ = ") for note in camera.provenance.notes)
    assert read_image(result["figure"]).ndim == 3


def test_a_step_that_is_up_to_date_is_not_done_again(succeeds: Run, shots: BoardShots, tmp_path: Path) -> None:
    out = tmp_path / "camera.yaml"
    first = succeeds(*command(shots, out), "--json").json
    # The camera with κ is the same but for κ, and may replace the one it came from.
    second = succeeds(*command(shots, out, camera=out), "--json").json
    assert (second["up_to_date"], second["kappa"]) == (True, first["kappa"])
    notes = load_plenoptic_camera(out).provenance.notes
    assert sum(note.startswith("κ = ") for note in notes) == 1
    assert not succeeds(*command(shots, out), "--fresh", "--json").json["up_to_date"]
    text = succeeds(*command(shots, out)).words
    assert f"κ = {first['kappa']:.4f} ± {first['standard_error']:.4f}" in text
    assert "up to date; camera:" in text
    found = read_features(shots.features)
    write_features(found.where(np.arange(len(found)) > 0), tmp_path / "fewer.csv")
    assert not succeeds(*command(shots, out, features=tmp_path / "fewer.csv"), "--json").json["up_to_date"]


def test_frames_that_are_left_out_are_said(succeeds: Run, shots: BoardShots, tmp_path: Path) -> None:
    found = read_features(shots.features)
    write_features(replace(found, frame=np.where(found.frame == 4, 9, found.frame)), tmp_path / "some.csv")
    result = succeeds(*command(shots, tmp_path / "camera.yaml", features=tmp_path / "some.csv"), "--json").json
    assert [row["frame"] for row in result["frames"]] == [0, 1, 2, 3]
    assert result["notes"] == [
        "left out: frames 9 have features but no image",
        "left out: frames 4 are images without features",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--boards none", "is no folder"),
        ("--features none.csv", "none.csv"),
        ("--white none.png", "none.png"),
        ("--camera r12-a", "outside their micro-images"),
        ("--camera pinholes.yaml", "has pinholes"),
        ("--out camera.js", "--out"),
        ("--out none/camera.yaml", "in no folder"),
        ("--features frames.csv", "of frames 100, 101"),
        ("--features lenses.csv", "has 0 … 23"),
        ("--features nan.csv", "u is not finite"),
        ("--features no-radii.csv", "0 pairs"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, shots: BoardShots, tmp_path: Path, given: str, message: str) -> None:
    out = tmp_path / "camera.yaml"
    assert message in refused(*command(shots, out), *given.split(), folder=shots.camera.parent)
    assert not out.exists()
