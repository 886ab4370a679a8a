"""The scale error of boards, by hand and for boards that are known to be too small."""

import numpy as np
import pytest

from plenodepth.calib.features import Board
from plenodepth.calib.scale.boards import scale_errors
from plenodepth.errors import InputError
from plenodepth.evaluate.frames.scale_error import reconstructed_corners, scale_error_summary

SQUARE = Board(2, 2, 10.0)  # corners (0, 0), (10, 0), (0, 10), (10, 10)


def places(board: Board, scale: float, depth: float) -> np.ndarray:
    return scale * board.points(np.arange(board.corner_count)) + [0, 0, depth]


def test_one_corner_out_of_place_by_hand() -> None:
    found = places(SQUARE, 1, 500)
    found[1, 0] = 9  # 10 → 9, √200 → √181, and its distance to the corner below it √100 → √101
    (frame,) = scale_error_summary(reconstructed_corners([3] * 4, range(4), found, SQUARE)).frames
    e = np.array([10, 100 * (1 - np.sqrt(181 / 200)), 100 * (1 - np.sqrt(1.01)), 0, 0, 0])
    assert (frame.frame, frame.corners, frame.pairs, frame.distance) == (3, 4, 6, 500)
    assert frame.mbe == pytest.approx(e.mean())
    assert frame.mae == pytest.approx(np.abs(e).mean())
    assert frame.rmse == pytest.approx(np.sqrt((e**2).mean()))
    assert frame.median == pytest.approx(np.median(np.abs(e)))


def test_frames_count_the_same_and_signs_cancel_in_the_bias_only() -> None:
    board = Board(6, 5, 8.0)
    found = np.concatenate([places(board, scale, depth) for scale, depth in ((0.98, 400), (1.01, 700), (0.97, 900))])
    frame, corner = np.repeat([7, 8, 9], 30), np.tile(np.arange(30), 3)
    found[5], found[40] = np.nan, np.nan
    corners = reconstructed_corners(frame, corner, found, board)
    result = scale_error_summary(corners)
    assert [row.mbe for row in result.frames] == pytest.approx([2, -1, 3])
    assert [row.corners for row in result.frames] == [29, 29, 30]
    assert result.mbe == pytest.approx(4 / 3)
    assert result.mae == pytest.approx(2)
    assert result.rmse == pytest.approx(np.sqrt(14 / 3))
    assert result.median_scale == pytest.approx(2)
    assert [row.mbe / 100 for row in result.frames] == pytest.approx(scale_errors(corners))


def test_a_depth_scale_is_applied_to_whole_points() -> None:
    board = Board(4, 4, 10.0)
    corners = reconstructed_corners([0] * 16, range(16), 1.25 * places(board, 1, 600), board)
    assert scale_error_summary(corners).mbe == pytest.approx(-25)
    assert scale_error_summary(corners, (0, 0.8, 0)).mae == pytest.approx(0, abs=1e-9)


def test_frames_with_too_few_corners_are_left_out() -> None:
    found = np.concatenate([places(SQUARE, 1, 500), places(SQUARE, 1, 600)[:3]])
    result = scale_error_summary(reconstructed_corners([1] * 4 + [2] * 3, [0, 1, 2, 3, 0, 1, 2], found, SQUARE))
    assert [row.frame for row in result.frames] == [1]


@pytest.mark.parametrize(
    ("frame", "corner", "reason"),
    [
        ([1, 1, 1, 2], [0, 1, 2, 3], "no frame has 4"),
        ([1, 1, 1, 1], [0, 1, 2, 4], "has not"),
        ([1, 1, 1, 1], [0, 1, 2, 2], "twice"),
        ([1, 1, 1], [0, 1, 2], "differ"),
    ],
)
def test_what_is_no_board_is_refused(frame: list[int], corner: list[int], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        reconstructed_corners(frame, corner, places(SQUARE, 1, 500), SQUARE)


def test_a_corner_behind_the_camera_is_refused() -> None:
    with pytest.raises(InputError, match="behind the camera"):
        reconstructed_corners([1] * 4, range(4), places(SQUARE, 1, 0), SQUARE)
