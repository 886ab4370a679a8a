"""Filters that are not stated, or stated in another order, are noticed by the brightness of the pixels behind them."""

from __future__ import annotations

import numpy as np
import pytest
from small_raws import MINI, lifted, textured_light, white_light

from plenodepth.raw import clean_image

ORDER = "GRBG"


def mosaic(light: np.ndarray) -> np.ndarray:
    numbers = light[..., 1].copy()
    numbers[0::2, 1::2], numbers[1::2, 0::2] = light[0::2, 1::2, 0], light[1::2, 0::2, 2]
    return np.rint(4000 * np.clip(numbers, 0, 1)).astype(np.uint16)


@pytest.fixture
def warm_mosaic() -> np.ndarray:
    """A scene in warm light: red is brighter than green, and blue is darker."""
    return mosaic(textured_light(4.0) * [1.0, 0.9, 0.7])


def notes(image: np.ndarray, bayer: str | None, **options: object) -> str:
    return " ".join(clean_image(image, MINI, bayer=bayer, check_camera=False, **options).notes)  # type: ignore[arg-type]


def test_a_mosaic_that_is_taken_for_gray_is_noticed(warm_mosaic: np.ndarray) -> None:
    assert "name its filters (--bayer)" in notes(warm_mosaic, None)


@pytest.mark.parametrize("wrong", ["RGGB", "BGGR"])
def test_filters_in_another_order_are_noticed(warm_mosaic: np.ndarray, wrong: str) -> None:
    assert f"the two greens of {wrong} differ" in notes(warm_mosaic, wrong)


def test_the_right_order_and_a_gray_image_are_not(warm_mosaic: np.ndarray) -> None:
    assert "filters" not in notes(warm_mosaic, ORDER)
    gray = np.rint(4000 * np.clip(textured_light(4.0).mean(axis=2), 0, 1)).astype(np.uint16)
    assert "filters" not in notes(gray, None)


def test_the_black_level_is_no_light(warm_mosaic: np.ndarray) -> None:
    assert notes(warm_mosaic, None).split("%")[0] == notes(lifted(warm_mosaic), None, black_level=0.0625).split("%")[0]


def test_a_white_wall_tells_nothing() -> None:
    assert "filters" not in notes(mosaic(white_light(4.0)), None)
