"""Patch tiling: an even wall stays even, and a soft picture is where the truth has it, through any lens type."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from simulated import scene_shot, white_shot

from plenodepth.camera import central_pinhole, preset, virtual_from_metric
from plenodepth.evaluate import compare_view
from plenodepth.geometry import Pose
from plenodepth.raw import load_raw
from plenodepth.raw.image import RawImage
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import ImageTexture, Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings
from plenodepth.sim.views import true_view
from plenodepth.studies.views.tiling import tiled_view

CAMERA = preset("r12-mini")
DISTANCE = 900.0
QUIET = FrameSettings(RenderSettings(rays=16), SensorSettings(noise=False))


def wall(texture: ImageTexture | None) -> Scene:
    pose = Pose(np.eye(3), np.array([0, 0, DISTANCE]))
    return Scene((Rectangle(120, 120, pose, Material((0.5, 0.5, 0.5) if texture is None else (1, 1, 1), texture)),))


def seen(scene: Scene) -> RawImage:
    white = white_shot(CAMERA.main_lens.f_number or 4.0, CAMERA, QUIET)
    return load_raw(scene_shot(scene, CAMERA, QUIET) / "raw.png", CAMERA, white=white / "raw.png")


def true_depths() -> np.ndarray:
    k, l = CAMERA.micro_images.lattice.indices()
    return np.asarray(virtual_from_metric(DISTANCE, replace(CAMERA, depth_scale=None), k, l), np.float32)


@pytest.mark.parametrize("lens_type", [None, 0, 1, 2])
def test_an_even_wall_has_no_seams(lens_type: int | None) -> None:
    depth = true_depths()
    depth[3:5, 4:9] = np.nan  # taken from the lenses around
    tiled = tiled_view(seen(wall(None)), CAMERA, depth, lens_type=lens_type)
    assert tiled.shape == (202, 280, 3)
    inner = tiled[20:-20, 20:-20]
    assert np.abs(inner - 0.5).max() < 0.03


@pytest.mark.parametrize("lens_type", [None, 0, 1, 2])
def test_a_soft_picture_is_where_the_truth_has_it(lens_type: int | None) -> None:
    scene = wall(noise_image(600, 600, octaves=1, cell=30, seed=3))
    truth = true_view(scene, central_pinhole(CAMERA, 2), (202, 280))
    tiled = tiled_view(seen(scene), CAMERA, true_depths(), lens_type=lens_type)
    inner = (slice(20, -20), slice(20, -20))
    found = compare_view(tiled[inner], truth.light[inner]).psnr
    assert found > 30
    for step, axis in itertools.product((-3, 3), (0, 1)):
        assert compare_view(np.roll(tiled, step, axis)[inner], truth.light[inner]).psnr < found - 2
