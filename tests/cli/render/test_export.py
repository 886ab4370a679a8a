"""plenodepth render export: from a folder of views and from a dense view; bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from commands import Refused, Run

from plenodepth.camera import central_pinhole, preset
from plenodepth.render import RenderedView
from plenodepth.render.view_files import save_rendered


def a_view(*, metric: bool = True) -> RenderedView:
    shape = (20, 30)
    depth = np.full(shape, 700, np.float32)
    pinhole = central_pinhole(preset("r12-mini"), 4) if metric else None
    maps = np.full((*shape, 3), 0.5, np.float32), depth, depth / 100, depth / 1000, depth < 0
    return RenderedView(*maps, pinhole, 4.0, metric, name="frame")


def test_a_folder_of_views_is_exported(succeeds: Run, tmp_path: Path) -> None:
    save_rendered([a_view()], tmp_path / "views")
    out = tmp_path / "out"
    assert "1 view for opencv" in succeeds("render", "export", tmp_path / "views", "--to", "opencv", "--out", out).out
    assert (out / "frame.yaml").is_file()
    content = succeeds("render", "export", tmp_path / "views", "--to", "colmap", "--out", out / "c", "--json").json
    assert content == {"views": ["frame"], "format": "colmap", "out": str(out / "c")}
    assert (out / "c" / "sparse" / "0" / "points3D.txt").is_file()


def test_bad_input_is_one_line(refused: Refused, tmp_path: Path) -> None:
    save_rendered([a_view(metric=False)], tmp_path / "grid")
    save_rendered([a_view()], tmp_path / "views")
    out = ("--out", tmp_path / "out")
    assert "lens grid only" in refused("render", "export", tmp_path / "grid", "--to", "glb", *out)
    assert "--camera: is for" in refused(
        "render", "export", tmp_path / "views", "--to", "glb", "--camera", "r12-mini", *out
    )
    assert "--camera: is missing" in refused("render", "export", tmp_path / "raw.dense.tiff", "--to", "glb", *out)
    assert "has no depth" in refused(
        "render", "export", tmp_path / "views", "--to", "glb", "--least-confidence", 0.9, *out
    )
    assert not (tmp_path / "out").exists()
