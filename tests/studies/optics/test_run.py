"""The study of real lenses, in small: one known effect, its files, and that nothing is done twice."""

import csv
import json
from pathlib import Path

import pytest
from optics_results import optics_result

from plenodepth.camera import preset
from plenodepth.camera.presets import shrunk
from plenodepth.sim.optics import OPTICS_PRESETS
from plenodepth.studies.optics import run
from plenodepth.studies.optics.effects import EFFECTS
from plenodepth.studies.optics.results import CSV, CSV_COLUMNS, JSON, save_optics_result
from plenodepth.studies.optics.run import WallPlace, plan_optics, study_optics, wall_camera, wall_places
from plenodepth.studies.reproduction.study import Study

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
