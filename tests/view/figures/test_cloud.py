"""Pictures of point clouds."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.view.figures.cloud import NOTHING, cloud_picture

RED, BLUE = (255, 0, 0), (0, 0, 255)


def wall(z: float, half: float, color: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(np.linspace(-half, half, 101), np.linspace(-half, half, 101))
    points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z)])
    return points, np.full(points.shape, color, np.uint8)


def two_walls(**options: tuple[float, float]) -> np.ndarray:
    """A small red wall before a large blue one."""
    (near, red), (far, blue) = wall(900, 50, RED), wall(1000, 400, BLUE)
    return cloud_picture(np.concatenate([far, near]), np.concatenate([blue, red]), size=(80, 80), **options)


def place_of(picture: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    """Mean row and column of a colour."""
    return np.argwhere((picture == color).all(axis=-1)).mean(axis=0)


def test_what_is_near_hides_what_is_behind_it() -> None:
    picture = two_walls(turn=(0, 0))
    assert picture.shape == (80, 80, 3)
    assert tuple(picture[40, 40]) == RED
    assert tuple(picture[10, 10]) == BLUE
    np.testing.assert_allclose(place_of(picture, RED), 39.5, atol=1)


def test_from_above_what_is_near_is_lower_and_from_the_side_it_is_aside() -> None:
    (row, column), (row_above, _), (_, column_beside) = (
        place_of(two_walls(turn=turn), RED) for turn in ((0, 0), (0, 15), (15, 0))
    )
    assert row_above > row + 1
    assert abs(column_beside - column) > 1


def test_where_no_point_is_the_picture_is_dark() -> None:
    picture = cloud_picture(*wall(1000, 10, RED), turn=(0, 0), size=(90, 30))
    assert (picture[:, 0] == NOTHING).all()


def test_points_need_three_coordinates_and_a_colour_each() -> None:
    points, colors = wall(1000, 10, RED)
    for given in ((points[:, :2], colors), (points, colors[1:]), (points[:0], colors[:0])):
        with pytest.raises(InputError, match="need"):
            cloud_picture(*given)
