"""A board is told by its structure: grids bent by perspective, turned, with gaps, among others."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.calib.corners.board_grid import apply_homography, find_boards, homography
from plenodepth.calib.corners.clusters import Clusters
from plenodepth.calib.features import Board

BOARD = Board(6, 4, 10.0)
PERSPECTIVE = np.array([[40.0, 3.0, 100.0], [-2.0, 38.0, 80.0], [2e-2, -1.5e-2, 1.0]])


def grid(turn: float = 0.0, noise: float = 0.0, columns: int = 6, rows: int = 4) -> tuple[Clusters, np.ndarray]:
    """Clusters of a board seen in perspective and turned about its middle, row by row; and their edges (m, 2) rad."""
    row, column = np.divmod(np.arange(columns * rows), columns)
    place = np.column_stack([column, row]).astype(float)
    cosine, sine = np.cos(turn), np.sin(turn)
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    middle = place.mean(axis=0)

    def image(at: np.ndarray) -> np.ndarray:
        return apply_homography(PERSPECTIVE, (at - middle) @ rotation.T + [3, 2])

    center = image(place)
    along, down = image(place + [0.01, 0]) - center, image(place + [0, 0.01]) - center
    edges = np.arctan2([along[:, 1], down[:, 1]], [along[:, 0], down[:, 0]]).T
    sign = 1 - 2 * ((column + row) % 2)
    bright = sign[:, None] * np.stack([np.cos(edges.sum(axis=1)), np.sin(edges.sum(axis=1))], axis=1)
    center = center + np.random.default_rng(0).normal(0, noise, center.shape)
    count = len(center)
    views = np.full(count, 10)
    return Clusters(center, np.full(count, 0.1), np.full(count, 1e-3), bright, views), edges


def joined(parts: list[tuple[Clusters, np.ndarray]]) -> tuple[Clusters, np.ndarray]:
    names = Clusters.__dataclass_fields__
    whole = Clusters(**{name: np.concatenate([getattr(part[0], name) for part in parts]) for name in names})
    return whole, np.concatenate([part[1] for part in parts])


@pytest.mark.parametrize("turn", np.radians([0, 20, -40, 70, 110, -150, 180]))
def test_turned_boards_are_numbered_with_x_along_u(turn: float) -> None:
    clusters, edges = grid(turn, noise=1.0)
    (found,) = find_boards(clusters, edges, BOARD)
    assert found.whole
    upright = np.cos(turn) > 0
    expected = found.cluster if upright else BOARD.corner_count - 1 - found.cluster
    np.testing.assert_array_equal(found.corner, expected)
    assert len(found.cluster) == BOARD.corner_count


def test_gaps_do_not_shift_numbers() -> None:
    clusters, edges = grid()
    keep = np.setdiff1d(np.arange(24), [7, 8, 13])
    (found,) = find_boards(clusters.where(keep), edges[keep], BOARD)
    np.testing.assert_array_equal(found.corner, keep[found.cluster])
    assert len(found.corner) == len(keep)


def test_part_of_a_board_counts_from_its_first_corner() -> None:
    clusters, edges = grid()
    keep = np.flatnonzero(np.arange(24) % 6 >= 2)
    (found,) = find_boards(clusters.where(keep), edges[keep], BOARD)
    assert not found.whole
    np.testing.assert_array_equal(found.corner, keep[found.cluster] - 2)


def test_boards_apart_are_two() -> None:
    one, other = grid(), grid(0.3)
    other[0].center[:] += [700, 40]
    clusters, edges = joined([one, other])
    found = find_boards(clusters, edges, BOARD)
    assert [len(board.cluster) for board in found] == [24, 24]
    for board in found:
        assert len(set(board.cluster // 24)) == 1
        np.testing.assert_array_equal(board.corner, board.cluster % 24)


def test_clutter_is_left_out() -> None:
    generator = np.random.default_rng(7)
    clutter, clutter_edges = grid()
    clutter.center[:] = generator.uniform(0, 400, (24, 2))
    angle = generator.uniform(0, 2 * np.pi, 24)
    clutter.bright[:] = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    clusters, edges = joined([grid(0.1), (clutter, clutter_edges)])
    found = find_boards(clusters, edges, BOARD)[0]
    assert len(found.cluster) >= 23
    np.testing.assert_array_equal(found.corner, found.cluster)


def test_larger_grid_than_the_board_is_cut_to_it() -> None:
    clusters, edges = grid(columns=8, rows=5)
    found = find_boards(clusters, edges, BOARD)[0]
    assert len(found.cluster) == BOARD.corner_count
    assert sorted(found.corner) == list(range(BOARD.corner_count))


def test_scattered_clusters_are_no_board() -> None:
    clusters, edges = grid()
    clusters.center[:] = np.random.default_rng(3).uniform(0, 500, (24, 2))
    assert find_boards(clusters, edges, BOARD) == []


def test_no_clusters_are_no_board() -> None:
    clusters, edges = grid()
    none = np.zeros(0, dtype=np.int64)
    assert find_boards(clusters.where(none), edges[none], BOARD) == []


def test_homography_takes_places_to_their_images() -> None:
    place = np.random.default_rng(1).uniform(0, 8, (20, 2))
    matrix = homography(place, apply_homography(PERSPECTIVE, place))
    np.testing.assert_allclose(matrix / matrix[2, 2], PERSPECTIVE, rtol=1e-6, atol=1e-9)
