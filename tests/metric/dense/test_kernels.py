"""The kernels of the dense view give what plain NumPy gives."""

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera, unproject
from plenodepth.depth.collected_costs import CollectedCosts
from plenodepth.metric.central_view import central_places
from plenodepth.metric.dense.places import lens_places, nearest_lenses, view_shape
from plenodepth.metric.dense.surfaces import (
    ALIKE,
    LARGE_PENALTY,
    OFF_AT_EDGES,
    OUTLINE_REACH,
    SAME_SURFACE,
    SMALL_PENALTY,
    STEP,
    labels_of,
    normalise_costs,
    outlines_by_light,
    summed_along_lines,
    surface_of,
)
from plenodepth.metric.dense.trust import distance_to_others
from plenodepth.metric.kernels.sharp_view import BLOCK

RNG = np.random.default_rng(12)
ALL_DIRECTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)]


def costs_of(cost: np.ndarray) -> CollectedCosts:
    inverse = (0.05 + STEP * np.arange(cost.shape[2])).astype(np.float32)
    return CollectedCosts(cost.astype(np.float32), np.zeros(cost.shape, np.uint8), inverse)


def plain_sum(cost: np.ndarray, small: float, large: np.ndarray) -> np.ndarray:
    """Hirschmüller's recursion, pixel by pixel and direction by direction."""
    height, width, count = cost.shape
    total = np.zeros(cost.shape)
    for down, right in ALL_DIRECTIONS:
        along = np.zeros(cost.shape)
        rows = range(height) if down >= 0 else range(height - 1, -1, -1)
        for row in rows:
            for column in range(width) if right >= 0 else range(width - 1, -1, -1):
                y, x = row - down, column - right
                along[row, column] = cost[row, column]
                if 0 <= y < height and 0 <= x < width:
                    before = along[y, x]
                    padded = np.concatenate([[np.inf], before, [np.inf]])
                    ways = [
                        before,
                        padded[:-2] + small,
                        padded[2:] + small,
                        np.full(count, before.min() + large[row, column]),
                    ]
                    along[row, column] += np.min(ways, axis=0) - before.min()
        total += along
    return total


@pytest.mark.parametrize("guided", [False, True])
def test_sums_along_scan_lines(guided: bool) -> None:
    costs = costs_of(RNG.uniform(0, 4, (7, 9, 11)))
    steepness = RNG.uniform(0, 0.1, (7, 9)).astype(np.float32) if guided else None
    large = np.full((7, 9), LARGE_PENALTY - OFF_AT_EDGES / 2)
    if steepness is not None:
        large = LARGE_PENALTY - OFF_AT_EDGES * (1 - np.exp(-steepness / 0.02))
    found = summed_along_lines(costs, 0.7, steepness)
    np.testing.assert_allclose(found, plain_sum(costs.cost, 0.7 * SMALL_PENALTY, 0.7 * large), rtol=1e-4)


def test_without_smoothness_each_pixel_chooses_by_itself() -> None:
    costs = costs_of(RNG.uniform(1, 4, (6, 8, 12)))
    costs.cost[..., 5] = 0.5
    costs.cost[2, 3, 9] = 0.1
    label = np.argmin(summed_along_lines(costs, 0.0, None), axis=2)
    assert label[2, 3] == 9
    assert (label == 5).sum() == label.size - 1


def test_a_lone_cost_loses_against_its_surroundings() -> None:
    cost = np.full((9, 9, 12), 2.0)
    cost[..., 4] = 1.0
    cost[4, 4, 10] = 0.9
    costs = costs_of(cost)
    assert (labels_of(costs, summed_along_lines(costs, 1.0, None)) == 4).all()


def test_what_is_nearer_loses_a_pixel_of_its_outline() -> None:
    cost = np.full((12, 12, 12), 3.0)
    cost[..., 8] = 0.5  # far: 1/v is large
    cost[3:9, 3:9, 8], cost[3:9, 3:9, 2] = 3.0, 0.5
    costs = costs_of(cost)
    label = labels_of(costs, summed_along_lines(costs, 0.2, None))
    assert (label[4:8, 4:8] == 2).all()
    assert (label == 2).sum() == 16
    mirrored = CollectedCosts(cost[..., ::-1].astype(np.float32), costs.side, -costs.inverse_depths[::-1])
    np.testing.assert_array_equal(labels_of(mirrored, summed_along_lines(mirrored, 0.2, None)), 11 - label)


def test_a_pixel_without_texture_or_cost_has_no_say() -> None:
    cost = RNG.uniform(1, 2, (4, 5, 7))
    cost[0, 0] = 1e30
    cost[1, 1, 3] = 1e30
    textured = np.ones((4, 5), np.bool_)
    textured[2, 2] = False
    costs = costs_of(cost)
    normalise_costs(costs, 0.01, textured)
    assert (costs.cost[0, 0] > 1e3).all()
    assert costs.cost[1, 1, 3] == 1
    assert (costs.cost[2, 2] == 1).all()
    ratio = cost[3, 4] / (cost[3, 4].min() + 0.005)
    np.testing.assert_allclose(costs.cost[3, 4], ratio, rtol=1e-5)
    assert labels_of(costs, summed_along_lines(costs, 1.0, None))[0, 0] == -1


def test_depth_lies_between_the_hypotheses() -> None:
    """Squares of costs are parabolas here, with their minima between the hypotheses."""
    true = 5 + RNG.uniform(-0.4, 0.4, (20, 24))
    cost = np.sqrt(1 + 0.5 * (np.arange(11) - true[..., None]) ** 2)
    costs = costs_of(cost)
    label = np.full(true.shape, 5, np.int32)
    found = surface_of(costs, costs.cost, label, 0)
    np.testing.assert_allclose(found.inverse, 0.05 + STEP * true, rtol=1e-3)
    assert (found.information > 0).all()


def test_a_surface_is_smoothed_and_a_step_is_kept() -> None:
    true = np.where(np.arange(40)[None] < 20, 3.0, 9.0) + RNG.normal(0, 0.1, (30, 40))
    assert 6 * STEP > SAME_SURFACE
    costs = costs_of(np.sqrt(1 + 0.5 * (np.arange(13) - true[..., None]) ** 2))
    label = np.rint(true).astype(np.int32)
    rough, smooth = (surface_of(costs, costs.cost, label, reach).inverse for reach in (0, 6))
    assert smooth[:, :20].std() < 0.4 * rough[:, :20].std()
    assert np.abs(smooth[:, 19] - 0.05 - 3 * STEP).max() < 0.2 * STEP
    assert np.abs(smooth[:, 20] - 0.05 - 9 * STEP).max() < 0.2 * STEP


def test_places_are_where_the_pinhole_sees_the_points(camera: PlenopticCamera) -> None:
    inverse = np.array([0.08, 0.2, 0.4], np.float32)
    places = lens_places(camera, inverse, 4)
    grid = camera.micro_images
    k, l = (index.ravel() for index in grid.lattice.indices())
    center = grid.center(k, l)
    offset = RNG.uniform(-6, 6, center.shape)
    for n, value in enumerate(inverse):
        points = unproject(center + offset, k, l, np.full(len(k), 1 / float(value)), camera)
        expected, seen = central_places(points, camera, 4)
        position = np.floor(places[:, n, :2] + offset * places[:, n, 2:]).astype(int)
        width = camera.sensor.width // 4
        same = position[:, 1] * width + position[:, 0] == expected
        assert same[seen].mean() > 0.97  # a point on the border between two pixels may round either way


def test_the_nearest_lens_is_the_nearest(camera: PlenopticCamera) -> None:
    places = lens_places(camera, np.array([0.1, 0.2, 0.3], np.float32), 4)
    shape = view_shape(camera, 4)
    nearest = nearest_lenses(places, shape)
    for row, column in ((0, 0), (10, 20), (nearest.shape[0] - 1, nearest.shape[1] - 1)):
        middle = BLOCK * np.array([column, row]) + BLOCK / 2
        assert nearest[row, column] == np.argmin(np.linalg.norm(places[:, 1, :2] - middle, axis=1))


def test_distances_to_texture_are_exact() -> None:
    filled = np.ones((9, 12), np.bool_)
    filled[2, 3] = filled[7, 10] = False
    row, column = np.indices(filled.shape)
    expected = np.minimum(np.hypot(row - 2, column - 3), np.hypot(row - 7, column - 10))
    np.testing.assert_array_equal(distance_to_others(filled), expected.astype(np.float32))


def test_outlines_that_follow_the_light() -> None:
    """Against weighted medians, pixel by pixel; and an outline that is two pixels off moves to the step of light."""
    label = RNG.integers(0, 3, (24, 30)).astype(np.int32) * 4
    label[RNG.random(label.shape) < 0.05] = -1
    light = RNG.random((24, 30, 3)).astype(np.float32)
    found, root = outlines_by_light(label, light, 9), np.sqrt(light)
    rows, columns = np.indices(label.shape)
    for row, column in RNG.integers(0, (24, 30), (60, 2)):
        away = ((rows - row) ** 2 + (columns - column) ** 2) / (OUTLINE_REACH + 1) ** 2
        box = (np.abs(rows - row) <= OUTLINE_REACH) & (np.abs(columns - column) <= OUTLINE_REACH)
        unlike = ((root - root[row, column]) ** 2).sum(axis=2) / ALIKE**2
        weight = np.where(box & (away < 1) & (label >= 0), (1 - away) / (1 + unlike), 0)
        below = np.array([weight[label <= n].sum() for n in range(9)])
        allowed = np.flatnonzero(np.abs(below - weight.sum() / 2) < 1e-4 * weight.sum())  # rounding decides there
        expected = -1 if label[row, column] < 0 else int(np.argmax(below >= weight.sum() / 2))
        assert found[row, column] in {expected, *allowed.tolist(), *(allowed + 1).tolist()}
    sides = np.where(np.arange(40) < 20, 2, 6).astype(np.int32)
    shown = np.where(np.arange(40) < 22, 0.2, 0.8).astype(np.float32)
    moved = outlines_by_light(np.tile(sides, (30, 1)), np.tile(shown[:, None], (30, 1, 1)), 9)
    assert (moved[10:20] == np.where(np.arange(40) < 22, 2, 6)).all()
