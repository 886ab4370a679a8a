"""Disparity between micro-images, and back to virtual depth."""

import numpy as np
import pytest
from cameras import keplerian, unfocused, without_distortion, without_tilt
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.camera import (
    corrected_disparity,
    pitch_ratio,
    preset,
    project,
    uncorrected_disparity,
    unproject,
    usable_virtual_range,
    virtual_depth_from_disparity,
)
from plenodepth.camera.disparity import disparity_slope

CAMERAS = {
    "r12-a": lambda: preset("r12-a"),
    "r12-c": lambda: preset("r12-c"),
    "r12-mini": lambda: preset("r12-mini"),
    "keplerian": keplerian,
    "unfocused": unfocused,
}


@pytest.mark.parametrize("name", CAMERAS)
def test_corrected_disparity_equals_the_projected_one_without_tilt(name: str) -> None:
    camera = without_tilt(CAMERAS[name]())  # distortion stays: both lenses look at the same distorted point
    far, near = usable_virtual_range(camera)
    v = np.linspace(far, near, 30)[1:, None]
    grid = camera.micro_images
    k, l = np.array([4, 5, 7, 9, 3]), np.array([5, 6, 5, 9, 2])
    points = unproject(grid.center(6, 6) + [2.0, -3.0], 6, 6, v, camera, depth_scale=False)
    reference = project(points, 6, 6, camera).uv - grid.center(6, 6)
    target = project(points, k, l, camera).uv - grid.center(k, l)
    predicted = corrected_disparity(grid.center(6, 6) - grid.center(k, l), v, pitch_ratio(camera))
    assert np.abs(target - reference - predicted).max() < 1e-8


def test_figures_of_the_reference_for_one_pair() -> None:
    """v = 8.825 between two lenses of R12-A: −5.526 px with the correction, −5.283 px without."""
    camera = without_distortion(without_tilt(preset("r12-a")))
    baseline = camera.micro_images.center(80, 70) - camera.micro_images.center(82, 70)
    corrected = corrected_disparity(baseline, 8.825, pitch_ratio(camera))
    assert corrected == pytest.approx([-5.5262, 0], abs=0.01)
    assert uncorrected_disparity(baseline, 8.825) == pytest.approx([-5.2826, 0], abs=0.01)


@given(st.floats(2, 30), st.floats(0.98, 0.999), st.floats(-100, 100), st.floats(1, 100))
def test_virtual_depth_comes_back_from_disparity(v: float, ratio: float, x: float, y: float) -> None:
    baseline = np.array([x, y])
    assert virtual_depth_from_disparity(corrected_disparity(baseline, v, ratio), baseline, ratio) == pytest.approx(
        v, rel=1e-9
    )


def test_slope_is_the_derivative_of_disparity() -> None:
    baseline, ratio, h = np.array([40.0, 0.0]), 0.994, 1e-5
    numeric = (corrected_disparity(baseline, 6 + h, ratio) - corrected_disparity(baseline, 6 - h, ratio))[0] / (2 * h)
    assert disparity_slope(6.0, ratio) * 40 == pytest.approx(numeric, rel=1e-8)
