"""Simulated images, each made once in a test run (see `shared_files`): paths are for reading only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from shared_files import shared

from plenodepth.cache import cache_key
from plenodepth.camera import PlenopticCamera
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white


def rendered_light(
    scene: Scene, camera: PlenopticCamera, settings: RenderSettings | None = None
) -> NDArray[np.float32]:
    """The light (height, width, 3) that `render` finds; the array is the caller's own."""
    settings = replace(settings or RenderSettings(), threads=None)  # their number does not change a byte

    def save(path: Path) -> None:
        with open(path, "wb") as file:
            np.save(file, render(scene, camera, settings).light)

    light: NDArray[np.float32] = np.load(shared(cache_key({"light": scene, "camera": camera, "by": settings}), save))
    return light


def scene_shot(scene: Scene, camera: PlenopticCamera, settings: FrameSettings | None = None, *, frame: int = 0) -> Path:
    """The folder that `simulate_scene` makes: raw image and ground truth."""
    settings = settings or FrameSettings()
    key = cache_key({"shot": scene, "camera": camera, "by": settings, "frame": frame})
    return shared(key, lambda folder: simulate_scene(scene, camera, folder, settings, frame=frame))


def white_shot(f_number: float, camera: PlenopticCamera, settings: FrameSettings | None = None) -> Path:
    """The folder that `simulate_white` makes."""
    settings = settings or FrameSettings()
    key = cache_key({"white": f_number, "camera": camera, "by": settings})
    return shared(key, lambda folder: simulate_white(f_number, camera, folder, settings))
