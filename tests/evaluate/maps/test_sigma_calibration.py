"""σ against errors: Gaussian errors of the predicted σ, of another one, and by hand."""

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate import compare_sigma


def gaussian(factor: float, count: int = 200_000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    sigma = generator.uniform(1, 20, count)
    return factor * sigma * generator.standard_normal(count), sigma


def test_five_errors_by_hand() -> None:
    # error/σ: −0.5, 1, 1.5, 2.5, 4
    result = compare_sigma([-1.0, 2, 3, 5, 8, np.nan], [2.0, 2, 2, 2, 2, 2], bins=1)
    assert result.spread == pytest.approx(1.4826 * 1.5)
    assert result.rms == pytest.approx(np.sqrt((0.25 + 1 + 2.25 + 6.25 + 16) / 5))
    assert result.bias == pytest.approx(1.5)
    assert result.within == pytest.approx([0.4, 0.6, 0.8])
    assert result.expected == pytest.approx([0.6827, 0.9545, 0.9973], abs=1e-4)
    (row,) = result.bins
    assert (row.predicted, row.count) == (pytest.approx(2), 5)
    assert (row.observed, row.observed_robust) == pytest.approx((np.sqrt(103 / 5), 1.4826 * 3))
    assert result.bin_deviation == pytest.approx(np.sqrt(103 / 5) / 2 - 1)


def test_errors_of_the_predicted_sigma_are_as_expected() -> None:
    result = compare_sigma(*gaussian(1))
    assert (result.spread, result.rms) == pytest.approx((1, 1), abs=0.01)
    assert result.bias == pytest.approx(0, abs=0.01)
    assert result.within == pytest.approx(result.expected, abs=0.005)
    assert len(result.bins) == 10
    assert [row.observed for row in result.bins] == pytest.approx([row.predicted for row in result.bins], rel=0.03)
    assert result.bin_deviation < 0.02


def test_a_sigma_too_small_by_two_shows_in_every_figure() -> None:
    result = compare_sigma(*gaussian(2))
    assert (result.spread, result.rms) == pytest.approx((2, 2), rel=0.01)
    assert result.within[0] == pytest.approx(0.383, abs=0.005)
    assert all(row.observed == pytest.approx(2 * row.predicted, rel=0.03) for row in result.bins)


def test_outliers_move_the_rms_and_hardly_the_spread() -> None:
    error, sigma = gaussian(1)
    error[::50] = 1000
    result = compare_sigma(error, sigma)
    assert result.spread == pytest.approx(1, abs=0.05)
    assert result.rms > 10


def test_errors_without_a_sigma_are_counted_and_left_out() -> None:
    result = compare_sigma([1.0, 50.0, np.nan], [1.0, np.nan, 1.0], bins=3)
    assert (result.count, result.without_sigma) == (1, 1)
    assert result.rms == 1


def test_what_is_no_sigma_is_refused() -> None:
    with pytest.raises(InputError, match="not > 0"):
        compare_sigma([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(InputError, match="no error with a σ"):
        compare_sigma([1.0, np.nan], [np.nan, 1.0])
