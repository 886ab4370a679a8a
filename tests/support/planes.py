"""Clean images of textured planes at known depth, through a small camera."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from simulated import rendered_light

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.geometry import Pose
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.noise import noise_level
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image

F_NUMBER = 1.4
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)


def small_camera() -> PlenopticCamera:
    """r12-mini at f/1.4 without depth scale: simulated light has none at large apertures."""
    mini = preset("r12-mini")
    return replace(mini, main_lens=replace(mini.main_lens, f_number=F_NUMBER), depth_scale=None)


@cache
def plane_image(depth: float, noise: float = 0.003, tilt: float = 0.0) -> RawImage:
    """A plane of noise at `depth` mm through `small_camera`, without vignetting."""
    pixels = noise_image(400, 300, octaves=6, cell=24.0, seed=int(depth))
    width = 0.09 * depth
    pose = Pose(Pose.from_rotation_vector([0, tilt, 0]).rotation, np.array([0, 0, depth]))
    scene = Scene((Rectangle(width, 0.75 * width, pose, Material(texture=pixels, emits=True)),))
    settings = RenderSettings(rays=64, f_number=F_NUMBER, vignetting=False, seed=int(depth))
    gray = rendered_light(scene, small_camera(), settings) @ LUMINANCE
    gray = gray + np.random.default_rng(int(depth)).normal(0, noise, gray.shape).astype(np.float32)
    gray = gray.astype(np.float32)
    measured = noise_level(gray, small_camera())  # the tracer's own noise is in it, too
    return RawImage(gray, None, measured, Devignetting.NONE, f"plane at {depth:g} mm")
