"""`plenodepth camera predict-scale`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run
from random_cameras import base
from vendor_grid import grid_xml

from plenodepth.camera import save_camera


@pytest.fixture(autouse=True)
def few_depths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three depths instead of 14, so that a run takes a second."""
    monkeypatch.setattr("plenodepth.calib.scale.prediction.round_depths", lambda camera: np.array([600.0, 900, 1500]))


def test_a_table_of_depths_and_of_scales(succeeds: Run) -> None:
    words = succeeds("camera", "predict-scale", "r12-es").words
    assert "depth found without correction at f/4" in words
    assert "true z [mm] found [mm] f/1.4 f/2.8 f/4 f/5.6 f/8" in words
    assert "600 7" in words
    assert "+0.0 %" in words
    assert "γ0 [mm] γ1 γ2 [1e-5/mm] RMSE" in words


def test_another_aperture_in_json_and_a_figure(succeeds: Run, tmp_path: Path) -> None:
    shown = succeeds(
        "camera", "predict-scale", "r12-es", "--aperture", "3.5", "--json", "--figure", tmp_path / "scale.png"
    ).json
    assert (tmp_path / "scale.png").read_bytes().startswith(b"\x89PNG")
    assert shown["f_number"] == 3.5
    assert shown["margin"] == 2.5
    assert [part["f_number"] for part in shown["predictions"]] == [1.4, 2.8, 3.5, 4.0, 5.6, 8.0]
    for part in shown["predictions"]:
        assert part["depth"] == [600.0, 900.0, 1500.0]
        assert len(part["depth_scale"]) == 3
    at_900 = [part["uncorrected"][1] for part in shown["predictions"]]
    assert at_900 == sorted(at_900)
    assert at_900[0] == pytest.approx(900, rel=0.002)


def test_help_has_an_example(succeeds: Run) -> None:
    words = succeeds("camera", "predict-scale", "--help").words
    assert "plenodepth camera predict-scale r12-es --aperture 4 --figure scale.png" in words


def test_what_cannot_be_predicted_is_one_line(refused: Refused, tmp_path: Path) -> None:
    camera = base("r12-mini")
    path, grid = tmp_path / "c.yaml", tmp_path / "grid.xml"
    save_camera(replace(camera, main_lens=replace(camera.main_lens, f_number=None)), path)
    error = refused("camera", "predict-scale", path)
    assert error == f"{path}: main_lens.f_number: camera 'r12-mini' has no f-number (add it to the camera file)"
    grid.write_text(grid_xml())
    error = refused("camera", "predict-scale", grid, "--image-size", "2048x2048")
    assert error == f"{grid}: a grid without optics has no aperture to predict from"
    assert refused("camera", "predict-scale", "r12-es", "--aperture", "0").startswith("r12-es: f_number: is 0")
    assert refused("camera", "predict-scale", "r12-es", "--margin", "20").startswith("r12-es: margin: is 20 px")
    assert "pinholes" in refused("camera", "predict-scale", "r12-a-pinhole")
    assert refused("camera", "predict-scale", "nothing").startswith("nothing: is neither")
