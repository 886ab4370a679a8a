"""The noise of an image is estimated from the image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_raws import (
    BLACK,
    LUMINANCE,
    MINI,
    bare_light,
    lifted,
    white_light,
    with_sensor,
)

from plenodepth.raw import clean_image, noise_level
from plenodepth.sim.sensor import SensorSettings, expose


@pytest.mark.parametrize("sigma", [0.003, 0.03])
def test_the_noise_is_found_with_and_without_texture(sigma: float) -> None:
    noise = sigma * np.random.default_rng(3).standard_normal((404, 560))
    assert noise_level((0.5 + noise).astype(np.float32), MINI) == pytest.approx(sigma, rel=0.1)
    textured = bare_light() @ LUMINANCE + noise
    assert noise_level(textured.astype(np.float32), MINI) == pytest.approx(sigma, rel=0.5)
    clean = clean_image(0.5 + noise, MINI, bayer="RGGB", devignetting="none")
    assert clean.noise == pytest.approx(clean.gray.std(), rel=0.1)


def test_two_usable_micro_images_tell_the_noise_too() -> None:
    noise = 0.01 * np.random.default_rng(4).standard_normal((404, 560))
    gray = np.full((404, 560), np.nan, np.float32)
    for brightness, (k, l) in ((0.4, (5, 5)), (0.6, (15, 12))):
        u, v = (int(part) for part in MINI.micro_images.center(k, l))
        part = np.s_[v - 8 : v + 9, u - 8 : u + 9]
        gray[part] = brightness + noise[part]
    assert noise_level(gray, MINI) == pytest.approx(0.01, rel=0.3)


def test_the_noise_of_an_image_that_others_demosaiced_is_not_taken_for_less() -> None:
    mosaic = 0.5 + 0.01 * np.random.default_rng(5).standard_normal((404, 560))
    color = clean_image(mosaic, MINI, bayer="RGGB", devignetting="none").color
    assert color is not None
    clean = clean_image(color, with_sensor(MINI, bayer="RGGB"), devignetting="none")
    assert clean.noise == pytest.approx(clean.gray.std(), rel=0.1)
    assert clean_image(color, MINI, devignetting="none").noise < 0.7 * clean.noise


@pytest.mark.parametrize("bayer", [None, "RGGB"])
def test_the_noise_is_found_above_a_black_level(bayer: str | None) -> None:
    sensor = SensorSettings(bayer=bayer, full_well=1000)
    image, white = expose(0.5 * white_light(4.0), sensor), expose(white_light(4.0), replace(sensor, seed=1))
    expected = clean_image(image, MINI, white=white, bayer=bayer)
    clean = clean_image(lifted(image), MINI, white=lifted(white), bayer=bayer, black_level=BLACK)
    assert clean.noise == pytest.approx(expected.noise, rel=0.02)
    assert np.nanmedian(clean.gray) == pytest.approx(np.nanmedian(expected.gray), rel=0.01)
