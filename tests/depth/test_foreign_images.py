"""Images that were treated elsewhere give the depth of their originals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from simulated import rendered_light

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.raw import clean_image
from plenodepth.raw.image import Devignetting
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

Array = np.ndarray[Any, Any]
LARGEST = 0.003  # of v, in the median


@cache
def camera() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), 40, 34), depth_scale=None)


@cache
def image() -> Array:
    light = rendered_light(wall_scene(900.0, 3, camera()), camera(), RenderSettings(rays=32))
    return expose(light, SensorSettings(exposure=0.5))


@cache
def white() -> Array:
    return expose(rendered_light(white_scene(camera()), camera(), RenderSettings(rays=32)), SensorSettings(seed=4))


@cache
def original() -> VirtualDepthMap:
    return estimate_virtual_depth(clean_image(image(), camera(), white=white()), camera())


def difference(found: VirtualDepthMap) -> float:
    """Median size of the relative difference from the original's virtual depth."""
    ratio = found.virtual_depth / original().virtual_depth
    assert np.isfinite(ratio).mean() > 0.9
    return float(np.nanmedian(np.abs(ratio - 1)))


@pytest.mark.parametrize(("scale", "kind", "largest"), [(0.5, np.uint16, 65535), (0.5, np.uint8, 255)])
def test_a_devignetted_image_gives_the_depth_of_its_original(scale: float, kind: type, largest: int) -> None:
    divided = np.clip(scale * image() / np.maximum(white(), 1.0) * largest, 0, largest).astype(kind)
    clean = clean_image(divided, camera())
    assert (clean.flat, clean.devignetting) == (True, Devignetting.NONE)
    found = estimate_virtual_depth(clean, camera())
    assert found.aperture_model == "per_pixel"
    assert "devignetted already" in found.aperture_note
    assert difference(found) < LARGEST


def test_a_saturated_white_image_costs_next_to_nothing() -> None:
    hot = np.minimum(white() * (4095 / np.quantile(white(), 0.75)), 4095).astype(np.uint16)
    assert (hot >= 4090).mean() > 0.2
    clean = clean_image(image(), camera(), white=hot, full_scale=4095)
    assert "restored" in " ".join(clean.notes)
    assert difference(estimate_virtual_depth(clean, camera())) < LARGEST
