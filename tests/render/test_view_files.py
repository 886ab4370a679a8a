"""Folders of rendered views, and dense views of `plenodepth depth`, read back."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import Pinhole, preset
from plenodepth.errors import InputError
from plenodepth.io import write_float_map
from plenodepth.metric.dense.central_view import CentralView
from plenodepth.render import RenderedView
from plenodepth.render.view_files import load_dense, load_rendered, save_rendered, view_of_dense

CAMERA = preset("r12-mini")


def a_view(name: str = "a", pinhole: Pinhole | None = None, channels: int = 3) -> RenderedView:
    random = np.random.default_rng(4)
    light, *maps = (random.random((6, 9, *more), np.float32) for more in ((channels,), (), (), ()))
    maps[0][2, 3] = np.nan
    return RenderedView(light, *maps, maps[0] > 0.5, pinhole, 2.0, pinhole is not None, (0.1, -0.2), name)


def require_same(view: RenderedView, other: RenderedView) -> None:
    for part in fields(view):
        mine, its = getattr(view, part.name), getattr(other, part.name)
        if isinstance(mine, np.ndarray):
            assert np.array_equal(mine, its, equal_nan=mine.dtype != bool), part.name
        elif isinstance(mine, Pinhole):
            assert np.array_equal(mine.matrix, its.matrix)
            assert np.array_equal(mine.center, its.center)
        else:
            assert mine == its


@pytest.mark.parametrize("channels", [1, 3])
def test_views_there_and_back(tmp_path: Path, channels: int) -> None:
    pinhole = Pinhole(400.0, 401.0, 4.5, 3.25, np.array([1.0, -2.0, 0]))
    views = [a_view("a", pinhole, channels), a_view("b", None, channels)]
    save_rendered(views, tmp_path)
    for view, read in zip(views, load_rendered(tmp_path), strict=True):
        require_same(view, read)


def test_maps_of_another_size_are_refused(tmp_path: Path) -> None:
    save_rendered([a_view()], tmp_path)
    write_float_map(np.zeros((3, 3)), tmp_path / "a.sigma.tiff")
    with pytest.raises(InputError, match="3 × 3 px"):
        load_rendered(tmp_path)
    with pytest.raises(InputError, match="not all different"):
        save_rendered([a_view(), a_view()], tmp_path)


def test_a_dense_view_is_that_of_the_pinhole_in_the_main_lens(tmp_path: Path) -> None:
    shape = (101, 140)
    random = np.random.default_rng(0)
    depth, sigma, confidence = (random.random(shape, np.float32) for _ in range(3))
    dense = CentralView(
        depth=500 + depth,
        sigma=sigma,
        confidence=confidence,
        light=random.random((*shape, 3), np.float32),
        micro_images=np.ones(shape, np.uint16),
        filled=depth > 0.9,
        side=np.zeros(shape, np.uint8),
        scale=4,
        metric=True,
    )
    dense.write(tmp_path, "raw")
    summary = tmp_path / "raw.json"
    summary.write_text('{"median_z_mm": 500, "settings": {"dense": {"scale": 4}}}')
    read, made = load_dense(tmp_path / "raw.dense.tiff", CAMERA), view_of_dense(dense, CAMERA, "raw")
    assert np.abs(read.light - made.light).max() < 0.02  # it is kept as 8-bit sRGB
    require_same(replace(read, light=made.light), made)
    with pytest.raises(InputError, match="give the camera"):
        load_dense(tmp_path / "raw.dense.tiff", preset("r12-e"))
    summary.write_text('{"settings": {"dense": {"scale": 4}}}')
    with pytest.raises(InputError, match="lens grid only"):
        load_dense(tmp_path / "raw.dense.tiff", CAMERA)
    with pytest.raises(InputError, match="is no dense view"):
        load_dense(tmp_path / "raw.csad.tiff", CAMERA)
