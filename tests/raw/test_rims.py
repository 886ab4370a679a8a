"""The brightness of rims tells the aperture: of a white image, and against what the camera file says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_raws import (
    BLACK,
    GRID,
    MINI,
    at_aperture,
    lifted,
    textured_light,
    white_light,
    within,
)

from plenodepth.errors import InputError
from plenodepth.raw import clean_image
from plenodepth.raw.levels import Levels
from plenodepth.raw.rims import rim_brightness
from plenodepth.sim.sensor import SensorSettings, expose

STOPS = (2.8, 4.0, 5.6, 8.0)


@pytest.mark.parametrize("bayer", [None, "GBRG"])
@pytest.mark.parametrize("exposure", [0.9, 0.1])
def test_a_white_image_one_stop_or_more_off_is_refused_and_no_other(exposure: float, bayer: str | None) -> None:
    sensor = SensorSettings(bayer=bayer)
    whites = {n: expose(white_light(n), replace(sensor, seed=1)) for n in STOPS}
    for taken_at in STOPS:
        image = expose(textured_light(taken_at), replace(sensor, exposure=exposure))
        clean_image(image, MINI, white=whites[taken_at], bayer=bayer)
        for other in STOPS:
            if other != taken_at:
                with pytest.raises(InputError, match="narrower" if other > taken_at else "wider"):
                    clean_image(image, MINI, white=whites[other], bayer=bayer)


LEVELS = (Levels(0, 4095), Levels(0, 4095))


@pytest.mark.parametrize("f_number", [*STOPS, 11.0])
def test_the_scene_does_not_change_the_aperture_that_an_image_shows(f_number: float) -> None:
    white = expose(white_light(f_number, seed=7), SensorSettings(seed=1))
    for light in (white_light(f_number), textured_light(f_number), 0.1 * textured_light(f_number)):
        found = rim_brightness(expose(light, SensorSettings()), white, MINI, LEVELS)
        assert found is not None
        assert found[0] == pytest.approx(1, abs=0.03)


def test_a_noisy_white_image_is_not_taken_for_one_of_another_aperture() -> None:
    noisy = SensorSettings(full_well=100, read_noise=3, seed=1)
    for f_number in (*STOPS, 11.0):
        image = expose(textured_light(f_number), SensorSettings())
        clean_image(image, MINI, white=expose(white_light(f_number), noisy))


def test_where_the_aperture_cannot_be_told_the_white_image_is_taken() -> None:
    white = expose(white_light(4.0), SensorSettings())
    assert rim_brightness(np.zeros_like(white), white, MINI, LEVELS) is None
    narrow = np.where(within(0.4), 3000, 0).astype(np.uint16)
    assert rim_brightness(narrow, narrow, MINI, LEVELS) is None


def test_a_black_level_that_nobody_told_is_named_where_it_looks_like_another_aperture() -> None:
    sensor = SensorSettings()
    image = lifted(expose(textured_light(4.0), replace(sensor, exposure=0.1)))
    white = lifted(expose(white_light(4.0), sensor))
    with pytest.raises(InputError, match="check the black level"):
        clean_image(image, MINI, white=white)
    clean_image(image, MINI, white=white, black_level=BLACK)


@pytest.mark.parametrize("says", STOPS)
@pytest.mark.parametrize("bayer", [None, "GBRG"])
def test_white_images_and_walls_tell_another_f_number_than_the_camera_says(says: float, bayer: str | None) -> None:
    for taken_at in (2.0, *STOPS):
        for light, exposure in ((white_light, 0.9), (textured_light, 0.9), (textured_light, 0.1)):
            image = expose(light(taken_at), SensorSettings(bayer=bayer, exposure=exposure))
            rims = clean_image(image, at_aperture(says), bayer=bayer).rims
            assert rims is not None
            assert rims.f_number == says
            assert rims.agrees == (taken_at == says)
            if rims.agrees:
                assert rims.ratio == pytest.approx(1, abs=0.05)
            else:
                assert (rims.ratio > 1) == (taken_at < says)  # a wider aperture has brighter rims


def test_a_third_of_a_stop_is_no_contradiction() -> None:
    for taken_at in (4.0 * 2 ** (-1 / 6), 4.0 * 2 ** (1 / 6)):
        assert clean_image(expose(white_light(taken_at), SensorSettings()), MINI).rims.agrees  # type: ignore[union-attr]


def test_with_a_white_image_it_is_the_white_image_that_tells() -> None:
    few_spots = np.zeros_like(white_light(2.0))
    few_spots[150:190, 200:240] = white_light(2.0)[150:190, 200:240]
    image, white = expose(few_spots, SensorSettings()), expose(white_light(2.0), SensorSettings(seed=1))
    alone, told = clean_image(image, MINI).rims, clean_image(image, MINI, white=white).rims
    assert alone is None or alone.error > 0.1
    assert told is not None
    assert told.error < 0.02
    assert not told.agrees


@pytest.mark.parametrize("why", ["no devignetting", "dark", "saturated", "no f-number", "grid"])
def test_where_the_aperture_cannot_be_told_nothing_is_said(why: str) -> None:
    image = expose(white_light(2.0), SensorSettings(exposure={"dark": 0.0003, "saturated": 3.0}.get(why, 0.8)))
    camera = {"no f-number": at_aperture(None), "grid": GRID}.get(why, MINI)
    way = "none" if why == "no devignetting" else "auto"
    assert clean_image(image, camera, devignetting=way).rims is None  # type: ignore[arg-type]
