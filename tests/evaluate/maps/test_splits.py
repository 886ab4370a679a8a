"""Errors by groups, by hand; a constructed map whose groups have known errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from plenodepth.camera import preset
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.evaluate.maps.boundaries import boundary_distance, depth_jumps
from plenodepth.evaluate.maps.splits import (
    bin_labels,
    bin_names,
    binned_errors,
    errors_by_confidence,
    errors_by_lens_type,
    grouped_errors,
    lens_type_labels,
    quantile_edges,
)

NAN = float("nan")


def test_two_groups_by_hand() -> None:
    error = np.array([[3.0, -4.0, NAN], [-1.0, 100.0, 5.0]])
    labels = np.array([[0, 0, 0], [2, -1, 2]])
    near, nothing, far = grouped_errors(error, labels)
    assert (near.members, near.count, near.completeness) == (3, 2, pytest.approx(2 / 3))
    assert (near.mean, near.median, near.rmse, near.bias) == pytest.approx((3.5, 3.5, np.sqrt(12.5), -0.5))
    assert (far.q25, far.median, far.q75, far.bias) == pytest.approx((2, 3, 4, 2))
    assert (nothing.members, nothing.count) == (0, 0)
    assert np.isnan([nothing.mean, nothing.median, nothing.completeness]).all()


@given(st.lists(st.tuples(st.floats(-50, 50), st.integers(-1, 4)), min_size=1, max_size=40))
def test_groups_are_those_of_a_loop(data: list[tuple[float, int]]) -> None:
    error, labels = np.array([e for e, _ in data]), np.array([label for _, label in data])
    if labels.max() < 0:
        return
    for group in grouped_errors(error, labels):
        mine = error[labels == group.label]
        assert group.count == len(mine)
        if len(mine):
            assert group.mean == pytest.approx(np.abs(mine).mean())
            assert group.bias == pytest.approx(np.median(mine))


def test_bins_are_open_above_but_for_the_last() -> None:
    assert bin_labels([0.0, 0.9, 1.0, 2.0, 2.1, -0.1, NAN], [0, 1, 2]).tolist() == [0, 0, 1, 1, -1, -1, -1]
    assert bin_labels([-1e9, 5.0, np.inf], [-np.inf, 0, np.inf]).tolist() == [0, 1, 1]
    assert bin_names([0, 2, 5], "px") == ["0 – 2 px", "2 – 5 px"]
    assert bin_names([-np.inf, 2, np.inf]) == ["< 2", "≥ 2"]


def test_quantile_bins_hold_equally_many() -> None:
    values = np.random.default_rng(0).exponential(size=1000)
    edges = quantile_edges(values, 5)
    assert np.bincount(bin_labels(values, edges)).tolist() == [200] * 5
    assert bin_labels([3.0, 3.0], quantile_edges([3.0, 3.0], 5)).tolist() == [0, 0]


def test_errors_that_fall_with_texture_do_so_in_its_bins() -> None:
    texture = np.random.default_rng(1).uniform(0, 1, (60, 80))
    rows = binned_errors(10 * (1 - texture), texture, [0, 0.25, 0.5, 0.75, 1])
    assert [row.mean for row in rows] == pytest.approx([8.75, 6.25, 3.75, 1.25], abs=0.1)


def test_a_wide_rim_of_error_shows_in_the_bins_of_distance() -> None:
    depth = np.full((40, 60), 900.0)
    depth[:, 30:] = 600.0
    boundary = depth_jumps(depth)
    assert np.flatnonzero(boundary.any(axis=0)).tolist() == [29, 30]
    error = np.zeros(depth.shape)
    error[:, 26:34] = 5.0  # up to 3 px from the boundary's own pixels
    rows = binned_errors(error, boundary_distance(boundary), [0, 3.5, 10, np.inf], "px")
    assert [row.mean for row in rows] == pytest.approx([5, 0, 0])


def test_boundaries_are_jumps_up_and_down_and_neither_slopes_nor_holes() -> None:
    slope = np.tile(np.linspace(600, 1200, 100), (50, 1))
    assert not depth_jumps(slope).any()
    slope[20:24, 20:24] = np.nan
    assert not depth_jumps(slope).any()
    step = np.array([[600.0], [620.0], [600.0]])
    assert depth_jumps(step, 0.03).ravel().tolist() == [True, True, True]
    assert not depth_jumps(step, 0.04).any()


def test_the_distance_is_the_exact_one() -> None:
    mask = np.random.default_rng(2).random((70, 90)) < 0.005
    np.testing.assert_allclose(boundary_distance(mask), ndimage.distance_transform_edt(~mask), rtol=1e-6)
    assert np.isinf(boundary_distance(np.zeros((3, 4), bool))).all()


def test_errors_by_confidence_start_with_the_least() -> None:
    error, confidence = np.array([9.0, 1.0, 5.0, 3.0, NAN, 7.0]), np.array([0.1, 0.9, 0.3, 0.8, 0.0, 0.2])
    rows = errors_by_confidence(error, confidence, bins=2)
    assert [row.count for row in rows] == [2, 3]
    assert [row.mean for row in rows] == pytest.approx([8, 3])


def test_lens_types_of_coarse_and_refined_maps() -> None:
    camera = shrunk(preset("r12-es"), 12, 10)
    coarse = lens_type_labels((10, 12), camera)
    assert set(np.unique(coarse)) == {0, 1, 2}
    rows = errors_by_lens_type(np.array([10.0, 20.0, 30.0])[coarse], camera)
    assert [(row.name, row.mean) for row in rows] == [("type 0", 10), ("type 1", 20), ("type 2", 30)]
    fine = lens_type_labels((camera.sensor.height, camera.sensor.width), camera)
    u, v = np.rint(camera.micro_images.center(5, 4)).astype(int)
    assert fine[v, u] == coarse[4, 5]
    with pytest.raises(InputError, match="micro-images"):
        lens_type_labels((3, 3), camera)


def test_what_cannot_be_grouped_is_refused() -> None:
    with pytest.raises(InputError, match="no error in any group"):
        grouped_errors([NAN, 3.0], np.array([0, -1]))
    with pytest.raises(InputError, match="whole numbers"):
        grouped_errors([1.0], np.array([0.5]))
    with pytest.raises(InputError, match="shape"):
        grouped_errors([1.0], np.array([0, 1]))
    with pytest.raises(InputError, match="names"):
        grouped_errors([1.0], np.array([2]), ["a", "b"])
    with pytest.raises(InputError, match="increase"):
        bin_labels([1.0], [2, 1])
