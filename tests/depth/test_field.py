"""The aperture undone per pixel where a wall is slanted, and far off the axis; at f/4, without Γ.

benchmarks/bench_aperture_field.py does the same with more lenses and whole sensors, and prints tables.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planes import LUMINANCE
from simulated import rendered_light

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import ApertureModel, DepthSettings
from plenodepth.geometry import Pose
from plenodepth.metric import metric_depth_map
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.noise import noise_level
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.scenes.twins import view_center, view_size, wall_scene
from plenodepth.sim.truth import ground_truth

CAMERA = replace(shrunk(preset("r12-es"), 24, 20), depth_scale=None)
CORNER = np.array([-9.5, -7.0])  # mm off the axis, as are the corners of a whole R12 sensor
TURNS = {"about x": [1.2, 0.0, 0.0], "about y": [0.0, 1.2, 0.0]}  # radians


def off_axis(camera: PlenopticCamera, offset: np.ndarray) -> PlenopticCamera:
    """Sensor and lens array moved by `offset` (2,) mm across the axis."""
    lenses, sensor, move = camera.micro_lenses, camera.sensor, np.array([*offset, 0.0])
    pose = Pose(lenses.cam_from_mla.rotation, lenses.cam_from_mla.translation + move)
    moved = replace(sensor, position=sensor.position + move)
    return fitted_to_lenses(replace(camera, sensor=moved, micro_lenses=replace(lenses, cam_from_mla=pose)))


def slanted_wall(depth: float, turn: str) -> Scene:
    """A wall of noise that fills the view of `CAMERA`, 69° from facing it."""
    side = 5 * max(view_size(depth, CAMERA))
    texture = noise_image(1400, 1400, octaves=6, cell=44.0, seed=int(depth))
    pose = Pose(Pose.from_rotation_vector(TURNS[turn]).rotation, view_center(depth, CAMERA))
    return Scene((Rectangle(side, side, pose, Material(texture=texture, emits=True)),))


def require_small_errors(camera: PlenopticCamera, scene: Scene) -> None:
    """Of coarse depth, the vignetting divided out exactly; they are large where the aperture is left alone."""
    light = rendered_light(scene, camera, RenderSettings(rays=128, vignetting=False, seed=4))
    gray = (light @ LUMINANCE).astype(np.float32)
    image = RawImage(gray, None, noise_level(gray, camera), Devignetting.NONE)
    truth = ground_truth(scene, camera).lens_depth
    models: tuple[ApertureModel, ...] = ("off", "per_pixel")
    plain, aware = (
        metric_depth_map(estimate_virtual_depth(image, camera, DepthSettings(aperture_model=model)), camera).depth
        / truth
        - 1
        for model in models
    )
    assert np.isfinite(aware).mean() > 0.9
    assert np.nanmedian(plain) > 0.08
    assert abs(np.nanmedian(aware)) < 0.01
    assert np.nanmedian(np.abs(aware)) < 0.02


@pytest.mark.parametrize(("depth", "turn"), [(650.0, "about x"), (1200.0, "about y")])
def test_slanted_walls_are_where_they_are(depth: float, turn: str) -> None:
    scene = slanted_wall(depth, turn)
    truth = ground_truth(scene, CAMERA).lens_depth
    assert truth.max() > 1.1 * truth.min()
    require_small_errors(CAMERA, scene)


@pytest.mark.parametrize("depth", [700.0, 1300.0])
def test_corners_are_as_good_as_the_middle(depth: float) -> None:
    camera = off_axis(CAMERA, CORNER)
    require_small_errors(camera, wall_scene(depth, 31, camera))
