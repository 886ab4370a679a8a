"""Mechanical vignetting from white images: the simulator's rim, and lenses without one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from plenodepth.calib.whites.cats_eye import CatsEye, fit_cats_eye
from plenodepth.camera import lens_distances, preset
from plenodepth.camera.micro_lenses import lens_center
from plenodepth.camera.presets import shrunk
from plenodepth.sim.optics.options import RealOptics, Stop
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.simulate import white_scene

CAMERA = shrunk(preset("r12-a"), 48, 40)
RIM = Stop(-30.0, 19.6)
WIDE, NARROW = 4.0, 8.0


@cache
def white(f_number: float, optics: RealOptics | None = None) -> np.ndarray:
    return render(white_scene(CAMERA), CAMERA, RenderSettings(rays=32, f_number=f_number, optics=optics)).light


def fitted(optics: RealOptics | None, *f_numbers: float) -> CatsEye:
    return fit_cats_eye({number: white(number, optics) for number in f_numbers}, CAMERA)


@pytest.mark.parametrize("rim", [RIM, Stop(10.0, 10.5)])
def test_a_rim_is_found_with_what_it_takes_away(rim: Stop) -> None:
    optics = RealOptics(rim=rim)
    found = fitted(optics, WIDE, NARROW)
    distance = float(lens_distances(CAMERA).to_main_lens)
    scale = distance / (distance - rim.distance)
    assert CAMERA.main_lens.aperture_diameter is not None
    assert rim.diameter is not None
    assert found.shows
    assert found.offset == pytest.approx(scale - 1, abs=0.08)
    assert found.width == pytest.approx(rim.diameter * scale / CAMERA.main_lens.aperture_diameter, abs=0.05)
    assert found.cut == pytest.approx(light_lost(optics), abs=0.015)
    assert "cat's eyes" in str(found)


def light_lost(optics: RealOptics) -> float:
    """Part of the light at the border of the field that is missing in the images."""
    micro_images = CAMERA.micro_images
    k, l = (index.ravel() for index in micro_images.lattice.indices())
    field = np.hypot(*lens_center(k, l, CAMERA)[:, :2].T)
    inside = (
        (micro_images.center(k, l) > 20) & (micro_images.center(k, l) < np.array(white(WIDE).shape[1::-1]) - 20)
    ).all(axis=1)
    border = inside & (field >= 0.8 * field[inside].max())
    u, v = np.rint(micro_images.center(k, l)[border]).astype(int).T
    reach = range(-10, 11)
    with_rim, without = (
        sum(float(image[v + dv, u + du].sum()) for dv in reach for du in reach)
        for image in (white(WIDE, optics), white(WIDE))
    )
    return 1 - with_rim / without


@pytest.mark.parametrize(
    "optics", [None, RealOptics(half_angle=20.0, crosstalk=0.03, spherical_aberration=0.05)], ids=["thin", "others"]
)
def test_without_a_rim_none_shows(optics: RealOptics | None) -> None:
    assert not fitted(optics, WIDE, NARROW).shows


def test_a_rim_is_not_seen_where_the_lens_is_stopped_down() -> None:
    assert not fitted(RealOptics(rim=RIM), NARROW).shows
