"""Predictions over a camera's range, and the Γ that would undo them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian

from plenodepth.calib.scale.prediction import predict_scale, round_depths
from plenodepth.camera import metric_from_virtual, preset
from plenodepth.errors import InputError


@pytest.mark.parametrize("name", ["r12-a", "r12-b", "r12-c", "r12-es", "upc-s"])
def test_depths_are_round_and_within_the_range(name: str) -> None:
    camera = replace(preset(name), depth_scale=None)
    depths = round_depths(camera)
    assert 5 <= len(depths) <= 16
    steps = np.diff(depths)
    np.testing.assert_allclose(steps, steps[0])
    assert float(f"{steps[0]:.2g}") == steps[0]
    assert depths[0] > 0.95 * metric_from_virtual(15.0, camera)


def test_r12_es_is_predicted_from_500_mm_on_with_a_gamma_like_the_papers() -> None:
    camera = preset("r12-es")
    found = predict_scale(camera, method="slope")
    assert found.depth[0] == 500
    assert found.f_number == 4.0
    assert found.gamma is not None
    assert found.gamma.rmse < 0.005
    assert camera.depth_scale is not None
    np.testing.assert_allclose(found.gamma.coefficients[1:], camera.depth_scale[1:], rtol=0.25)
    np.testing.assert_allclose(found.gamma.corrected(found.uncorrected), found.depth, rtol=0.02)
    assert (np.diff(found.relative_error) < 0).all()


def test_given_depths_and_a_keplerian_camera() -> None:
    found = predict_scale(preset("r12-c"), 5.6, [600.0, 1200.0], method="slope")
    assert found.uncorrected.shape == (2,)
    assert found.gamma is None, "two depths are too few"
    kepler = predict_scale(keplerian(), 4.0, method="slope")
    assert np.isfinite(kepler.uncorrected).all()


def test_an_unknown_aperture_is_refused() -> None:
    camera = preset("r12-c")
    camera = replace(camera, main_lens=replace(camera.main_lens, f_number=None))
    with pytest.raises(InputError, match="no f-number"):
        predict_scale(camera)
