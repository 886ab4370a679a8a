"""The formulas of one pair: those of the camera model, and those of the reference."""

from __future__ import annotations

import numpy as np
import pytest
from matching import CAMERA

from plenodepth.camera import corrected_disparity, pitch_ratio, preset, relative_blur
from plenodepth.depth.kernels import scalar
from plenodepth.depth.kernels.reference import matching, peaks
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import empty_tiles
from plenodepth.depth.views import plan_views

VIEWS = plan_views(CAMERA, DepthSettings(aperture_model="off"))
NOISE = empty_tiles(CAMERA, DepthSettings()).noise
RATIO = np.float32(1.03)


def plain(function: object) -> object:
    """The Python function that Numba compiles: what it computes, without compiling it."""
    return function.py_func  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _plain_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formulas that call each other call the plain ones."""
    for name in ("parabola_minimum",):
        monkeypatch.setattr(scalar, name, plain(getattr(scalar, name)))


@pytest.mark.parametrize("v", [2.5, 7.0, -4.0])
def test_disparity_is_that_of_the_camera(v: float) -> None:
    ratio = float(pitch_ratio(preset("r12-a")))
    expected = corrected_disparity([20.0, -5.0], v, ratio)
    gain = plain(scalar.disparity_gain)(np.float32(1 / v), np.float32(ratio))  # type: ignore[operator]
    assert gain * np.array([20.0, -5.0]) == pytest.approx(expected, rel=1e-5)
    step = plain(scalar.image_step_gain)(np.float32(v), np.float32(ratio))  # type: ignore[operator]
    assert step == pytest.approx(1 - gain, rel=1e-5)


def test_relative_blur_is_that_of_the_camera() -> None:
    relative, scale = relative_blur(CAMERA), (0.5 / CAMERA.sensor.pixel_size) ** 2
    for i, j in np.ndindex(3, 3):
        found = plain(scalar.relative_blur_variance)(VIEWS, i, j, np.float32(1 / 6))  # type: ignore[operator]
        assert found == pytest.approx(scale * (relative.slope[i, j] / 6 + relative.intercept[i, j]), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("value", [-2.0, -1.3, 0.0, 0.7, 5.0])
def test_floor(value: float) -> None:
    assert plain(scalar.floor)(np.float32(value)) == int(np.floor(value))  # type: ignore[operator]


def test_bilinear_weights_interpolate_a_plane() -> None:
    weights = plain(scalar.bilinear_weights)(np.float32(0.3), np.float32(0.8))  # type: ignore[operator]
    assert sum(weights) == pytest.approx(1, rel=1e-6)
    assert np.dot(weights, [1.0, 2.0, 4.0, 5.0]) == pytest.approx(1 + 0.3 + 3 * 0.8, rel=1e-6)


def test_interpolation_blurs_by_its_weights() -> None:
    """Two neighbours of weights 1 − w and w have the variance w (1 − w)."""
    found = plain(scalar.interpolation_variance)(np.float32(0.25), np.float32(0.5))  # type: ignore[operator]
    assert found == pytest.approx((0.25 * 0.75 + 0.5 * 0.5) / 2)


@pytest.mark.parametrize("blur", [-0.6, 0.0, 0.4])
def test_the_deficit_of_noise_is_that_of_the_reference(blur: float) -> None:
    wx, wy = np.float32(0.3), np.float32(0.9)
    found = plain(scalar.noise_deficit)(NOISE, wx, wy, np.float32(blur))  # type: ignore[operator]
    assert found == pytest.approx(matching.noise_deficit(NOISE, np.array([wx, wy]), blur), abs=1e-6)


def test_a_cost_without_its_noise_gets_it_back() -> None:
    assert plain(scalar.noise_corrected)(0.03, 0.5, 0.0032) == pytest.approx(0.05)  # type: ignore[operator]
    assert plain(scalar.noise_corrected)(0.03, -2.0, 0.0032) == 0  # type: ignore[operator]


@pytest.mark.parametrize("stretch", [0.0, 0.4])
def test_unstretching_is_that_of_the_reference(stretch: float) -> None:
    arguments = [np.float32(number) for number in (0.21, 0.18, stretch, RATIO)]
    found = plain(scalar.unstretched)(*arguments)  # type: ignore[operator]
    assert found == pytest.approx(peaks.unstretched(*(float(a) for a in arguments)), rel=1e-5)


@pytest.mark.parametrize(
    "costs",
    [
        (0.5, 0.3, 0.2, 0.31, 0.52),
        (0.4, 0.19, 0.2, 0.35, 0.52),
        (0.5, 0.3, 0.2, 0.19, 0.3),
        (0.5, 0.4, 0.3, 0.2, 0.1),
        (1e30, 0.3, 0.2, 0.31, 0.52),
    ],
)
def test_the_minimum_of_five_costs_is_that_of_the_reference(costs: tuple[float, ...]) -> None:
    place, sigma = plain(scalar.five_point_minimum)(*np.float32(costs), np.float32(200), np.float32(0.02))  # type: ignore[operator]
    expected = peaks.five_point_minimum(costs, 200.0, 0.02)  # type: ignore[arg-type]
    if expected is None:
        assert np.isnan(place)
    else:
        assert (place, sigma) == pytest.approx(expected, rel=1e-4)
