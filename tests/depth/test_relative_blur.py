"""Which blur coefficient an estimation takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matching import assert_kernels_agree, tilted_plane
from planes import small_camera

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.relative_blur import used_kappa
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.views import plan_views

CAMERA = replace(small_camera(), main_lens=preset("r12-mini").main_lens)


def with_kappa(kappa: float) -> PlenopticCamera:
    return replace(CAMERA, blur_coefficient=kappa, blur_operator="depth")


def test_the_settings_win_over_the_camera_and_that_over_the_disc() -> None:
    assert used_kappa(with_kappa(0.6), DepthSettings(blur_coefficient=0.4)) == (0.4, "settings")
    assert used_kappa(with_kappa(0.6), DepthSettings()) == (0.6, "camera")
    assert used_kappa(replace(CAMERA, blur_coefficient=None), DepthSettings()) == (0.5, "disc")
    assert used_kappa(with_kappa(0.6), DepthSettings(blur=False)) is None
    assert used_kappa(preset("r12-a-pinhole"), DepthSettings()) is None


def test_a_coefficient_that_was_found_with_a_gaussian_is_left_aside() -> None:
    assert preset("r12-a").blur_coefficient == pytest.approx(0.813, abs=0.001)
    assert used_kappa(preset("r12-a"), DepthSettings()) == (0.5, "disc")


@pytest.mark.parametrize("model", ["off", "per_pixel"])
def test_relative_blur_goes_with_the_square_of_the_cameras_coefficient(model: str) -> None:
    disc = plan_views(replace(CAMERA, blur_coefficient=None), DepthSettings(), model=model)  # type: ignore[arg-type]
    wider = plan_views(with_kappa(0.6), DepthSettings(), model=model)  # type: ignore[arg-type]
    for name in ("blur_square", "blur_slope", "blur_intercept"):
        assert np.allclose(getattr(wider, name), 1.44 * getattr(disc, name), rtol=1e-5)


@pytest.mark.parametrize("model", ["off", "per_pixel"])
def test_both_kernels_take_the_cameras_coefficient(model: str) -> None:
    camera = shrunk(with_kappa(0.7), 9, 8)
    image, settings = tilted_plane(camera), DepthSettings(aperture_model=model)  # type: ignore[arg-type]
    assert_kernels_agree(image, camera, settings, every=13)
    own = estimate_virtual_depth(image, camera, settings)
    given = estimate_virtual_depth(
        image, replace(camera, blur_coefficient=None), replace(settings, blur_coefficient=0.7)
    )
    disc = estimate_virtual_depth(image, replace(camera, blur_coefficient=None), settings)
    assert np.array_equal(own.virtual_depth, given.virtual_depth, equal_nan=True)
    assert not np.array_equal(own.virtual_depth, disc.virtual_depth, equal_nan=True)
