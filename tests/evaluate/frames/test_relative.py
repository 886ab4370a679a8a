"""The relative depth error of the paper, against cases computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.evaluate import by_displacement, median_depth, relative_depth_error
from plenodepth.metric import MetricDepthMap


def frames(least: int = 2) -> st.SearchStrategy[list[tuple[float, float]]]:
    pair = st.tuples(st.floats(100, 2000), st.integers(0, 2000).map(float))
    return st.lists(pair, min_size=least, max_size=8, unique_by=lambda frame: frame[1])


def test_three_frames_by_hand() -> None:
    # δ = 100, 300, 200; found 110, 300, 190; so 10 %, 0 %, 5 %.
    result = relative_depth_error([1000, 1110, 1300], [0, 100, 300])
    assert result.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert result.displacement == pytest.approx([100, 300, 200])
    assert result.error == pytest.approx([0.10, 0.0, 0.05])
    assert result.mean == pytest.approx(0.05)
    assert result.std == pytest.approx(0.05)
    assert np.isnan(result.interval).all()  # three frames say too little about the mean


def test_pairs_of_one_displacement_are_grouped() -> None:
    # Steps of 100 mm that are equal up to rounding: errors 10 %, 20 %, 0 %; two steps: 15 %, 10 %; all three: 10 %.
    result = relative_depth_error([1000, 1110, 1230, 1330], [0, 100.0, 200.0 + 1e-9, 300.0])
    rows = by_displacement(result)
    assert [row.displacement for row in rows] == pytest.approx([100, 200, 300])
    assert [row.mean for row in rows] == pytest.approx([0.10, 0.125, 0.10])
    assert [row.pairs for row in rows] == [3, 2, 1]
    assert rows[0].std == pytest.approx(0.1)
    assert np.isnan(rows[2].std)


def test_moving_the_wrong_way_is_an_error_of_twice_the_displacement() -> None:
    assert relative_depth_error([1000, 900], [0, 100]).mean == pytest.approx(2)


def test_frames_without_depth_are_left_out_and_repeated_places_make_no_pair() -> None:
    result = relative_depth_error([1000, np.nan, 1110, 1010], [0, 50, 100, 0])
    assert result.pairs.tolist() == [[0, 2], [2, 3]]
    assert result.error == pytest.approx([0.1, 0.0])
    assert result.frames == 3


@given(frames(), st.floats(-1000, 1000), st.floats(-1000, 1000))
def test_only_displacements_count(data: list[tuple[float, float]], one: float, other: float) -> None:
    z, g = np.array(data).T
    moved = relative_depth_error(z + one, g + other)
    assert moved.error == pytest.approx(relative_depth_error(z, g).error, abs=1e-8)


@given(frames(), st.floats(0.01, 100))
def test_neither_unit_nor_order_of_frames_matter(data: list[tuple[float, float]], unit: float) -> None:
    z, g = np.array(data).T
    result = relative_depth_error(z, g)
    assert relative_depth_error(unit * z, unit * g).mean == pytest.approx(result.mean, rel=1e-9)
    assert relative_depth_error(z[::-1], g[::-1]).mean == pytest.approx(result.mean, rel=1e-9)


@given(frames(4), st.floats(0.5, 1.5))
def test_a_wrong_scale_is_the_error_of_every_pair(data: list[tuple[float, float]], scale: float) -> None:
    g = np.array(data)[:, 1]
    result = relative_depth_error(scale * g + 300, g)
    assert result.error == pytest.approx(abs(scale - 1), abs=1e-9)
    assert result.interval == pytest.approx((abs(scale - 1),) * 2, abs=1e-9)


def test_the_interval_holds_the_mean_is_reproducible_and_narrows_with_frames() -> None:
    generator, widths = np.random.default_rng(0), []
    for count in (6, 60):
        g = np.linspace(500, 1900, count)
        result = relative_depth_error(g * (1 + 0.01 * generator.standard_normal(count)), g)
        low, high = result.interval
        assert low < result.mean < high
        widths.append((high - low) / result.mean)
    assert widths[1] < 0.7 * widths[0]
    z = g + np.sin(g)
    assert relative_depth_error(z, g, seed=3).interval == relative_depth_error(z, g, seed=3).interval
    assert relative_depth_error(z, g, seed=3).interval != relative_depth_error(z, g, seed=4).interval


def test_the_interval_covers_the_mean_of_many_experiments() -> None:
    generator, g = np.random.default_rng(2), np.linspace(500, 1900, 15)
    results = [relative_depth_error(g + 8 * generator.standard_normal(15), g, resamples=400) for _ in range(200)]
    expected = np.mean([result.mean for result in results])
    covered = np.mean([low <= expected <= high for low, high in (result.interval for result in results)])
    assert 0.8 < covered <= 1  # 0.95 nominal; percentiles of few frames are somewhat narrow


def test_the_median_is_of_what_is_there() -> None:
    depth = np.array([[np.nan, 700.0, 710.0], [690.0, np.nan, 5000.0]], np.float32)
    full = MetricDepthMap(depth, np.ones_like(depth), np.ones_like(depth), refined=False)
    assert median_depth(full) == 705.0
    assert median_depth(depth) == 705.0
    assert np.isnan(median_depth(np.full((2, 2), np.nan)))


@pytest.mark.parametrize(
    ("depth", "truth", "reason"),
    [
        ([1000], [0], "no two places"),
        ([1000, np.nan], [0, 100], "no two places"),
        ([1000, 1100], [5, 5], "no two places"),
        ([1000, 1100], [0], "has shape"),
        ([1000, 1100], [0, np.nan], "truth: holds a number"),
    ],
)
def test_what_has_no_displacement_is_refused(depth: list[float], truth: list[float], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        relative_depth_error(depth, truth)


def test_the_level_is_a_probability() -> None:
    with pytest.raises(InputError, match="level"):
        relative_depth_error([1000, 1100], [0, 100], level=95)
