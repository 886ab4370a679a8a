"""The all-in-focus view shows what a pinhole sees, as sharp as the samples allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rendered import camera, decibels, depth_of_scene, seen_by_pinhole

from plenodepth import all_in_focus
from plenodepth.errors import InputError
from plenodepth.io.srgb import srgb_encoded
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.render import RenderedView
from plenodepth.render.surface import central_surface, linear_image


def test_it_is_what_a_pinhole_sees() -> None:
    view = all_in_focus(depth_of_scene())
    assert view.pinhole is not None
    assert view.metric
    truth, depth = seen_by_pinhole(view.pinhole, view.depth.shape)
    plain = all_in_focus(depth_of_scene(), sharpen=False)
    assert decibels(view.light, truth) > 24.5
    assert decibels(view.light, truth) > decibels(plain.light, truth) + 0.3
    assert np.median(np.abs(view.depth - depth) / depth) < 0.01
    assert np.isfinite(view.light).all()
    assert view.filled.mean() < 0.1
    # Not a pixel beside its place: shifted by one it is worse.
    for axis in (0, 1):
        for step in (-1, 1):
            assert decibels(np.roll(view.light, step, axis), truth) < decibels(view.light, truth) - 0.5


def test_the_same_bytes_for_any_number_of_threads() -> None:
    one, two = (all_in_focus(depth_of_scene(), threads=threads) for threads in (1, 2))
    assert one.light.tobytes() == two.light.tobytes()
    assert one.depth.tobytes() == two.depth.tobytes()


def test_a_mosaic_counts_by_its_samples() -> None:
    """Only the colour that a pixel's filter lets through has a say: what stands in the other channels is not asked."""
    depth = depth_of_scene()
    assert depth.image.color is not None
    color = depth.image.color.copy()
    for row, column, channel in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2)):
        others = [other for other in range(3) if other != channel]
        color[row::2, column::2, others] = 1e6
    mosaic = replace(depth, image=replace(depth.image, color=color, mosaic="RGGB"))
    view = all_in_focus(mosaic)
    truth, _ = seen_by_pinhole(view.pinhole, view.depth.shape)  # type: ignore[arg-type]
    assert decibels(view.light, truth) > 24.0


def test_a_gray_image_gives_one_channel() -> None:
    depth = depth_of_scene()
    view = all_in_focus(replace(depth, image=replace(depth.image, color=None)))
    assert view.light.shape[2] == 1
    assert view.picture.shape[2] == 3


def test_without_any_depth_there_is_one_line() -> None:
    depth = depth_of_scene()
    assert depth.dense is not None
    nothing = replace(depth.dense, depth=np.full_like(depth.dense.depth, np.nan))
    with pytest.raises(InputError, match="no pixel has a depth"):
        all_in_focus(replace(depth, dense=nothing))
    with pytest.raises(InputError, match="no dense view"):
        all_in_focus(replace(depth, dense=None))
    with pytest.raises(InputError, match=r"scale: is 0\.5"):
        all_in_focus(depth, scale=0.5)


def test_a_missing_part_of_the_image_is_filled_and_flagged() -> None:
    depth = depth_of_scene()
    image: RawImage = depth.image
    gray = image.gray.copy()
    gray[200:560, 260:660] = np.nan
    color = np.where(np.isnan(gray)[..., None], np.float32(np.nan), image.color)  # type: ignore[arg-type]
    view: RenderedView = all_in_focus(replace(depth, image=replace(image, gray=gray, color=color)))
    whole = all_in_focus(depth)
    assert camera().sensor.height == len(gray)
    assert view.filled[180:200, 220:240].mean() > 0.9
    assert view.filled.mean() > whole.filled.mean()
    assert np.isfinite(view.light).all()


def test_numbers_with_a_gamma_become_light() -> None:
    light = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    numbers = srgb_encoded(light)
    image = RawImage(numbers, np.stack([numbers] * 3, axis=2), 0.01, Devignetting.NONE, encoded=True)
    found = linear_image(image)
    np.testing.assert_allclose(found.gray, light, atol=1e-5)
    np.testing.assert_allclose(found.color, np.stack([light] * 3, axis=2), atol=1e-5)  # type: ignore[arg-type]
    assert not found.encoded
    assert linear_image(found) is found
    depth = depth_of_scene()
    of_numbers = central_surface(replace(depth, image=replace(depth.image, encoded=True))).image
    assert not of_numbers.encoded
    assert np.nanmean(of_numbers.gray) < np.nanmean(depth.image.gray)
