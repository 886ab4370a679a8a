"""plenodepth evaluate views: table, JSON, gain, bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from commands import Refused, Run

from plenodepth.camera import load_views, save_views
from plenodepth.io import read_image, write_light

SCENE = """
plenodepth_scene: 1
objects:
  - {kind: checkerboard, columns: 3, rows: 3, square: 24, margin: 10, center: [0, 0, 600], rotation: [0, 0, 5]}
"""


def test_a_rendered_view_is_measured(succeeds: Run, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text(SCENE)
    succeeds(
        "simulate", "views", tmp_path / "board.yaml", "--camera", "r12-mini", "--scale", 1, "--out", tmp_path / "t"
    )
    (view,) = load_views(tmp_path / "t")
    (tmp_path / "r").mkdir()
    light = read_image(tmp_path / "t" / f"{view.name}.light.tiff")
    write_light(light / np.float32(2), tmp_path / "r" / f"{view.name}.light.tiff")
    save_views([view], tmp_path / "r")
    plain = succeeds("evaluate", "views", tmp_path / "r", tmp_path / "t")
    assert "light as stored, no gain" in plain.out
    assert "MTF50" in plain.out
    fitted = succeeds("evaluate", "views", tmp_path / "r", tmp_path / "t", "--gain", "fit")
    assert "light times 2.00000, fitted" in fitted.out
    content = succeeds("evaluate", "views", tmp_path / "r", tmp_path / "t", "--json").json
    assert content["kind"] == "views"
    assert 5 < content["mean_psnr_db"] < 20
    edges = content["views"][0]["edges"]
    assert len(edges) >= 4
    assert all(abs(edge["mtf50"] - edge["true_mtf50"]) < 1e-4 for edge in edges)
    assert "views.json" in refused("evaluate", "views", tmp_path / "r", tmp_path)
