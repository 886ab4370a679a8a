"""A wall and a white image through a camera of 56 × 48 lenses.

The camera is large enough to show its lattice, and small enough to be simulated in seconds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from simulated import rendered_light

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

DISTANCE = 900.0  # mm
LENSES = (56, 48)
Array = np.ndarray[Any, Any]


@cache
def camera(name: str = "r12-es", f_number: float = 4.0) -> PlenopticCamera:
    small = shrunk(preset(name), *LENSES)
    return replace(small, main_lens=replace(small.main_lens, f_number=f_number), depth_scale=None)


@cache
def wall(f_number: float = 4.0, bayer: str | None = None, black: float = 0.0) -> Array:
    light = rendered_light(wall_scene(DISTANCE, 3, camera()), camera(f_number=f_number), RenderSettings(rays=32))
    return exposed(light, bayer, black)


@cache
def white(f_number: float = 4.0, bayer: str | None = None, black: float = 0.0, exposure: float = 0.9) -> Array:
    light = rendered_light(white_scene(camera()), camera(f_number=f_number), RenderSettings(rays=32))
    return exposed(light, bayer, black, exposure)


def exposed(light: Array, bayer: str | None, black: float, exposure: float = 0.9) -> Array:
    numbers = expose(light, SensorSettings(bayer=bayer, exposure=exposure)).astype(np.float64)
    return np.rint(numbers * (1 - black) + black * 4095).astype(np.uint16)
