"""The dense central view of simulated scenes, whose truth a pinhole's rays tell."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from simulated import scene_shot, white_shot

import plenodepth
from plenodepth.camera import GridCamera, PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_float_map, read_image
from plenodepth.metric import central_points
from plenodepth.raw.image import RawImage
from plenodepth.sim.packed_scene import pack_scene
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import ImageTexture, Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.simulate import FrameSettings
from plenodepth.sim.truth import first_hits

DENSE = DenseSettings(enabled=True)
NEAR, FAR = 800.0, 1400.0
FRAME = FrameSettings(RenderSettings(rays=48))


def rectangle(side: float, depth: float, seed: int) -> Rectangle:
    texture = noise_image(1000, 1000, octaves=7, cell=80, seed=seed)
    pose = Pose(np.eye(3), np.array([0.0, 0.0, depth]))
    return Rectangle(side, side, pose, Material(texture=texture, emits=True))


@cache
def camera() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), 40, 36), depth_scale=None)


@cache
def scene() -> Scene:
    """A square before a wall; the wall is gray on its right, without any texture."""
    plain = Rectangle(
        60.0,
        300.0,
        Pose(np.eye(3), np.array([75.0, 0.0, FAR - 5])),
        Material(texture=ImageTexture(np.full((4, 4, 3), 0.4, np.float32)), emits=True),
    )
    return Scene((rectangle(32.0, NEAR, 4), rectangle(300.0, FAR, 9), plain), ambient=1.0)


@cache
def image() -> RawImage:
    white = white_shot(4.0, camera(), FRAME) / "raw.png"
    return plenodepth.load_raw(scene_shot(scene(), camera(), FRAME) / "raw.png", camera(), white=white)


@cache
def result(threads: int = 2) -> plenodepth.DepthResult:
    return plenodepth.estimate_depth(image(), camera(), dense=DENSE, threads=threads)


@cache
def truth() -> tuple[np.ndarray, np.ndarray]:
    """Depth and object of each pixel of the view."""
    shape = (camera().sensor.height // 4, camera().sensor.width // 4)
    directions = central_points(np.ones(shape, np.float32), camera()).reshape(-1, 3)
    depth, index = first_hits(pack_scene(scene()), np.zeros_like(directions), directions)
    return depth.reshape(shape), index.reshape(shape)


def test_every_textured_pixel_has_its_depth() -> None:
    view, (depth, index) = result().dense, truth()
    assert view.metric
    textured, there = index < 2, np.isfinite(view.depth)
    assert there[textured].mean() > 0.97
    error = np.abs(view.depth / depth - 1)[textured & there]
    assert np.median(error) < 0.006
    assert (error > 0.05).mean() < 0.05
    assert (view.micro_images[textured & there] > 0).mean() > 0.9


def test_sigma_and_confidence_tell_the_errors() -> None:
    view, (depth, index) = result().dense, truth()
    there = np.isfinite(view.depth) & (index < 2)
    inside = np.abs(view.depth - depth)[there] / view.sigma[there]
    assert (inside < 2).mean() > 0.9
    right = np.abs(view.depth / depth - 1) < 0.05
    sure = view.confidence > 0.95
    assert right[there & sure].mean() > 0.98
    assert right[there & ~sure].mean() < right[there & sure].mean()


def test_what_has_no_texture_is_filled_so_far_and_no_farther() -> None:
    view, (_, index) = result().dense, truth()
    plain, there = index == 2, np.isfinite(view.depth)
    assert there[plain].mean() < 0.6
    assert view.filled[plain & there].mean() > 0.5
    narrow = plenodepth.estimate_depth(image(), camera(), dense=replace(DENSE, fill=0.0)).dense
    assert not narrow.filled.any()
    assert np.isfinite(narrow.depth).sum() < there.sum()


def test_the_number_of_threads_changes_nothing() -> None:
    one, two = result(1).dense, result(2).dense
    for name in ("depth", "sigma", "confidence", "light", "micro_images", "filled", "side"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_light_is_that_of_the_scene() -> None:
    """Of the gray part, all of whose pixels are alike."""
    view, (_, index) = result().dense, truth()
    inner = np.zeros_like(index, np.bool_)
    inner[20:-20, 8:-8] = True
    shown = view.light[(index == 2) & inner]
    assert np.nanstd(shown[..., 1]) < 0.1 * np.nanmean(shown[..., 1])


def test_files(tmp_path: Path) -> None:
    found = result()
    names = {path.name for path in found.save(tmp_path)}
    wanted = {"raw.view.png", "raw.dense.ply", "raw.dense.png", "raw.dense.tiff", "raw.dense.sigma.tiff"}
    assert wanted | {"raw.dense.confidence.tiff", "raw.dense.filled.png", "raw.dense.micro-images.png"} <= names
    np.testing.assert_array_equal(read_float_map(tmp_path / "raw.dense.tiff"), found.dense.depth)
    assert read_image(tmp_path / "raw.view.png").shape == (*found.dense.depth.shape, 3)
    assert found.summary.content()["dense"]["valid_fraction"] == pytest.approx(np.isfinite(found.dense.depth).mean())
    points = plenodepth.io.read_cloud(tmp_path / "raw.dense.ply").points
    assert len(points) == np.isfinite(found.dense.depth).sum()


def test_limits_of_depth_hold_for_the_view_too() -> None:
    filters = plenodepth.FilterSettings(near=1000.0)
    view = plenodepth.estimate_depth(image(), camera(), filters=filters, dense=DENSE).dense
    assert np.nanmin(view.depth) >= 1000


def test_a_camera_known_by_its_grid_has_a_view_of_virtual_depth(tmp_path: Path) -> None:
    whole = camera()
    ranges = np.array([[2.0, 8], [2, 9], [3, 9]])
    grid = GridCamera("grid", whole.sensor.width, whole.sensor.height, whole.micro_images, ranges)
    found = plenodepth.estimate_depth(image(), grid, dense=DENSE)
    assert not found.dense.metric
    assert np.isfinite(found.dense.depth).mean() > 0.7
    near_level = np.nanmedian(found.dense.depth[60:80, 90:110])
    assert near_level > 1.3 * np.nanmedian(found.dense.depth[:20])
    assert not any(path.name.endswith(".dense.ply") for path in found.save(tmp_path))


@cache
def fused() -> plenodepth.DepthResult:
    return plenodepth.estimate_depth(image(), camera(), plenodepth.DepthSettings(refined=True), dense=DENSE)


def test_refined_depths_are_twice_as_exact_and_there_are_more_of_them() -> None:
    truth = read_float_map(scene_shot(scene(), camera(), FRAME) / "depth.tiff")
    alone = plenodepth.estimate_depth(image(), camera(), plenodepth.DepthSettings(refined=True)).z
    there, before = (np.isfinite(values) & np.isfinite(truth) for values in (fused().z, alone))
    error, error_before = (fused().z / truth - 1)[there], (alone / truth - 1)[before]
    assert there.sum() > 1.1 * before.sum()
    assert np.median(np.abs(error)) < 0.6 * np.median(np.abs(error_before))
    assert (np.abs(error) > 0.05).mean() < 0.5 * (np.abs(error_before) > 0.05).mean()
    within = np.abs(fused().z - truth)[there] < 2 * fused().sigma[there]
    assert within.mean() > 0.9


def test_every_depth_has_a_sigma_a_confidence_and_a_count() -> None:
    found = fused().virtual
    there = np.isfinite(found.virtual_depth)
    assert found.refined
    assert (found.sigma[there] > 0).all()
    assert (found.confidence[there] > 0).all()
    assert (found.confidence[~there] == 0).all()
    assert found.views[there].max() > 5


def test_its_own_files_and_threads(tmp_path: Path) -> None:
    settings = plenodepth.DepthSettings(refined=True)
    one = plenodepth.estimate_depth(image(), camera(), settings, dense=DENSE, threads=1)
    for name in ("virtual_depth", "sigma", "confidence"):
        np.testing.assert_array_equal(getattr(one.virtual, name), getattr(fused().virtual, name), err_msg=name)
    fused().save(tmp_path)
    assert read_float_map(tmp_path / "raw.depth.tiff").shape == image().gray.shape


def test_outputs_that_were_not_estimated_and_settings_that_cannot_be_are_refused() -> None:
    found = plenodepth.estimate_depth(image(), camera())
    with pytest.raises(InputError, match="--dense"):
        found.save("nowhere", ["dense"])
    with pytest.raises(InputError, match="slope"):
        plenodepth.estimate_depth(image(), camera(), plenodepth.DepthSettings(aperture_model="slope"), dense=DENSE)
    with pytest.raises(InputError, match=r"dense\.scale"):
        DenseSettings(scale=0)
