"""White images as they are: averaged, saturated pixels restored, a dark frame taken off."""

from __future__ import annotations

import numpy as np
import pytest
from small_raws import GRID, MINI, textured_light, white_light, within

from plenodepth.errors import InputError
from plenodepth.raw import clean_image
from plenodepth.raw.levels import Levels
from plenodepth.raw.white_repair import averaged, restored
from plenodepth.sim.sensor import SensorSettings, expose

LEVELS = Levels(0.0, 4095.0)


def white(exposure: float, bayer: str | None = None, seed: int = 0) -> np.ndarray:
    return expose(white_light(4.0), SensorSettings(exposure=exposure, bayer=bayer, seed=seed))


@pytest.mark.parametrize("bayer", [None, "GBRG"])
def test_saturated_pixels_are_what_the_micro_image_would_show(bayer: str | None) -> None:
    right = white(0.5, bayer).astype(np.float64)
    clipped = np.minimum(1.5 * 2 * right, 4095).astype(np.uint16)  # the middles of micro-images are saturated
    share = (clipped >= LEVELS.saturated).mean()
    assert 0.05 < share < 0.5
    found = restored(clipped, MINI, bayer, LEVELS)
    assert found.restored == pytest.approx(share)
    lost = (clipped >= LEVELS.saturated) & (within(0.6) if bayer else within(0.6)[..., None])
    ratio = found.numbers[lost] / (3 * right[lost])
    assert np.median(ratio) == pytest.approx(1, abs=0.03)
    assert np.array_equal(found.numbers[clipped < LEVELS.saturated], clipped[clipped < LEVELS.saturated])


def test_a_white_image_below_saturation_stays_as_it_is() -> None:
    image = white(0.5)
    assert restored(image, MINI, None, LEVELS).numbers is image


def test_a_white_image_that_is_saturated_all_over_is_refused() -> None:
    with pytest.raises(InputError, match="is saturated"):
        restored(np.full((404, 560), 4095, np.uint16), MINI, None, LEVELS)


def test_a_grid_has_no_shape_to_restore_from_where_all_micro_images_are_saturated() -> None:
    clipped = np.minimum(3.0 * white(0.5)[..., 1], 4095).astype(np.uint16)
    with pytest.raises(InputError, match="no optics that tell their shape"):
        restored(clipped, GRID, None, LEVELS)


def test_of_several_white_images_those_count_that_are_not_saturated() -> None:
    dark, bright = white(0.4).astype(np.uint16), np.full((404, 560, 3), 4095, np.uint16)
    assert averaged([dark, bright], LEVELS) == pytest.approx(dark)
    two = [white(0.5, seed=1), white(0.5, seed=2)]
    assert averaged(two, LEVELS) == pytest.approx((two[0] + two[1].astype(np.float64)) / 2)


def test_a_saturated_white_image_gives_nearly_the_same_light() -> None:
    image, good = expose(textured_light(4.0), SensorSettings(exposure=0.5)), white(0.5)
    clipped = np.minimum(3.0 * good, 4095).astype(np.uint16)
    right, found = clean_image(image, MINI, white=good), clean_image(image, MINI, white=clipped)
    inside = within(0.6) & np.isfinite(right.gray) & np.isfinite(found.gray)
    ratio = (found.gray / right.gray)[inside]
    assert np.subtract(*np.quantile(ratio / np.median(ratio), [0.75, 0.25])) < 0.03
    assert any("saturated, and was restored" in note for note in found.notes)


def test_a_dark_frame_takes_the_place_of_the_black_level() -> None:
    image, reference = expose(textured_light(4.0), SensorSettings(exposure=0.5)), white(0.5)
    dark = np.random.default_rng(1).integers(150, 350, image.shape).astype(np.uint16)
    right = clean_image(image, MINI, white=reference)
    found = clean_image(image + dark, MINI, white=reference + dark, dark=dark, full_scale=4095)
    both = np.isfinite(right.gray) & np.isfinite(found.gray) & within(0.8)
    assert found.gray[both] == pytest.approx(right.gray[both], rel=1e-3)
    with pytest.raises(InputError, match="is bright"):
        clean_image(image, MINI, white=reference, dark=np.full(image.shape, 3000, np.uint16))
