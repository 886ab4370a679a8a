"""plenodepth render allfocus, views, refocus and sweep: what they write, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run
from PIL import Image
from rendered import FRAME, camera, scene
from simulated import scene_shot, white_shot

from plenodepth import save_camera
from plenodepth.io import read_float_map, write_image
from plenodepth.render import load_rendered


@pytest.fixture
def raw(tmp_path: Path) -> list[object]:
    """Image, camera and white image, as the commands take them."""
    save_camera(camera(), tmp_path / "camera.yaml")
    white = white_shot(4.0, camera(), FRAME) / "raw.png"
    image = scene_shot(scene(), camera(), FRAME) / "raw.png"
    return [image, "--camera", tmp_path / "camera.yaml", "--white", white, "--scale", "4"]


def test_allfocus_writes_a_view_that_loads_again(succeeds: Run, tmp_path: Path, raw: list[object]) -> None:
    out = tmp_path / "sharp"
    content = succeeds("render", "allfocus", *raw, "--out", out, "--json").json
    assert content["size"] == [233, 182]
    assert "focus locked" in content["note"]
    (view,) = load_rendered(out)
    assert view.pinhole is not None
    assert view.scale == 4
    assert abs(np.median(view.depth) / 1400 - 1) < 0.02
    assert (out / "raw.png").is_file()
    assert read_float_map(out / "raw.depth.tiff").shape == view.light.shape[:2]


def test_views_refocus_and_sweep(succeeds: Run, tmp_path: Path, raw: list[object]) -> None:
    content = succeeds("render", "views", *raw, "--grid", "3x1", "--out", tmp_path / "views", "--json").json
    assert content["views"] == ["view-00-00", "view-00-01", "view-00-02"]
    assert [view.viewpoint for view in load_rendered(tmp_path / "views")] == [(-0.6, 0), (0, 0), (0.6, 0)]
    stack = "--at", "800mm", "--at", "1.4m", "--aperture", "4"
    content = succeeds("render", "refocus", *raw, *stack, "--out", tmp_path / "stack", "--json").json
    assert content["depths"] == [800, 1400]
    assert [view.name for view in load_rendered(tmp_path / "stack")] == ["raw-800mm", "raw-1400mm"]
    succeeds("render", "sweep", *raw, "--count", "3", "--out", tmp_path / "turn.gif", "--json")
    with Image.open(tmp_path / "turn.gif") as gif:
        assert gif.n_frames == 3  # type: ignore[attr-defined]
    succeeds("render", "views", *raw, "--grid", "2x1", "--yuv", "--view-depth", "--out", tmp_path / "video", "--json")
    assert (tmp_path / "video" / "v001-232x182.yuv").stat().st_size == 232 * 182 * 3 // 2
    assert len(json.loads((tmp_path / "video" / "video.json").read_text())["depth_files"]) == 2


def test_bad_input_is_one_line(refused: Refused, tmp_path: Path, raw: list[object]) -> None:
    out = ("--out", tmp_path / "out")
    assert "1.27 radii of the pupil" in refused("render", "views", *raw, "--span", "0.9", *out)
    assert "--grid: is '5'" in refused("render", "views", *raw, "--grid", "5", *out)
    assert "--view-depth: is for --yuv" in refused("render", "views", *raw, "--view-depth", *out)
    assert "--at: is 'near'" in refused("render", "refocus", *raw, "--at", "near", *out)
    assert "ends in '.avi'" in refused("render", "sweep", *raw, "--out", tmp_path / "turn.avi")
    assert "scale: is 0.2" in refused("render", "allfocus", *raw[:-1], "0.2", *out)
    assert not (tmp_path / "out").exists()


def test_an_image_without_texture_is_one_line(refused: Refused, tmp_path: Path, raw: list[object]) -> None:
    shape = camera().sensor.height, camera().sensor.width
    write_image(np.full(shape, 128, np.uint8), tmp_path / "plain.png")
    options = "--devignetting", "none", "--no-check-camera", "--out", tmp_path / "out"
    line = refused("render", "allfocus", tmp_path / "plain.png", *raw[1:3], *options)
    assert "no pixel has a depth" in line
    assert not (tmp_path / "out").exists()
