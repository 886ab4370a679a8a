"""The report of a frame: what its page says, shows and embeds."""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from planes import plane_image, small_camera

from plenodepth.camera import GridCamera
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.settings import DepthSettings
from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.frame import estimate_depth
from plenodepth.metric.picture import color_table
from plenodepth.metric.quality import Quality
from plenodepth.metric.result import DepthResult
from plenodepth.raw.image import Devignetting
from plenodepth.view.reports.depth import depth_report, write_depth_report
from plenodepth.view.reports.depth_advice import depth_advice
from plenodepth.view.reports.depth_maps import shown_maps
from plenodepth.view.reports.embedded_cloud import MOST_POINTS, STEPS, embedded_cloud, thinned_points
from plenodepth.view.reports.map_pictures import map_picture

MOST_BYTES = 8_000_000


@pytest.fixture(scope="module")
def coarse() -> DepthResult:
    return estimate_depth(plane_image(900.0), small_camera())


@pytest.fixture(scope="module")
def dense() -> DepthResult:
    return estimate_depth(plane_image(900.0), small_camera(), dense=DenseSettings(enabled=True))


@pytest.fixture(scope="module")
def of_grid(coarse: DepthResult) -> DepthResult:
    camera = coarse.camera
    bands = np.array([[2, 4], [3, 6], [5, 20]])
    grid = GridCamera("grid", camera.sensor.width, camera.sensor.height, camera.micro_images, bands)
    return replace(coarse, camera=grid, metric=None, summary=replace(coarse.summary, metric=False))


def embedded(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(text))


def pixels(uri: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.split(",", 1)[1]))).convert("RGB"))


def test_a_page_holds_all_that_it_needs(dense: DepthResult, tmp_path: Path) -> None:
    write_depth_report(dense, tmp_path / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert len(page) < MOST_BYTES
    sources = re.findall(r"""(?:src|href)=["']([^"']*)""", page)
    assert len(sources) == 4
    assert all(source.startswith("data:image/") for source in sources)
    assert not re.search(r"https?://|@import|url\(", page)
    assert "default-src 'none'" in page


def test_the_picture_is_that_of_the_dense_view(dense: DepthResult) -> None:
    view = dense.dense
    assert view is not None
    maps = shown_maps(dense)
    np.testing.assert_array_equal(maps.depth, view.depth)
    np.testing.assert_array_equal(maps.picture, view.picture)
    assert "all in focus" in depth_report(dense)


def test_without_a_dense_view_the_picture_has_the_pixels_of_the_depth(
    coarse: DepthResult, of_grid: DepthResult
) -> None:
    for result, unit in ((coarse, "mm"), (of_grid, "virtual depth")):
        maps = shown_maps(result)
        assert maps.picture.shape == (*maps.depth.shape, 3)
        assert maps.unit == unit
        assert maps.picture.any(axis=-1)[np.isfinite(maps.depth)].mean() > 0.9
    assert "--dense" in depth_report(coarse)


def test_the_picture_of_micro_images_shows_the_colour_of_their_middle(of_grid: DepthResult) -> None:
    k, l = 10, 12
    u, v = np.rint(of_grid.camera.micro_images.center(k, l)).astype(int)
    light = float(of_grid.image.gray[v - 1 : v + 2, u - 1 : u + 2].mean())
    encoded = 255 * (1.055 * light ** (1 / 2.4) - 0.055)
    assert shown_maps(of_grid).picture[l, k, 0] == pytest.approx(encoded, abs=1)


def test_a_grid_alone_gives_no_cloud_and_says_why(of_grid: DepthResult) -> None:
    page = depth_report(of_grid)
    assert "<canvas" not in page
    assert "millimetres need a calibrated camera" in page


def test_the_embedded_points_are_those_of_the_cloud(dense: DepthResult) -> None:
    assert dense.dense is not None
    cloud = dense.dense.cloud(small_camera())
    content = embedded(depth_report(dense))
    count = content["count"]
    assert count == len(cloud)
    data = base64.b64decode(content["points"])
    low, high = np.array(content["low"]), np.array(content["high"])
    points = low + (high - low) * np.frombuffer(data, "<u2", 3 * count).reshape(-1, 3) / STEPS
    assert np.abs(points - cloud.points).max() <= ((high - low) / STEPS).max()
    shades = np.frombuffer(data, np.uint8, offset=6 * count).reshape(-1, 4)
    np.testing.assert_array_equal(shades[:, :3], cloud.colors)
    np.testing.assert_allclose(shades[:, 3] / 255, cloud.confidence, atol=0.002)


def test_of_a_large_cloud_the_surest_point_of_each_square_is_taken() -> None:
    side = 700
    row, column = np.divmod(np.arange(side * side), side)
    confidence = np.random.default_rng(1).random(side * side, np.float32)
    points = np.stack([column, row, np.full(side * side, 900)], axis=-1).astype(np.float32)
    cloud = PointCloud(points, None, confidence, confidence, 4 * np.stack([column, row], axis=-1).astype(np.int32))
    chosen = thinned_points(cloud)
    assert len(chosen) == (side // 3 + 1) ** 2 <= MOST_POINTS
    square = confidence[: 699 * side].reshape(233, 3, side)[:, :, :699].reshape(233, 3, 233, 3).max(axis=(1, 3))
    assert set(square.ravel()) <= set(confidence[chosen])
    content = json.loads(embedded_cloud(cloud) or "")
    assert content["count"] == len(chosen)


def test_a_cloud_without_points_is_not_shown() -> None:
    nothing = np.zeros((0, 3), np.float32)
    assert embedded_cloud(PointCloud(nothing, None, nothing[:, 0], nothing[:, 0], np.zeros((0, 2), np.int32))) is None


def test_the_colours_of_a_map_and_its_histogram_are_the_same() -> None:
    values = np.linspace(500, 1500, 10_000, dtype=np.float32).reshape(100, 100)
    values[:5] = np.nan
    picture = map_picture(values, "mm", near_is_low=True, ends=(500.0, 1500.0))
    shown = pixels(picture.uri)
    assert (shown[:5] == 0x22).all()
    table = color_table(near_is_low=True)
    expected = table[(255 * (values[5:] - 500) / 1000).astype(int)]
    np.testing.assert_array_equal(shown[5:], expected)
    assert len(picture.bars) == 64
    assert picture.bars[-1].color == "#" + bytes(table[255]).hex()
    assert max(bar.height for bar in picture.bars) == 100
    assert [mark.text for mark in picture.marks] == ["600", "800", "1000", "1200", "1400"]
    assert [mark.left for mark in picture.marks] == pytest.approx([10, 30, 50, 70, 90])


def test_an_empty_map_has_a_report_too(coarse: DepthResult) -> None:
    nothing = np.full_like(coarse.virtual.virtual_depth, np.nan)
    empty = replace(coarse, virtual=replace(coarse.virtual, virtual_depth=nothing))
    metric = coarse.metric
    assert metric is not None
    page = depth_report(replace(empty, metric=replace(metric, depth=nothing, sigma=nothing)))
    assert "No point has a depth." in page


def test_a_doubtful_map_says_so_first(coarse: DepthResult) -> None:
    doubtful = Quality(0.1, 0.2, 0.0, "only 10 % have a depth", "give an image of a scene")
    bad = replace(coarse, summary=replace(coarse.summary, quality=doubtful))
    page = depth_report(bad)
    assert page.index("Do not trust this map.") < page.index("Only 10 % have a depth.") < page.index("<h2>")
    first = depth_advice(bad.summary)[0]
    assert (first.importance, first.finding) == (3, "Only 10 % have a depth.")
    assert first.remedy == "Give an image of a scene."
    assert "Do not trust" not in depth_report(coarse)


def test_advice_follows_from_the_summary(coarse: DepthResult) -> None:
    def rules(**changes: Any) -> set[str]:
        return {advice.rule for advice in depth_advice(replace(coarse.summary, **changes))} - {"note"}

    clean = {"valid_fraction": 0.9, "median_confidence": 0.8, "median_z_mm": 900.0, "median_sigma_z_mm": 5.0}
    good = {**clean, "devignetting": Devignetting.WHITE, "quality": Quality(0.9, 0.8, 0.0)}
    assert rules(**good) == set()
    assert rules(**{**good, "devignetting": Devignetting.SELF}) == {"white image"}
    assert rules(**{**good, "valid_fraction": 0.5}) == {"coverage"}
    refined = replace(coarse.summary.settings, depth=DepthSettings(refined=True))
    assert rules(**{**good, "valid_fraction": 0.5, "settings": refined}) == set()
    assert rules(**{**good, "median_confidence": 0.4}) == {"confidence"}
    assert rules(**{**good, "median_sigma_z_mm": 30.0}) == {"sigma"}
    assert rules(**{**good, "quality": Quality(0.9, 0.8, 0.1)}) == {"range"}
    assert rules(**{**good, "dense": {"filled_fraction": 0.3, "valid_fraction": 1.0}}) == {"filled"}


def test_notes_are_said_one_by_one(coarse: DepthResult) -> None:
    noted = replace(coarse, summary=replace(coarse.summary, notes=("the first; of <two> halves", "the second")))
    page = depth_report(noted)
    assert "<p>The first; of &lt;two&gt; halves.</p>" in page
    assert "<p>The second.</p>" in page
    assert noted.summary.content()["note"] == "the first; of <two> halves; the second"


def test_settings_that_are_not_the_default_are_told(coarse: DepthResult) -> None:
    assert "All settings are the default." in depth_report(coarse)
    changed = replace(coarse.summary.settings, depth=DepthSettings(window=7))
    page = depth_report(replace(coarse, summary=replace(coarse.summary, settings=changed)))
    told = page[page.index("Settings that are not the default") : page.index("<details>")]
    assert "depth.window" in told
    assert "default: 5" in told
    assert "depth.margin" not in told
