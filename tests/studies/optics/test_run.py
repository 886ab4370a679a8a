"""The study of real lenses, in small: one known effect, its files, and that nothing is done twice."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from optics_results import optics_result

from plenodepth.calib.features import Board, Features, require_features_of
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.camera import PlenopticCamera, preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.sim.optics import OPTICS_PRESETS
from plenodepth.studies.optics import run
from plenodepth.studies.optics.effects import EFFECTS
from plenodepth.studies.optics.results import CSV, CSV_COLUMNS, JSON, NoScale, save_optics_result
from plenodepth.studies.optics.run import (
    WallPlace,
    fit_scale_if_any,
    plan_optics,
    relative_errors_if_scaled,
    study_optics,
    wall_camera,
    wall_places,
    with_true_camera,
)
from plenodepth.studies.reproduction.datasets import BoardShots, Dataset, DatasetCalibration
from plenodepth.studies.reproduction.methods import AWARE, AWARE_S
from plenodepth.studies.reproduction.sources import BoardImages, Source
from plenodepth.studies.reproduction.study import Study
from plenodepth.view.reports.formats import MISSING
from plenodepth.view.reports.optics import optics_tables

CAMERA = shrunk(preset("r12-es"), 16, 14)


def test_a_wrong_f_number_makes_walls_seem_farther_and_a_second_run_has_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, told = "f-number 10 % larger than said", list[str]()
    study = Study(tmp_path / "out", quick=True, threads=1)
    settings = {"camera": CAMERA, "places": (WallPlace(name, EFFECTS[name], 0.0),), "twins": ()}
    result = study_optics(study, lambda done, total, what: told.append(what), **settings)
    (row,) = result.walls
    assert row.virtual_depths == (3.5, 5.0, 8.0, 12.0)
    assert 0.01 < row.errors[0] < 0.03
    assert 0.02 < row.errors[1] < 0.045
    assert row.errors[1] < row.errors[2] < row.errors[3] < 0.08
    assert abs(row.scaled_errors[1]) < abs(row.errors[1]) / 2
    assert any("wall at" in what for what in told)
    content = json.loads((study.out / JSON).read_text(encoding="utf-8"))
    assert content["walls"][0]["errors"] == list(row.errors)
    monkeypatch.setattr(run, "wall_errors", lambda *given, **options: pytest.fail("a wall was made again"))
    assert study_optics(study, **settings).walls == result.walls


def test_all_effects_are_measured_and_every_twin_with_real_lenses() -> None:
    places = wall_places()
    assert [place.name for place in places if place.off_axis == 0] == list(EFFECTS)
    assert {place.name for place in places if place.off_axis > 0} >= {"none", "curved field", "exit pupil and rim"}
    stages = [stage.experiment for stage in plan_optics(Study(Path("out"), quick=True))]
    assert all(
        f"{name}: {what}" in stages
        for name in (*OPTICS_PRESETS, "r12-a", "r12-es")
        for what in ("simulation", "calibration")
    )
    assert wall_camera(quick=False).sensor.width == pytest.approx(2 * wall_camera(quick=True).sensor.width, rel=0.01)


def test_the_table_has_a_row_for_each_wall_and_frame_and_is_empty_where_there_is_no_figure(tmp_path: Path) -> None:
    save_optics_result(optics_result(), tmp_path)
    with (tmp_path / CSV).open(encoding="utf-8", newline="") as file:
        first, *rows = csv.reader(file)
    assert tuple(first) == CSV_COLUMNS
    assert [row[0] for row in rows] == ["wall"] * 4 + ["frame"] * 2 + ["relative"]
    assert rows[2] == ["wall", "rim | cat's eye", "13.0", "3.5", "1500.0", "-0.0123", ""]
    assert rows[4][:5] == ["frame", "r12-a-real, true camera", "0.0", "", "500.0"]
    assert [float(cell) for cell in rows[4][5:]] == pytest.approx([0.01, 0.0])
    assert rows[-1][-2:] == ["0.0114", "0.0042"]
    assert json.loads((tmp_path / JSON).read_text(encoding="utf-8"))["walls"][1]["errors"] == [-0.0123, None]


def test_a_twin_without_a_scale_has_its_reason_below_the_table_and_the_others_their_figures(tmp_path: Path) -> None:
    whole = optics_result()
    (twin,) = whole.twins
    without = replace(twin, camera="calibrated", scaled_errors=NoScale("no frame has depth at 4 corners"))
    assert np.isnan([without.scaled_mean, without.scaled_depth_error]).all()
    result = replace(whole, twins=(without, twin))
    table = optics_tables(result)[-1]
    assert table.rows[0] == ["r12-a-real", "calibrated", "1.14", MISSING, "1.00", MISSING]
    assert MISSING not in table.rows[1]
    assert "Γ for r12-a-real, calibrated camera, could not be fitted: no frame has depth at 4 corners." in table.note
    save_optics_result(result, tmp_path)
    content = json.loads((tmp_path / JSON).read_text(encoding="utf-8"))
    assert content["twins"][0]["scaled_errors"] == {"reason": "no frame has depth at 4 corners"}
    with (tmp_path / CSV).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[1] == "r12-a-real, calibrated camera"]
    assert [row[-1] for row in rows] == ["", "", ""]


def test_corners_follow_their_micro_images_into_the_true_camera_which_counts_them_otherwise(tmp_path: Path) -> None:
    """A grid found in white images may have a row less above: the same index is then another lens, of other parity."""
    true = replace(CAMERA, depth_scale=None)
    found = _with_one_row_less(true)
    features = _features(found)
    board, paths = Board(2, 2, 10.0), (Path("white.png"), Path("board.png"))
    boards = BoardShots(board, (), paths[0], features)
    calibration = DatasetCalibration("r12-es-real", found, found, found, boards)
    optics = Optics(50.0, 4.0, 2133.0, true.sensor.pixel_size, true.sensor.width, true.sensor.height)
    source = Source(tmp_path, optics, (), BoardImages(board, ()), None, (), {}, "")
    dataset = Dataset("r12-es-real", source, calibration, boards)
    save_camera(true, tmp_path / "camera.yaml")
    known = with_true_camera(dataset, tmp_path / "camera.yaml")
    moved = known.scale_boards.features
    assert np.array_equal(moved.l, features.l + 1)
    assert np.array_equal(moved.k, features.k)
    assert np.array_equal(moved.uv, features.uv)
    require_features_of(moved, known.camera)
    # What the study did before: an error now, that says what is wrong, instead of boards without depth.
    wrong = replace(known, scale_boards=boards)
    study = Study(tmp_path / "out", quick=True)
    refused = fit_scale_if_any(study, wrong, AWARE, "blur_aware", "best", ())
    assert isinstance(refused, NoScale)
    assert "lie outside their micro-images" in refused.reason
    assert relative_errors_if_scaled(study, wrong, AWARE_S, refused, (), True) is refused


def _with_one_row_less(camera: PlenopticCamera) -> PlenopticCamera:
    """The camera with its uppermost row of micro-images not counted."""
    given = camera.micro_images
    lattice = replace(given.lattice, rows=given.lattice.rows - 1, shifted_parity=1 - given.lattice.shifted_parity)
    pose = given.image_from_lattice
    shift = pose(given.lattice.node(0, 1)) - pose(lattice.node(0, 0))
    moved = replace(pose, translation=pose.translation + shift)
    return replace(camera, micro_images=replace(given, lattice=lattice, image_from_lattice=moved))


def _features(camera: PlenopticCamera) -> Features:
    """A corner near the centre of each micro-image of the left half."""
    k, l = (index[:, :8].ravel() for index in camera.micro_images.lattice.indices())
    number = np.arange(len(k))
    return Features(
        frame=np.zeros_like(number),
        k=k,
        l=l,
        uv=camera.micro_images.center(k, l) + [3.0, -2.0],
        covariance=np.broadcast_to(np.eye(2) * 0.01, (len(k), 2, 2)),
        rho=np.full(len(k), 2.0),
        rho_sigma=np.full(len(k), 0.1),
        cluster=number % 4,
        corner=number % 4,
        board=np.zeros_like(number),
    )


@pytest.mark.slow
def test_a_twin_with_real_lenses_goes_from_its_images_to_depth(tmp_path: Path) -> None:
    """With the true camera walls are right; the calibrated one knows neither pupil nor clear aperture, and is near."""
    study = Study(tmp_path / "out", quick=True, threads=2)
    calibrated, true = study_optics(study, places=(), twins=("r12-es-real",)).twins
    assert (calibrated.camera, true.camera) == ("calibrated", "true")
    assert true.depth_error < 0.006
    assert true.errors.mean < 0.025
    assert calibrated.depth_error < 0.02
    assert calibrated.errors.depth_scale is None
    assert calibrated.scaled_errors.depth_scale is not None
