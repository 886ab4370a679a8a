"""Any numbers become clean images: without content, with holes, as floats."""

from __future__ import annotations

import numpy as np
import pytest
from small_raws import (
    MINI,
    white_light,
    within,
)

from plenodepth.errors import InputError
from plenodepth.raw import Devignetting, clean_image
from plenodepth.sim.sensor import SensorSettings, expose


@pytest.mark.parametrize("bayer", [None, "RGGB"])
@pytest.mark.parametrize("way", ["white", "model", "self", "none"])
@pytest.mark.parametrize("value", [0, 90, 255], ids=["black", "flat", "saturated"])
def test_images_without_content_are_clean_and_empty(value: int, way: str, bayer: str | None) -> None:
    shape = (404, 560) if bayer else (404, 560, 3)
    white = expose(white_light(4.0), SensorSettings(bit_depth=8, bayer=bayer)) if way == "white" else None
    image = np.full(shape, value, np.uint8)
    # A flat image is no image of these lenses: a white image that shows rims does not belong to it, and is refused.
    if way == "white" and value == 90:
        with pytest.raises(InputError, match="aperture"):
            clean_image(image, MINI, white=white, bayer=bayer)
        return
    clean = clean_image(image, MINI, white=white, bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    if value == 255:
        assert np.isnan(clean.gray).all()
        assert np.isnan(clean.noise)
    else:
        here = within(0.3)
        assert np.isfinite(clean.gray[here]).all()
        assert clean.noise < 0.05  # dividing a flat image makes rims
    if way == "self" and value != 90:
        assert clean.devignetting is Devignetting.NONE  # such an image does not show its vignetting


@pytest.mark.parametrize("bayer", [None, "RGGB"])
@pytest.mark.parametrize("way", ["white", "model", "self", "none"])
def test_floats_that_are_not_numbers_stay_missing(way: str, bayer: str | None) -> None:
    light = white_light(4.0)[..., 0] if bayer else white_light(4.0)
    white = light if way == "white" else None
    nothing = clean_image(np.full_like(light, np.nan), MINI, white=white, bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    assert np.isnan(nothing.gray).all()
    assert np.isnan(nothing.noise)
    holes = 0.5 * light
    holes[100:120, 200:220], holes[50, 50] = np.nan, np.inf
    clean = clean_image(holes, MINI, white=white, bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    assert np.isnan(clean.gray[100:120, 200:220]).all()
    assert np.isnan(clean.gray[50, 50])
    whole = within(0.8)
    whole[99:121, 199:221] = whole[49:52, 49:52] = False
    assert np.isfinite(clean.gray[whole]).mean() > 0.999
    assert not np.isinf(clean.gray).any()


def test_floats_are_light_and_nothing_is_clipped() -> None:
    image = np.full((404, 560), 3.5)
    clean = clean_image(image, MINI, devignetting="none", name="frame 7")
    assert (clean.gray == 3.5).all()
    assert clean.color is None
    assert clean.name == "frame 7"
    assert clean.gray.dtype == np.float32


def test_the_input_is_left_alone() -> None:
    image = white_light(4.0)[..., 0].copy()
    before = image.copy()
    for way in ("model", "self", "none"):
        clean_image(image, MINI, devignetting=way, full_scale=0.5)  # type: ignore[arg-type]
    assert np.array_equal(image, before)
