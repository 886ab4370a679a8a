"""White images, the camera model and the image itself divide the vignetting out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_raws import (
    GRID,
    LUMINANCE,
    MINI,
    at_aperture,
    bare_light,
    offsets,
    textured_light,
    white_light,
    within,
)

from plenodepth.raw import Devignetting, RawImage, clean_image
from plenodepth.sim.sensor import SensorSettings, expose


def radial_deviation(clean: RawImage) -> np.ndarray:
    """Mean of gray in rings around the centres, relative to that of the central one, per lens type; minus 1."""
    squared, types = offsets()
    share = np.sqrt(squared) / MINI.micro_images.radius
    edges = np.arange(0.1, 0.85, 0.1)  # to 0.9 of the radius, where 11 % of the light are left at N = 4
    rings = [(types == t) & (share >= low) & (share < low + 0.1) for t in range(3) for low in edges]
    means = np.array([np.nanmean(clean.gray[ring]) for ring in rings])
    return means / np.nanmean(clean.gray[within(0.2)]) - 1


@pytest.mark.parametrize("bayer", [None, "GRBG"])
def test_a_white_image_divided_by_itself_is_one(bayer: str | None) -> None:
    white = expose(white_light(4.0), SensorSettings(bayer=bayer, exposure=0.7))
    clean = clean_image(white, MINI, white=white, bayer=bayer)
    assert clean.devignetting is Devignetting.WHITE
    assert np.isfinite(clean.gray[within(0.8)]).all()
    assert np.nanmax(np.abs(clean.gray - 1)) < 1e-5
    assert clean.color is not None
    assert np.nanmax(np.abs(clean.color - 1)) < 1e-5


@pytest.mark.parametrize("bayer", [None, "BGGR"])
@pytest.mark.parametrize("f_number", [2.8, 4.0])
@pytest.mark.parametrize(("way", "tolerance"), [("white", 0.03), ("model", 0.01), ("self", 0.01)])
def test_a_gray_wall_is_flat(way: str, tolerance: float, f_number: float, bayer: str | None) -> None:
    sensor = SensorSettings(seed=1, bayer=bayer)
    white = expose(white_light(f_number, seed=7), sensor) if way == "white" else None
    image = expose(0.5 * white_light(f_number), replace(sensor, seed=2))
    clean = clean_image(image, at_aperture(f_number), white=white, devignetting=way, bayer=bayer)  # type: ignore[arg-type]
    assert np.isfinite(clean.gray[within(0.8)]).mean() > 0.999
    assert np.median(clean.gray[within(0.5)]) == pytest.approx(0.5 if way == "white" else 0.45, rel=0.01)
    # One over a dark and noisy number is too large in the mean: at the rim a white image's own noise shows.
    assert np.abs(radial_deviation(clean)).max() < tolerance
    bare = clean_image(image, at_aperture(f_number), devignetting="none", bayer=bayer)
    assert bare.devignetting is Devignetting.NONE
    assert np.abs(radial_deviation(bare)).max() > 0.4  # there was something to divide out


@pytest.mark.parametrize("f_number", [2.8, 4.0])
@pytest.mark.parametrize(("way", "bias"), [("white", 0.01), ("model", 0.01), ("self", 0.05)])
def test_a_textured_scene_keeps_its_colours(way: str, bias: float, f_number: float) -> None:
    sensor = SensorSettings(full_well=None)
    white = expose(white_light(f_number), sensor) if way == "white" else None
    image = expose(textured_light(f_number), sensor)
    clean = clean_image(image, at_aperture(f_number), white=white, devignetting=way)  # type: ignore[arg-type]
    assert clean.color is not None
    here = within(0.6) & np.isfinite(clean.gray)
    scale = 1 if way == "white" else 0.9
    # The open part of a lens looks elsewhere than the whole of it, so single pixels differ; their mean does not.
    difference = clean.color[here] / scale - bare_light()[here]
    assert np.abs(difference.mean(axis=0)).max() < bias * bare_light()[here].mean()
    assert np.median(np.abs(difference)) < 0.03
    assert np.allclose(clean.gray[here], clean.color[here] @ LUMINANCE, atol=1e-5)


def test_auto_takes_the_best_there_is_and_says_so() -> None:
    image = expose(0.5 * white_light(4.0), SensorSettings())
    white = expose(white_light(4.0), SensorSettings(seed=3))
    assert clean_image(image, MINI, white=white).devignetting is Devignetting.WHITE
    assert clean_image(image, MINI).devignetting is Devignetting.MODEL
    assert clean_image(image, at_aperture(None)).devignetting is Devignetting.SELF
    assert clean_image(image, GRID).devignetting is Devignetting.SELF
    assert clean_image(image, GRID, white=white).devignetting is Devignetting.WHITE


def test_a_white_image_evens_out_lenses_of_different_brightness() -> None:
    squared, _ = offsets()
    v, u = np.indices(squared.shape)
    k, l = MINI.micro_images.owner(np.stack([u, v], axis=-1))
    owner = np.where(k >= 0, l * 24 + k, -1).astype(np.int32)
    sensor = SensorSettings(full_well=None, lens_gain_sigma=0.05, exposure=0.7)
    white, image = (expose(share * white_light(2.8), sensor, owner) for share in (1, 0.5))
    spread = [
        np.nanstd(
            clean_image(image, MINI, white=given, devignetting="auto" if given is not None else "none").gray[mask]
        )
        for given, mask in ((white, within(0.4)), (None, within(0.4)))
    ]
    assert spread[0] < 0.001
    assert spread[1] > 0.01


def test_where_no_light_falls_there_is_no_number() -> None:
    white = expose(white_light(8.0), SensorSettings(seed=1))
    for given in (white, None):
        clean = clean_image(white, at_aperture(8.0), white=given)
        assert np.isnan(clean.gray[within(1.0) & ~within(0.95)]).mean() > 0.99
        assert clean.color is not None
        assert np.array_equal(np.isnan(clean.gray), np.isnan(clean.color).any(axis=2))
        assert np.isfinite(clean.gray[within(0.5)]).all()
