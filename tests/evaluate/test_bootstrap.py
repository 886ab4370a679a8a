"""Bootstrap intervals: against the theory of the mean, the coverage of many experiments, and small cases in full."""

from itertools import product

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate.bootstrap import bootstrap_interval, paired_bootstrap


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_three_units_against_all_their_resamples(statistic: str) -> None:
    values = [1.0, 4.0, 10.0]
    every = getattr(np, statistic)(list(product(values, repeat=3)), axis=1)
    result = bootstrap_interval(values, statistic, level=0.6, resamples=100_000)
    assert result.estimate == pytest.approx(getattr(np, statistic)(values))
    assert result.standard_error == pytest.approx(every.std(), rel=0.01)
    assert (result.low, result.high) == pytest.approx(tuple(np.quantile(every, [0.2, 0.8])))


def test_many_units_have_the_interval_of_the_normal_distribution() -> None:
    values = np.random.default_rng(0).normal(20, 6, 400)
    result = bootstrap_interval(values)
    error = values.std(ddof=1) / 20
    assert result.standard_error == pytest.approx(error, rel=0.05)
    assert (result.low, result.high) == pytest.approx(
        (values.mean() - 1.96 * error, values.mean() + 1.96 * error), abs=0.1 * error + 0.02
    )


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(1)
    intervals = [bootstrap_interval(generator.exponential(5, 40), resamples=400) for _ in range(300)]
    assert np.mean([one.low <= 5 <= one.high for one in intervals]) == pytest.approx(0.93, abs=0.05)


def test_pairs_see_a_small_difference_that_single_results_hide() -> None:
    generator = np.random.default_rng(2)
    hard = generator.exponential(20, 30)  # how hard a scene is decides most
    one, other = hard + generator.normal(0, 0.5, 30), hard + 1 + generator.normal(0, 0.5, 30)
    paired = paired_bootstrap(one, other)
    assert paired.significant
    assert paired.share_below > 0.999
    assert paired.interval.low < -1 < paired.interval.high
    alone, rival = bootstrap_interval(one), bootstrap_interval(other)
    assert alone.high > rival.low  # overlap
    assert paired_bootstrap(other, one).share_below < 0.001


def test_equal_results_do_not_differ() -> None:
    result = paired_bootstrap([1.0, 2, 3], [1.0, 2, 3])
    assert not result.significant
    assert result.share_below == 0.5


def test_units_that_either_lacks_are_left_out() -> None:
    nan = float("nan")
    result = paired_bootstrap([1.0, nan, 3, 4], [2.0, 2, nan, 6]).interval
    assert (result.units, result.estimate) == (2, -1.5)
    assert bootstrap_interval([1.0, nan, 3]).units == 2


def test_the_seed_decides_and_parts_do_not() -> None:
    values = np.random.default_rng(3).normal(size=20)
    assert bootstrap_interval(values, seed=5) == bootstrap_interval(values, seed=5)
    assert bootstrap_interval(values, seed=5) != bootstrap_interval(values, seed=6)
    many = np.random.default_rng(4).normal(size=300_000)  # several parts
    assert bootstrap_interval(many, resamples=40).standard_error == pytest.approx(1 / np.sqrt(300_000), rel=0.4)


def test_what_cannot_be_resampled_is_refused() -> None:
    with pytest.raises(InputError, match="needs 2 or more"):
        bootstrap_interval([1.0, np.nan])
    with pytest.raises(InputError, match="same units"):
        paired_bootstrap([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="level"):
        bootstrap_interval([1.0, 2.0], level=95)
    with pytest.raises(InputError, match="statistic"):
        bootstrap_interval([1.0, 2.0], "mode")
