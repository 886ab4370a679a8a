"""Distances between clouds: by hand, and against all pairs and SciPy's tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.distances import authors_cloud_distances, compare_clouds
from plenodepth.evaluate.clouds.nearest import nearest_points

READING = np.array([[0.0, 0, 0], [10, 0, 0]])
REFERENCE = np.array([[0.0, 0, 3], [10, 0, 0], [10, 0, 24], [0, 4, 0]])


def test_two_and_four_points_by_hand() -> None:
    result = compare_clouds(READING, REFERENCE, thresholds=(1, 3, 5))
    assert result.to_reference == pytest.approx([3, 0])
    assert result.to_reading == pytest.approx([3, 0, 24, 4])
    assert (result.accuracy.mean, result.accuracy.median, result.accuracy.count) == (1.5, 1.5, 2)
    assert (result.completeness.mean, result.completeness.median) == (7.75, 3.5)
    assert result.chamfer == pytest.approx((1.5 + 7.75) / 2)
    assert result.chamfer_squared == pytest.approx((4.5 + (9 + 576 + 16) / 4) / 2)
    assert result.hausdorff == 24
    assert result.hausdorff_95 == pytest.approx(np.quantile([0, 3, 4, 24], 0.95))
    assert [(row.precision, row.recall) for row in result.f_scores] == [(0.5, 0.25), (1, 0.5), (1, 0.75)]
    assert [row.f_score for row in result.f_scores] == pytest.approx([1 / 3, 2 / 3, 6 / 7])


def test_beyond_the_cap_counts_as_the_cap() -> None:
    result = compare_clouds(READING, REFERENCE, cap=10, thresholds=())
    assert np.isinf(result.to_reading[2])
    assert result.completeness.mean == pytest.approx((3 + 0 + 10 + 4) / 4)
    assert (result.hausdorff, result.completeness.beyond, result.accuracy.beyond) == (10, 0.25, 0)


def test_the_authors_variant_forgets_what_is_far_and_never_looks_back() -> None:
    reading = np.array([[0.0, 0, 0], [10, 0, 0], [50, 0, 0]])
    result = authors_cloud_distances(reading, REFERENCE)
    assert (result.chamfer, result.hausdorff) == pytest.approx((4.5, 9))  # of squares 9, 0 and 1600
    assert result.counted == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="no point within"):
        authors_cloud_distances(reading + 100, REFERENCE)


def test_disjoint_clouds_have_an_f_score_of_zero() -> None:
    (score,) = compare_clouds(READING, READING + 100, thresholds=[1]).f_scores
    assert score.f_score == 0


@given(arrays(np.float64, st.tuples(st.integers(1, 60), st.just(3)), elements=st.integers(-3, 3)), st.integers(0, 5))
def test_the_tree_finds_what_all_pairs_find_even_with_many_equal_points(others: np.ndarray, seed: int) -> None:
    points = np.random.default_rng(seed).normal(0, 3, (20, 3))
    found = nearest_points(points, others)
    distances = cdist(points, others)
    np.testing.assert_allclose(found.distance, distances.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(distances[np.arange(20), found.index], found.distance, atol=1e-12)


def test_large_clouds_agree_with_scipy_whatever_the_order_and_number_of_threads() -> None:
    generator = np.random.default_rng(0)
    reference = generator.uniform(-200, 200, (100_000, 3)) * [1, 1, 0.02] + [0, 0, 900]
    reading = np.concatenate([reference[:50_000] + generator.normal(0, 5, (50_000, 3)), [[1e4, 0, 0]]])
    expected, index = cKDTree(reference).query(reading)
    found = nearest_points(reading, reference, threads=1)
    np.testing.assert_allclose(found.distance, expected, rtol=1e-12)
    assert np.mean(found.index == index) > 0.9999
    np.testing.assert_array_equal(nearest_points(reading, reference, threads=3).distance, found.distance)
    np.testing.assert_array_equal(nearest_points(reading[::-1], reference).distance[::-1], found.distance)
    capped = nearest_points(reading, reference, cap=4.0)
    np.testing.assert_array_equal(capped.distance, np.where(found.distance < 4, found.distance, np.inf))
    np.testing.assert_array_equal(capped.index >= 0, found.distance < 4)


def test_progress_goes_over_both_directions() -> None:
    seen = []
    compare_clouds(READING, REFERENCE, progress=lambda done, total, _: seen.append((done, total)))
    assert seen == [(2, 6), (6, 6)]


@pytest.mark.parametrize(
    ("reading", "reference", "reason"),
    [
        (np.empty((0, 3)), REFERENCE, "has no point"),
        (READING, np.full((2, 3), np.nan), "not finite"),
        (READING[:, :2], REFERENCE, "needs \\(n, 3\\)"),
    ],
)
def test_what_is_no_cloud_is_refused(reading: np.ndarray, reference: np.ndarray, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        compare_clouds(reading, reference)


def test_a_threshold_beyond_the_cap_is_refused() -> None:
    with pytest.raises(InputError, match="thresholds"):
        compare_clouds(READING, REFERENCE, cap=5, thresholds=[6])
