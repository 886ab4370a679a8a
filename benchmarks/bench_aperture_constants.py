"""The constants of the aperture model, which were chosen on ideal simulations, judged through real lenses.

    pytest benchmarks/bench_aperture_constants.py -s -o python_files="bench_*.py"

Walls at four virtual depths and two textures, through thin lenses and through all effects of r12-es-real with the
pupil and the clear aperture known. Printed is the mean |error| of their median depths for other values of each
constant. It takes about five minutes on two cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera
from plenodepth.depth.aperture import chief_rays, resampling
from plenodepth.depth.settings import DepthSettings
from plenodepth.evaluate import median_depth
from plenodepth.metric.frame import estimate_depth
from plenodepth.raw import RawImage, clean_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, render_scene, render_white
from plenodepth.studies.optics.effects import EFFECTS, camera_that_knows, wall_distances
from plenodepth.studies.optics.run import wall_camera

VIRTUAL_DEPTHS, SEEDS, RAYS = (3.5, 5.0, 8.0, 12.0), (0, 1), 48
IDEAL, REAL = "none", "all of r12-es-real, clear aperture known"
DEFAULT = DepthSettings(aperture_model="per_pixel")
MOST_TO_GAIN = 0.0025  # of depth: noise of the mean over so few walls

# Name, where it stands, and what is tried.
CONSTANTS = {
    "shift by the spot's tail": ("SKEWNESS_SHIFT", (0.0, 1 / 12, 1 / 6, 1 / 4)),
    "largest weight in evening": ("LARGEST_WEIGHT", (0.0, 0.2, 0.33, 0.45)),
    "largest blur in evening, px²": ("LARGEST_BLUR", (0.0, 0.75, 1.5, 2.5)),
    "spots too unlike, px²": ("LARGEST_DIFFERENCE", (0.4, 0.8, 1.6)),
    "least light": ("LEAST_LIGHT", (0.1, 0.2, 0.35)),
}


class Wall(NamedTuple):
    """A clean image of a wall, the camera that its depth is estimated with, and its distance, mm."""

    image: RawImage
    camera: PlenopticCamera
    distance: float


@pytest.fixture(scope="module")
def walls() -> dict[str, list[Wall]]:
    thin = replace(wall_camera(quick=False), depth_scale=None)
    found: dict[str, list[Wall]] = {}
    for name in (IDEAL, REAL):
        effect = EFFECTS[name]
        for seed in SEEDS:
            frames = FrameSettings(
                RenderSettings(RAYS, seed, f_number=4.0, optics=effect.optics), SensorSettings(seed=seed)
            )
            white = render_white(4.0, thin, frames)
            used = camera_that_knows(effect.known, white.camera, thin)
            for distance in wall_distances(thin, VIRTUAL_DEPTHS):
                shot = render_scene(wall_scene(distance, 100 * seed + int(distance), thin), thin, frames)
                found.setdefault(name, []).append(Wall(clean_image(shot.raw, used, white=white.raw), used, distance))
    return found


@contextmanager
def changed(constant: str, value: float) -> Iterator[None]:
    with ExitStack() as stack:
        for module in (chief_rays, resampling):
            if hasattr(module, constant):
                stack.enter_context(mock.patch.object(module, constant, value))
        yield


def mean_error(walls: list[Wall], settings: DepthSettings) -> float:
    """Mean |error| in parts of the distance."""
    errors = [median_depth(estimate_depth(one.image, one.camera, settings).z) / one.distance - 1 for one in walls]
    return float(np.mean(np.abs(errors)))


@pytest.mark.parametrize("what", CONSTANTS)
def test_no_other_value_is_clearly_better_through_real_lenses(walls: dict[str, list[Wall]], what: str) -> None:
    constant, values = CONSTANTS[what]
    now = getattr(resampling, constant, None) or getattr(chief_rays, constant)
    print(f"\n| {what} ({constant}) | thin lenses % | real lenses % |\n|---|---|---|")
    found = {}
    for value in values:
        with changed(constant, value):
            found[value] = [mean_error(walls[name], DEFAULT) for name in (IDEAL, REAL)]
        shown = " | ".join(f"{100 * error:.2f}" for error in found[value])
        print(f"| {value:.3g}{' (now)' if value == now else ''} | {shown} |")
    assert found[now][1] <= min(error for _, error in found.values()) + MOST_TO_GAIN


def test_nor_is_another_margin(walls: dict[str, list[Wall]]) -> None:
    print("\n| margin, px | thin lenses % | real lenses % |\n|---|---|---|")
    now, errors = DEFAULT.margin_for("per_pixel"), {}
    for margin in (now - 1, now - 0.5, now, now + 0.5, now + 1):
        errors[margin] = [mean_error(walls[name], replace(DEFAULT, margin=margin)) for name in (IDEAL, REAL)]
        print(
            f"| {margin:g}{' (now)' if margin == now else ''} | "
            + " | ".join(f"{100 * e:.2f}" for e in errors[margin])
            + " |"
        )
    assert errors[now][1] <= min(error for _, error in errors.values()) + MOST_TO_GAIN
