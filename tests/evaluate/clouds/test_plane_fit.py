"""Planes among outliers, whose place, noise and share of outliers are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.plane_fit import fit_plane


def wall(
    count: int = 4000,
    slope: tuple[float, float] = (0.3, -0.1),
    noise: float = 2.0,
    outliers: float = 0.0,
    seed: int = 0,
) -> np.ndarray:
    """z = 900 + slope · (x, y) + noise; outliers are anywhere *behind* it, as one-sided tests would miss."""
    generator = np.random.default_rng(seed)
    xy = generator.uniform(-150, 150, (count, 2))
    z = 900 + xy @ slope + noise * generator.standard_normal(count)
    wrong = generator.random(count) < outliers
    z[wrong] += generator.uniform(30, 400, wrong.sum())
    return np.column_stack([xy, z])


def test_an_exact_plane_by_hand() -> None:
    # z = 500 + 3/4 x: the normal is (3, 0, −4)/5, pointing back to the camera.
    points = np.array([[0, 0, 500], [4, 0, 503], [0, 7, 500], [4, 7, 503], [8, 2, 506.0]])
    fit = fit_plane(points)
    assert fit.normal == pytest.approx([0.6, 0, -0.8])
    assert (fit.offset, fit.axial_depth) == pytest.approx((400, 500))
    assert fit.tilt == pytest.approx(np.arctan(0.75))
    assert fit.residuals == pytest.approx(0, abs=1e-9)
    assert fit.inlier_share == 1


def test_residuals_along_normal_and_z_by_hand() -> None:
    points = np.concatenate([wall(200, (0.75, 0), 0), [[0, 0, 910.0]]])  # 10 mm too far in z, 8 mm along the normal
    fit = fit_plane(points)
    assert fit.residuals[-1] == pytest.approx(-8)
    assert fit.residuals_z[-1] == pytest.approx(10)
    assert not fit.inliers[-1]
    assert fit.inliers[:-1].all()


def test_the_noise_comes_out_as_it_went_in() -> None:
    fit = fit_plane(wall(20_000, noise=2))
    cosine = 1 / np.sqrt(1 + 0.3**2 + 0.1**2)
    assert fit.along_z.robust == pytest.approx(2, rel=0.03)
    assert fit.along_z.rms == pytest.approx(2, rel=0.05)
    assert fit.along_normal.robust == pytest.approx(2 * cosine, rel=0.03)
    assert fit.along_normal.bias == pytest.approx(0, abs=0.05)
    assert fit.inlier_share == pytest.approx(0.997, abs=0.003)


@pytest.mark.parametrize("threshold", [None, 6.0])
def test_forty_percent_of_outliers_behind_the_plane_do_not_pull_it(threshold: float | None) -> None:
    fit = fit_plane(wall(outliers=0.4), threshold=threshold)
    assert fit.axial_depth == pytest.approx(900, abs=0.5)
    assert -fit.normal[:2] / fit.normal[2] == pytest.approx([0.3, -0.1], abs=0.005)
    assert fit.inlier_share == pytest.approx(0.6, abs=0.03)
    assert fit.along_z.robust == pytest.approx(2, rel=0.08)


def test_with_a_threshold_a_minority_may_be_the_plane() -> None:
    fit = fit_plane(wall(outliers=0.65), threshold=6.0, trials=1000)
    assert fit.axial_depth == pytest.approx(900, abs=0.5)
    assert fit.inlier_share == pytest.approx(0.35, abs=0.04)


@given(st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 1000))
def test_any_plane_is_found_and_faces_the_camera(a: float, b: float, seed: int) -> None:
    fit = fit_plane(wall(60, (a, b), 0, seed=seed))
    assert -fit.normal[:2] / fit.normal[2] == pytest.approx([a, b], abs=1e-8)
    assert np.linalg.norm(fit.normal) == pytest.approx(1)
    assert fit.normal[2] < 0


def test_a_plane_along_the_optical_axis_has_no_residuals_in_z() -> None:
    generator = np.random.default_rng(0)
    points = np.column_stack([np.full(50, 7.0), generator.uniform(0, 9, 50), generator.uniform(500, 600, 50)])
    fit = fit_plane(points)
    assert np.abs(fit.normal) == pytest.approx([1, 0, 0], abs=1e-12)
    assert fit.tilt == pytest.approx(np.pi / 2)
    assert fit.along_normal.rms < 1e-9


def test_the_seed_decides_alone() -> None:
    points = wall(30_000, outliers=0.3)
    assert (fit_plane(points, seed=4).normal == fit_plane(points, seed=4).normal).all()


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (np.zeros((2, 3)), "needs 3 or more"),
        (np.arange(30.0).reshape(10, 3), "on a line"),
        (np.ones((10, 3)), "on a line"),
    ],
)
def test_what_spans_no_plane_is_refused(points: np.ndarray, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        fit_plane(points)
