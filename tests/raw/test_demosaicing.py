"""Colours through the filters of a sensor."""

from __future__ import annotations

import numpy as np
import pytest
from small_raws import (
    MINI,
    at_aperture,
    textured_light,
    with_sensor,
    within,
)

from plenodepth.errors import InputError
from plenodepth.raw import BAYER_PATTERNS, clean_image
from plenodepth.sim.sensor import SensorSettings, expose


def test_colours_and_gray_come_through_a_bayer_pattern() -> None:
    light = textured_light(2.8)
    full = clean_image(expose(light, SensorSettings(full_well=None)), at_aperture(2.8))
    for pattern in BAYER_PATTERNS:
        mosaic = expose(light, SensorSettings(full_well=None, bayer=pattern))
        clean = clean_image(mosaic, at_aperture(2.8), bayer=pattern.lower())
        here = within(0.6)
        assert clean.color is not None
        assert full.color is not None
        assert np.median(np.abs(clean.gray - full.gray)[here]) < 0.01
        assert np.sqrt(np.mean((clean.gray - full.gray)[here] ** 2)) < 0.03
        assert np.median(np.abs(clean.color - full.color)[here]) < 0.02
        swapped = clean_image(mosaic, at_aperture(2.8), bayer=pattern[::-1])  # red for blue
        assert swapped.color is not None
        assert np.median(np.abs(swapped.color - full.color)[here]) > 0.03


@pytest.mark.parametrize("given", [None, "BGGR"])
def test_a_given_pattern_goes_before_the_camera_s(given: str | None) -> None:
    mosaic = expose(textured_light(4.0), SensorSettings(bayer="GRBG"))
    clean = clean_image(mosaic, with_sensor(MINI, bayer="GRBG"), bayer=given)
    expected = clean_image(mosaic, MINI, bayer=given or "GRBG")
    assert clean.color is not None
    assert np.array_equal(clean.color, expected.color, equal_nan=True)
    assert clean.noise == expected.noise


def test_an_image_in_colour_is_not_demosaiced_again() -> None:
    camera = with_sensor(MINI, bayer="GRBG")
    image = expose(textured_light(4.0), SensorSettings())
    clean, expected = clean_image(image, camera), clean_image(image, MINI)
    assert np.array_equal(clean.gray, expected.gray, equal_nan=True)
    assert np.array_equal(clean.color, expected.color, equal_nan=True)
    with pytest.raises(InputError, match="bayer: is given, but the image has colours"):
        clean_image(image, camera, bayer="GRBG")
