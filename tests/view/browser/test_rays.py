from __future__ import annotations

import numpy as np

from plenodepth.view.browser.rays import place_on_plane, point_on_ray

EYE = np.array([0.0, 0.0, -100.0])


def _grid(depth: float) -> np.ndarray:
    x, y = np.meshgrid(np.arange(-50, 51, 5.0), np.arange(-50, 51, 5.0))
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, depth)]).astype(np.float32)


def test_a_click_takes_the_point_nearest_to_its_ray() -> None:
    points = _grid(1000.0)
    index = point_on_ray(points, EYE, np.array([10.4, -20.3, 1000.0]) - EYE)
    assert index is not None
    assert points[index].tolist() == [10, -20, 1000]


def test_what_lies_in_front_hides_what_lies_behind() -> None:
    points = np.concatenate([_grid(1000.0), [[0.5, 0.0, 500.0]]]).astype(np.float32)
    index = point_on_ray(points, EYE, np.array([0.0, 0.0, 1.0]))
    assert index == len(points) - 1


def test_a_click_beside_all_points_takes_none() -> None:
    assert point_on_ray(_grid(1000.0), EYE, np.array([500.0, 0.0, 1000.0])) is None
    assert point_on_ray(np.zeros((0, 3), np.float32), EYE, np.array([0, 0, 1])) is None


def test_points_behind_the_eye_are_not_seen() -> None:
    assert point_on_ray(_grid(-500.0), EYE, np.array([0.0, 0.0, 1.0])) is None


def test_a_ray_meets_a_plane_ahead_of_it_alone() -> None:
    place = place_on_plane([1.0, 2.0, -1.0], [0.5, 0.0, 1.0], 1.0)
    assert place is not None
    assert place.tolist() == [2.0, 2.0]
    assert place_on_plane([0, 0, 2], [0, 0, 1], 1.0) is None
    assert place_on_plane([0, 0, 0], [1, 0, 0], 1.0) is None
