"""A small scene with its depth, for views of it, and what pinholes really see of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from simulated import scene_shot, white_shot

import plenodepth
from plenodepth.camera import Pinhole, PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.geometry import Pose
from plenodepth.metric.result import DepthResult
from plenodepth.sim.kernels.tracing import shade_rays
from plenodepth.sim.packed_scene import pack_scene
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.simulate import FrameSettings

FRAME = FrameSettings(RenderSettings(rays=48))
NEAR, FAR = 800.0, 1400.0


def textured(side: float, depth: float, seed: int, finest: int) -> Rectangle:
    """A square of a texture whose finest detail is `finest` thousandths of its side."""
    texture = noise_image(1000, 1000, octaves=4, cell=8 * finest, seed=seed)
    return Rectangle(side, side, Pose(np.eye(3), np.array([0.0, 0.0, depth])), Material(texture=texture, emits=True))


@cache
def camera() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), 40, 36), depth_scale=None)


@cache
def scene() -> Scene:
    """A square before a wall."""
    return Scene((textured(32.0, NEAR, 4, 50), textured(300.0, FAR, 9, 6)), ambient=1.0)


@cache
def depth_of_scene() -> DepthResult:
    white = white_shot(4.0, camera(), FRAME) / "raw.png"
    image = plenodepth.load_raw(scene_shot(scene(), camera(), FRAME) / "raw.png", camera(), white=white)
    return plenodepth.estimate_depth(image, camera(), dense=plenodepth.DenseSettings(enabled=True))


def seen_by_pinhole(pinhole: Pinhole, shape: tuple[int, int], rays: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Light (h, w, 3), the mean of rays × rays per pixel, and depth (h, w) of its middle, mm, that a pinhole sees."""
    part = (np.arange(rays) + 0.5) / rays - 0.5
    total = np.zeros((*shape, 3))
    for down in part:
        for right in part:
            total += _traced(pinhole, shape, right, down)[0]
    return total / rays**2, _traced(pinhole, shape, 0.0, 0.0)[1]


def _traced(pinhole: Pinhole, shape: tuple[int, int], right: float, down: float) -> tuple[np.ndarray, np.ndarray]:
    packed = pack_scene(scene())
    row, column = np.indices(shape)
    slopes = (column + right - pinhole.cx) / pinhole.fx, (row + down - pinhole.cy) / pinhole.fy
    directions = np.stack([*slopes, np.ones(shape)], axis=-1).reshape(-1, 3).astype(np.float32)
    origins = np.broadcast_to(pinhole.center.astype(np.float32), directions.shape).copy()
    depth, index = np.empty(len(origins), np.float32), np.empty(len(origins), np.int32)
    colors = np.empty((len(origins), 3), np.float32)
    triangles = packed.triangles
    shade_rays(
        origins, directions, *triangles.intersect(origins, directions),
        packed.objects, packed.kinds, triangles.owner, triangles.normals, triangles.colors,
        triangles.texture_coordinates, packed.texels, packed.volumes, packed.lamps, packed.ambient,
        depth, index, colors,
    )  # fmt: skip
    return colors.reshape(*shape, 3), depth.reshape(shape)


def decibels(light: np.ndarray, truth: np.ndarray, border: int = 16) -> float:
    """PSNR of linear light against the truth, without the border."""
    inner = (slice(border, -border),) * 2
    return float(-10 * np.log10(np.mean((light[inner] - truth[inner]) ** 2)))
