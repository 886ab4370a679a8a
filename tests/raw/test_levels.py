"""Black level, full scale and saturation: what the numbers of an image mean."""

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
    with_sensor,
    within,
)

from plenodepth.errors import InputError
from plenodepth.raw import clean_image
from plenodepth.sim.sensor import SensorSettings, expose


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
@pytest.mark.parametrize("with_white", [True, False])
def test_every_bit_depth_gives_the_same_gray(bits: int, with_white: bool) -> None:
    sensor = SensorSettings(full_well=None)
    grays = []
    for depth in (16, bits):
        setting = replace(sensor, bit_depth=depth)
        white = expose(white_light(2.8), setting) if with_white else None
        grays.append(clean_image(expose(0.9 * white_light(2.8), setting), at_aperture(2.8), white=white).gray)
    assert np.array_equal(np.isnan(grays[0]), np.isnan(grays[1]))
    step = 2 / (2**bits - 1)  # of image and white image, magnified at the rim
    assert np.nanmax(np.abs(grays[0] - grays[1])[within(0.6)]) < 1.5 * step + 1e-6
    assert np.nanmax(grays[0]) > 0.8


def test_an_underexposed_image_of_16_bits_can_be_told_its_full_scale() -> None:
    image = np.full((404, 560), 3000, np.uint16)
    assert np.nanmax(clean_image(image, MINI, devignetting="none").gray) == pytest.approx(3000 / 4095)
    told = clean_image(image, MINI, devignetting="none", full_scale=65535)
    assert np.nanmax(told.gray) == pytest.approx(3000 / 65535)


def test_image_and_white_image_may_have_different_bit_depths() -> None:
    image = expose(0.5 * white_light(4.0), SensorSettings(bit_depth=8, full_well=None))
    white = expose(white_light(4.0), SensorSettings(bit_depth=16, full_well=None))
    assert np.nanmedian(clean_image(image, MINI, white=white).gray[within(0.5)]) == pytest.approx(0.5, rel=0.01)


def test_saturated_pixels_are_missing_in_gray_and_keep_their_colour() -> None:
    image = expose(0.5 * white_light(2.8), SensorSettings(full_well=None, bit_depth=8))
    image[200:203, 300:303, 0] = 255
    image[100, 100] = 254
    clean = clean_image(image, at_aperture(2.8), devignetting="none")
    assert np.isnan(clean.gray[200:203, 300:303]).all()
    assert np.isnan(clean.gray).sum() == 9
    assert clean.gray[100, 100] == pytest.approx(254 / 255)
    assert clean.color is not None
    assert np.allclose(clean.color[200:203, 300:303, 0], 1)


def test_a_saturated_pixel_of_a_mosaic_takes_its_neighbours_with_it() -> None:
    image = np.full((404, 560), 100, np.uint8)
    image[50, 60] = 255
    clean = clean_image(image, MINI, bayer="RGGB", devignetting="none")
    assert np.argwhere(np.isnan(clean.gray)).tolist() == [[v, u] for v in (49, 50, 51) for u in (59, 60, 61)]


@pytest.mark.parametrize("bayer", [None, "GRBG"])
@pytest.mark.parametrize("way", ["white", "model", "self", "none"])
def test_light_is_counted_from_the_black_level(way: str, bayer: str | None) -> None:
    image, white = 0.5 * textured_light(4.0), white_light(4.0)
    if bayer:
        image, white = image[..., 1], white[..., 1]
    whites = (white, lifted(white)) if way == "white" else (None, None)
    expected = clean_image(image, MINI, white=whites[0], bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    for camera, given in ((MINI, BLACK), (with_sensor(MINI, black_level=BLACK), None)):
        clean = clean_image(
            lifted(image),
            camera,
            white=whites[1],
            bayer=bayer,
            black_level=given,
            devignetting=way,  # type: ignore[arg-type]
        )
        assert clean.devignetting is expected.devignetting
        assert np.array_equal(np.isnan(clean.gray), np.isnan(expected.gray))
        assert np.nanmax(np.abs(clean.gray - expected.gray)) < 2e-5  # rounding to float32, magnified at the rim
        assert clean.noise == pytest.approx(expected.noise, rel=1e-3)


def test_a_given_black_level_goes_before_the_camera_s() -> None:
    image = np.full((404, 560), 0.5, np.float32)
    camera = with_sensor(MINI, black_level=0.2)
    for given, expected in ((None, 0.3 / 0.8), (0, 0.5), (0.1, 0.4 / 0.9)):
        assert np.allclose(clean_image(image, camera, black_level=given, devignetting="none").gray, expected)
    assert np.allclose(clean_image(image, GRID, devignetting="none").gray, 0.5)


@pytest.mark.parametrize("way", ["white", "none"])
def test_noise_about_black_is_not_clipped(way: str) -> None:
    noise = np.random.default_rng(1).normal(0, 5, (404, 560))
    dark = np.rint(256 + noise).astype(np.uint16)
    white = lifted(expose(white_light(4.0), SensorSettings(color=False))) if way == "white" else None
    clean = clean_image(dark, MINI, white=white, black_level=256 / 4095, full_scale=4095, devignetting=way)  # type: ignore[arg-type]
    here = within(0.5) & np.isfinite(clean.gray)
    assert clean.gray[here].min() < -0.002
    assert abs(clean.gray[here].mean()) < 0.0002
    assert not np.isinf(clean.gray).any()


def test_full_scale_is_still_saturated() -> None:
    image = np.full((404, 560), 2000, np.uint16)
    image[50, 60], image[70, 80] = 4095, 4080
    clean = clean_image(image, MINI, black_level=BLACK, devignetting="none")
    assert np.argwhere(np.isnan(clean.gray)).tolist() == [[50, 60]]
    assert clean.gray[70, 80] == pytest.approx((4080 - 4095 * BLACK) / (4095 * (1 - BLACK)))


@pytest.mark.parametrize("level", [-0.1, 1, 64, float("nan")])
def test_a_black_level_that_is_no_part_of_full_scale_is_refused(level: float) -> None:
    with pytest.raises(InputError, match=r"frame: black_level: is .* \(give it as a part of full scale"):
        clean_image(np.full((404, 560), 90, np.uint8), MINI, black_level=level, name="frame")
