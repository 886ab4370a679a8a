"""Light of simple scenes through r12-mini, as its sensor receives it, and which of its pixels to look at."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from simulated import rendered_light

from plenodepth.camera import GridCamera, PlenopticCamera, preset
from plenodepth.geometry import Pose
from plenodepth.raw.offsets import pixel_offsets
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import ImageTexture, Material, Rectangle, Scene
from plenodepth.sim.simulate import white_scene

MINI = preset("r12-mini")
GRID = GridCamera("grid", 560, 404, MINI.micro_images, np.array([[2.0, 4], [3, 5], [4, 6]]))
LUMINANCE = np.array([0.299, 0.587, 0.114])
BLACK = 0.0625  # the black level that `lifted` adds: 64 of 1023


@cache
def at_aperture(f_number: float | None) -> PlenopticCamera:
    """r12-mini whose file says this f-number; the same object each time, so that its vignetting is predicted once."""
    return replace(MINI, main_lens=replace(MINI.main_lens, f_number=f_number))


def with_sensor(camera: PlenopticCamera, **fields: Any) -> PlenopticCamera:
    return replace(camera, sensor=replace(camera.sensor, **fields))


@cache
def white_light(f_number: float, seed: int = 0) -> np.ndarray:
    """Light (404, 560, 3) of a white wall."""
    return _only_read(rendered_light(white_scene(MINI), MINI, RenderSettings(rays=64, f_number=f_number, seed=seed)))


@cache
def textured_light(f_number: float) -> np.ndarray:
    """Light (404, 560, 3) of a wall of coloured squares at 900 mm."""
    return _only_read(rendered_light(_colored_squares(), MINI, RenderSettings(rays=64, f_number=f_number)))


@cache
def bare_light() -> np.ndarray:
    """The same as it would look without vignetting."""
    settings = RenderSettings(rays=64, f_number=2.8, vignetting=False)
    return _only_read(rendered_light(_colored_squares(), MINI, settings))


def _colored_squares() -> Scene:
    coarse = np.random.default_rng(0).random((12, 12, 3))
    texture = ImageTexture(np.kron(coarse, np.ones((8, 8, 1))).astype(np.float32))
    pose = Pose(np.eye(3), np.array([0, 0, 900.0]))
    return Scene((Rectangle(120, 120, pose, Material(texture=texture, emits=True)),))


def _only_read(light: np.ndarray) -> np.ndarray:
    """Tests share it: one that wants to change it makes a copy."""
    light.flags.writeable = False
    return light


@cache
def offsets() -> tuple[np.ndarray, np.ndarray]:
    """Squared distance (404, 560) px² of each pixel from the centre of its micro-image, and the lens type."""
    return pixel_offsets(MINI.micro_images, slice(0, 404), 560)


def within(share: float) -> np.ndarray:
    """Pixels within a share of the radius of their micro-image, where it lies in the array."""
    squared, types = offsets()
    return (squared < (share * MINI.micro_images.radius) ** 2) & (types >= 0)


def lifted(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 12 bits, or floats with the scale 1, of a sensor that counts from its black level on."""
    if numbers.dtype == np.float32:
        return (1 - BLACK) * numbers + np.float32(BLACK)
    return np.rint((1 - BLACK) * numbers + BLACK * 4095).astype(np.uint16)
