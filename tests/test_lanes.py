"""Eight numbers at a time give what NumPy gives."""

import numpy as np
import pytest

from plenodepth.compiling import compiled, inlined
from plenodepth.lanes import LANES, count_up, load, store, total, where

f4 = np.float32


@inlined
def closeness(one, other):
    """A function of single numbers, which takes lanes as well."""
    return max(f4(1) - f4(0.1) * abs(one - other), f4(0))


@compiled
def combine(one, other, out):
    sums = count_up(f4(0)) * f4(0)
    for n in range(0, len(one), LANES):
        a, b = load(one, n), load(other, n)
        chosen = where((a <= b) & (a * a <= f4(2)), f4(3) * a + b, f4(-1))
        store(out, n, chosen - closeness(a, b))
        sums = sums + chosen
    return total(sums)


@compiled
def counted(first, out):
    store(out, 1, count_up(first))


@pytest.fixture
def numbers() -> np.ndarray:
    return np.random.default_rng(5).normal(0, 4, (2, 4 * LANES)).astype(f4)


def test_arithmetic_comparisons_and_choice(numbers: np.ndarray) -> None:
    one, other = numbers
    out = np.empty_like(one)
    found = combine(one, other, out)
    chosen = np.where((one <= other) & (one**2 <= 2), 3 * one + other, f4(-1))
    assert np.allclose(out, chosen - np.maximum(1 - 0.1 * np.abs(one - other), 0), atol=1e-5)
    assert found == pytest.approx(chosen.sum(), rel=1e-5)


def test_no_comparison_is_true_of_a_number_that_is_none(numbers: np.ndarray) -> None:
    one, other = numbers
    one[3] = np.nan
    out = np.empty_like(one)
    assert np.isfinite(combine(one, other, out))
    assert out[3] == -1


def test_lanes_count_up_and_are_stored_where_told() -> None:
    out = np.full(LANES + 3, f4(-7))
    counted(f4(2.5), out)
    assert out.tolist() == [-7, *(2.5 + n for n in range(LANES)), -7, -7]
