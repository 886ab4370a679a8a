"""Sparsification by hand, and for confidences that are perfect, worthless and wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.evaluate import sparsification_curves

ERROR = np.array([4.0, -1.0, np.nan, 2.0, -3.0])


def test_four_errors_by_hand() -> None:
    # Least confident first: 3, 4, 1, 2 go; the oracle takes 4, 3, 2, 1.
    result = sparsification_curves(ERROR, [0.2, 0.3, 0.9, 0.4, 0.1], steps=4)
    assert result.removed.tolist() == [0, 0.25, 0.5, 0.75]
    assert result.by_confidence == pytest.approx([10 / 4, 7 / 3, 3 / 2, 2])
    assert result.oracle == pytest.approx([10 / 4, 6 / 3, 3 / 2, 1])
    assert (result.random, result.count) == (2.5, 4)
    assert result.ause == pytest.approx(0.25 * (1 / 3 + 0 + 1 / 2))
    assert result.ause_random == pytest.approx(0.25 * (0.5 + 1 + 1.5 / 2))


def test_rmse_by_hand() -> None:
    result = sparsification_curves(ERROR, [0.2, 0.3, 0.9, 0.4, 0.1], measure="rmse", steps=4)
    assert result.by_confidence == pytest.approx(np.sqrt([30 / 4, 21 / 3, 5 / 2, 4]))
    assert result.random == pytest.approx(np.sqrt(7.5))


def test_gain_is_one_zero_and_negative_for_perfect_worthless_and_wrong_confidence() -> None:
    generator = np.random.default_rng(0)
    error = generator.exponential(size=50_000)
    assert sparsification_curves(error, -error).gain == pytest.approx(1)
    assert sparsification_curves(error, generator.random(50_000)).gain == pytest.approx(0, abs=0.03)
    assert sparsification_curves(error, error).gain < -0.5


def test_equal_confidence_is_a_flat_line_whatever_the_order_of_pixels() -> None:
    error = np.sort(np.random.default_rng(1).exponential(size=1000))
    result = sparsification_curves(error, np.full(1000, 0.7))
    assert result.by_confidence == pytest.approx(result.random)
    assert result.gain == pytest.approx(0, abs=1e-12)


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_neither_order_nor_scale_of_confidence_matters_and_the_oracle_is_below(data, random) -> None:
    error, confidence = np.array(data).T
    result = sparsification_curves(error, confidence, steps=7)
    assert (result.oracle <= result.by_confidence + 1e-12).all()
    assert (result.oracle <= result.random + 1e-12).all()
    shuffled = np.array(random.sample(data, len(data)))
    other = sparsification_curves(shuffled[:, 0], 5 * shuffled[:, 1] - 3, steps=7)
    assert other.by_confidence == pytest.approx(result.by_confidence, abs=1e-9)


def test_equal_errors_have_no_order_to_find() -> None:
    assert np.isnan(sparsification_curves(np.full(10, 2.0), np.arange(10)).gain)


def test_what_has_no_order_is_refused() -> None:
    with pytest.raises(InputError, match="holds no error"):
        sparsification_curves([np.nan], [1.0])
    with pytest.raises(InputError, match="confidence: is missing"):
        sparsification_curves([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(InputError, match="shape"):
        sparsification_curves([1.0, 2.0], [1.0])
