"""Distortion, its exact inverse, and the five-coefficient inverse of the paper."""

import numpy as np
import pytest
from cameras import without_distortion
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.camera import Distortion, calibrate_inverse_distortion, distort, preset, undistort_exactly, unproject
from plenodepth.camera.distortion import distortion_basis
from plenodepth.camera.inverse_distortion import virtual_space_samples
from plenodepth.errors import PlenodepthError

PAPER = ["r12-a", "r12-b", "r12-c", "r12-e"]


def rmse(difference: np.ndarray) -> float:
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


def test_distortion_is_the_papers_expression() -> None:
    q1, q2, q3, p1, p2 = 1e-4, -2e-6, 3e-8, 4e-5, -5e-5
    x, y, z = 3.0, -4.0, -55.0
    s = 25.0
    radial = 1 + q1 * s + q2 * s**2 + q3 * s**3
    expected = [
        x * radial + p1 * (s + 2 * x * x) + 2 * p2 * x * y,
        y * radial + p2 * (s + 2 * y * y) + 2 * p1 * x * y,
        z,
    ]
    found = distort(np.array([x, y, z]), Distortion.from_coefficients([q1, q2, q3, p1, p2]))
    assert found == pytest.approx(expected, rel=1e-14)


@given(st.lists(st.floats(-1e-4, 1e-4), min_size=5, max_size=5), st.integers(0, 1000))
def test_distortion_is_linear_in_its_coefficients(values: list[float], seed: int) -> None:
    coefficients = np.array(values) * [1, 1e-2, 1e-4, 1, 1]
    p = np.random.default_rng(seed).uniform(-10, 10, (10, 2))
    found = distort(p, Distortion.from_coefficients(coefficients))
    assert np.allclose(found, p + distortion_basis(p) @ coefficients, atol=1e-12)


@pytest.mark.parametrize("name", PAPER)
def test_newton_undoes_distortion_over_all_the_camera_sees(name: str) -> None:
    camera = preset(name)
    points = virtual_space_samples(camera, 5000)
    undone = undistort_exactly(distort(points, camera.distortion), camera.distortion)
    assert rmse(undone - points) < 1e-12


@pytest.mark.parametrize("name", PAPER)
def test_five_coefficients_agree_with_the_papers_table(name: str) -> None:
    camera = preset(name)
    fit = calibrate_inverse_distortion(camera)
    assert camera.inverse_distortion is not None
    assert fit.distortion.radial[0] == pytest.approx(camera.inverse_distortion.radial[0], rel=0.02)
    # What five coefficients can do at best over half of the image's area; over the whole of it, Newton's inverse is
    # needed for the 1e-5 mm that a depth map deserves (docs/camera-model.md has the measurements).
    assert fit.rmse < 2e-4
    assert fit.exact_rmse < 1e-12
    assert fit.largest_difference == pytest.approx(fit.largest_error, rel=1e-6)
    assert fit.iterations < 15


@pytest.mark.parametrize("name", PAPER)
def test_our_coefficients_are_no_worse_than_the_published_ones(name: str) -> None:
    camera = preset(name)
    points = virtual_space_samples(camera, 20_000, seed=1, field=0.7)
    distorted = distort(points, camera.distortion)
    assert camera.inverse_distortion is not None
    ours = rmse(distort(distorted, calibrate_inverse_distortion(camera).distortion) - points)
    theirs = rmse(distort(distorted, camera.inverse_distortion) - points)
    assert ours < theirs


def test_the_fit_is_seeded() -> None:
    camera = preset("r12-mini")
    once, twice = (calibrate_inverse_distortion(camera, samples=500, seed=7) for _ in range(2))
    other = calibrate_inverse_distortion(camera, samples=500, seed=8)
    assert np.array_equal(once.distortion.coefficients, twice.distortion.coefficients)
    assert not np.array_equal(once.distortion.coefficients, other.distortion.coefficients)


def test_samples_fill_the_virtual_space_uniformly() -> None:
    camera = preset("r12-e")
    points = virtual_space_samples(camera, 40_000)
    on_sensor = points[:, :2] * (camera.sensor.position[2] / points[:, 2])[:, None]
    uv = camera.sensor.image_from_metric(on_sensor)
    assert camera.sensor.contains(uv).all()
    counts, _, _ = np.histogram2d(*uv.T, bins=4)
    assert np.abs(counts / counts.mean() - 1).max() < 0.1


def test_a_camera_without_distortion_has_the_zero_inverse() -> None:
    fit = calibrate_inverse_distortion(without_distortion(preset("r12-mini")), samples=200)
    assert not fit.distortion.coefficients.any()
    assert fit.rmse == 0


def test_a_distortion_that_folds_over_is_refused() -> None:
    folding = Distortion(np.array([-1e-2, 0, 0]))
    with pytest.raises(PlenodepthError, match="cannot be inverted"):
        undistort_exactly(np.array([[30.0, 0.0, -50.0]]), folding)


def test_points_without_inverse_can_be_missing_instead() -> None:
    folding = Distortion(np.array([-1e-2, 0, 0]))
    points = np.array([[30.0, 0.0, -50.0], [1.0, 2.0, -50.0]])
    undone = undistort_exactly(points, folding, invalid="nan")
    assert np.isnan(undone[0]).all()
    assert np.allclose(distort(undone[1:], folding), points[1:], atol=1e-12)


@pytest.mark.parametrize("name", PAPER)
def test_wild_virtual_depths_do_not_stop_the_others(name: str) -> None:
    camera = preset(name)
    points = unproject([[100.0, 100.0]] * 3, 4, 4, [5.0, 200.0, 1000.0], camera)
    assert np.isfinite(points[0]).all()


def test_missing_points_stay_missing() -> None:
    camera = preset("r12-a")
    points = np.array([[np.nan, np.nan, np.nan], [3.0, 4.0, -57.0]])
    undone = undistort_exactly(points, camera.distortion)
    assert np.isnan(undone[0]).all()
    assert np.allclose(distort(undone, camera.distortion)[1], points[1], atol=1e-12)
