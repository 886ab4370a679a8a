"""The calibration as one function: images in, camera with uncertainties and advice out."""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from board_shots import BOARD, BoardShots, board_shots

from plenodepth.calib import AdjustSettings, Calibration, Optics, calibrate, calibrate_from_features, read_features
from plenodepth.calib.features import Board
from plenodepth.camera import load_plenoptic_camera
from plenodepth.errors import InputError

OPENED: Counter[str] = Counter()
WATCHED: list[Path] = []


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Count how often files are opened; Python has no way to take such a hook off again, so it looks at a list."""
    if event == "open" and WATCHED and isinstance(arguments[0], str) and arguments[0].startswith(str(WATCHED[0])):
        OPENED[arguments[0]] += 1


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> BoardShots:
    return board_shots(tmp_path_factory.mktemp("shots"))


def optics_of(shots: BoardShots) -> Optics:
    sensor = load_plenoptic_camera(shots.camera).sensor
    return Optics(50.0, 4.0, 450.0, sensor.pixel_size, sensor.width, sensor.height)


@pytest.fixture(scope="module")
def calibrated(shots: BoardShots, tmp_path_factory: pytest.TempPathFactory) -> tuple[Calibration, Path, Counter[str]]:
    """A calibration by one white image, its work folder, and how often each image was opened."""
    work = tmp_path_factory.mktemp("work")
    sys.addaudithook(watch)
    WATCHED.append(shots.boards.parent)
    try:
        found = calibrate(
            shots.boards,
            f"{BOARD.columns}x{BOARD.rows}:{BOARD.square}mm",
            optics_of(shots),
            whites=[shots.white],
            work=work,
        )
    finally:
        WATCHED.clear()
    return found, work, Counter({name: count for name, count in OPENED.items() if name.endswith("raw.png")})


def test_it_gives_a_camera_with_uncertainties_and_advice(
    shots: BoardShots, calibrated: tuple[Calibration, Path, Counter[str]]
) -> None:
    found, true = calibrated[0], load_plenoptic_camera(shots.camera)
    assert found.camera.main_lens.focal_length == pytest.approx(true.main_lens.focal_length, rel=0.01)
    assert found.camera.provenance.covariance is not None
    assert found.camera.blur_coefficient == found.summary.kappa.kappa == found.kappa.kappa
    assert found.summary.rmse_uv < 0.3
    assert found.made_now == {"white": True, "features": True, "kappa": True}
    assert "frame_count" in [item.rule for item in found.advice], "five frames are few"
    assert len(found.summary.inputs) == len(shots.frames) + 1


def test_an_image_is_opened_once_to_be_read_and_once_for_its_hash(
    shots: BoardShots, calibrated: tuple[Calibration, Path, Counter[str]]
) -> None:
    opened = calibrated[2]
    assert len(opened) == len(shots.frames) + 1
    assert set(opened.values()) == {2}


def test_what_was_found_can_be_saved_and_begun_with(
    calibrated: tuple[Calibration, Path, Counter[str]], tmp_path: Path
) -> None:
    found, work, _ = calibrated
    found.save(tmp_path / "out")
    for name in ("start.yaml", "features.csv", "centers.csv", "poses.js"):
        assert (tmp_path / "out" / name).read_bytes() == (work / name).read_bytes()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["rmse_uv"] == found.summary.rmse_uv
    assert load_plenoptic_camera(tmp_path / "out" / "camera.yaml").blur_coefficient == found.kappa.kappa
    features = read_features(tmp_path / "out" / "features.csv")
    again = calibrate_from_features(features, found.centers, BOARD, found.start, settings=AdjustSettings(aperture=True))
    assert again.summary.rmse_uv == found.summary.rmse_uv
    assert again.camera.main_lens.focal_length == found.camera.main_lens.focal_length


def test_results_are_kept_until_they_are_not_wanted(
    shots: BoardShots, calibrated: tuple[Calibration, Path, Counter[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, work, _ = calibrated
    given = (shots.boards, BOARD, optics_of(shots))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("is done again")

    with monkeypatch.context() as patch:
        patch.setattr("plenodepth.calib.whites.step.precalibrate", refuse)
        patch.setattr("plenodepth.calib.corners.step.find_features", refuse)
        second = calibrate(*given, whites=[shots.white], work=work, threads=1)
        assert second.made_now == {"white": False, "features": False, "kappa": False}
        assert second.kappa == first.kappa
        with pytest.raises(AssertionError, match="is done again"):
            calibrate(*given, whites=[shots.white], work=work, fresh=True)


@pytest.mark.parametrize(
    ("boards", "board", "message"),
    [
        ("nowhere", "9x5:10mm", "nowhere: is no folder"),
        (["nowhere.png"], "9x5:10mm", "nowhere.png: is no file"),
        ([], "9x5:10mm", "boards: are missing"),
        ("nowhere", "9 by 5", "board: is '9 by 5'"),
        ("nowhere", "9x5:10 parsec", "board: is '10 parsec'"),
    ],
)
def test_wrong_arguments_are_named(boards: object, board: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibrate(boards, board, Optics(50.0, 4.0, 450.0, 0.0055, 100, 100))


def test_a_board_may_be_a_text() -> None:
    board = Board.from_text("9x5:1cm")
    assert (board.columns, board.rows, board.square) == (9, 5, 10.0)


@pytest.mark.parametrize("room", ["", ".whites", ".corners", ".bundle", ".blur", ".scale", ".lidar", ".advice"])
def test_a_room_offers_functions_and_classes_not_modules(room: str) -> None:
    package = import_module(f"plenodepth.calib{room}")
    assert package.__all__
    assert not [name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)]
