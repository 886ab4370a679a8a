"""BAP features of one image: corners of boards in its micro-images, found without a hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.corners.board_grid import FoundBoard, find_boards, grid_error, least_corners
from plenodepth.calib.corners.board_views import BoardViews, Grid, refined_views
from plenodepth.calib.corners.clusters import find_clusters
from plenodepth.calib.corners.fit import Corners, Noise
from plenodepth.calib.corners.search import find_corners
from plenodepth.calib.corners.view_features import features_of_views
from plenodepth.calib.features import UNKNOWN, Board, Features
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import Array, Indices, MicroImageArray, require_matching_lens_count
from plenodepth.errors import InputError

LEAST_CONFIRMED = 0.25  # of the micro-images that should show a board's corners: fewer do, and it was a mistake
MOST_GRID_ERROR = 0.06  # steps of the grid: a texture may look like a board, but not as straight
FEW_VIEWS = 4.0  # views per corner of a board below which a frame is said to be poor


@dataclass(frozen=True, eq=False)
class Search:
    """Corners and boards found in a frame, from which the fit of all views starts."""

    corners: Corners  # of micro-images
    label: Indices  # (n,) place of each on the grid, −1 for none
    grid: Grid
    whole: tuple[bool, ...]  # of each board: all rows and columns are there
    noise: Noise
    board: Board
    frame: int


@dataclass(frozen=True, eq=False)
class FrameFeatures:
    """The n features of one frame, what is known of its m clusters, and what there is to say about them."""

    features: Features
    blur: Array  # (n,) px: |ρ| as the edges of the corner show it
    blur_sigma: Array  # (n,) px
    disparity_factor: Array  # (m,) of each cluster: g in uv − c = −g (c − w)
    disparity_factor_sigma: Array  # (m,)
    virtual_depth: Array  # (m,) of each cluster; NaN without a camera
    virtual_depth_sigma: Array  # (m,)
    notes: tuple[str, ...]


def find_features(
    gray: NDArray[np.float32],
    micro_images: MicroImageArray,
    board: Board,
    *,
    camera: PlenopticCamera | None = None,
    frame: int = 0,
) -> FrameFeatures:
    """Corners of all boards `board` in a devignetted image (h, w), NaN where unusable.

    A `camera`, even a rough one, makes positions better where its focal lengths and f-number are known: the fits then
    take account of how the aperture clips the blur. Positions are where corners appear in any case, as of
    `project(apparent=True)`. It also gives virtual depths, and the sign of ρ; without focal lengths ρ is NaN.

    ρ is measured from the blur of each corner, not taken from its virtual depth: it is new information. A corner in
    focus has the ρ of its virtual depth with a wide uncertainty.

    Numbers of corners: x along +u as far as the board's sides allow. A board of which rows or columns are missing is
    numbered from the first ones found; its notes say so.
    """
    gray = checked_gray(gray, micro_images)
    corners, noise = find_corners(gray, micro_images)
    clusters, label = find_clusters(corners, micro_images)
    boards = find_boards(clusters, _edges(corners, label, len(clusters)), board)
    if not boards:
        return _nothing(frame, len(corners), len(clusters))
    grid, position = _grid(boards, board, len(clusters))
    whole = tuple(one.whole for one in boards)
    search = Search(corners, position[label], grid, whole, noise, board, frame)
    return _fitted(gray, micro_images, search, camera)


def checked_gray(gray: NDArray[np.float32], micro_images: MicroImageArray) -> NDArray[np.float32]:
    """The image in the memory layout that the kernels are compiled for."""
    if np.ndim(gray) != 2:
        raise InputError(f"has shape {np.shape(gray)}, needs (height, width)", field="gray")
    require_matching_lens_count(micro_images, gray.shape[1], gray.shape[0])
    return np.array(gray, dtype=np.float32)


def _fitted(
    gray: NDArray[np.float32], micro_images: MicroImageArray, search: Search, camera: PlenopticCamera | None
) -> FrameFeatures:
    grid = search.grid
    views = refined_views(gray, micro_images, search.corners, search.label, grid, search.noise, camera)
    sure = np.array([_is_board(views, grid, number, search.board) for number in range(len(search.whole))])
    if not sure.any():
        return _nothing(search.frame, len(search.corners), len(grid.board))
    return _result(views, search, sure, camera)


def _is_board(views: BoardViews, grid: Grid, number: int, board: Board) -> bool:
    """Whether the micro-images confirm a board: enough corners, in enough of their views, and on one plane."""
    here = grid.board == number
    seen = np.unique(views.label[here[views.label]])
    if len(seen) < least_corners(board) or np.ptp(grid.place[seen], axis=0).min() < 1:
        return False
    confirmed = here[views.label].sum() / max(1, views.expected[here].sum())
    if confirmed < LEAST_CONFIRMED:
        return False
    return grid_error(grid.place[seen], views.clusters.center[seen]) < MOST_GRID_ERROR


def _edges(corners: Corners, label: Indices, count: int) -> Array:
    """Directions (m, 2) rad of the two edges at each cluster: means over its views."""
    edges = np.zeros((count, 2))
    bright = np.arctan2(corners.bright[:, 1], corners.bright[:, 0]) / 2
    for number in range(count):
        rows = np.flatnonzero(label == number)
        # Half the angle between the edges about the bright diagonal, then that diagonal's own mean.
        between = corners.normals[rows] + np.pi / 2 - bright[rows, None]
        half = np.median(np.abs(np.angle(np.exp(2j * between))) / 2)
        middle = np.angle(np.exp(2j * bright[rows]).sum()) / 2
        edges[number] = middle + half, middle - half
    return edges


def _grid(boards: list[FoundBoard], board: Board, clusters: int) -> tuple[Grid, Indices]:
    """All corners between the first and last ones found of each board; and the place there of each old cluster.

    Places (m + 1,) are −1 for clusters that are none of a board's, and in the last entry, that of no cluster.
    """
    position = np.full(clusters + 1, UNKNOWN, dtype=np.int64)
    numbers: list[Indices] = []
    places: list[Indices] = []
    for number, one in enumerate(boards):
        row, column = np.divmod(one.corner, board.columns)
        size = int(column.max()) + 1, int(row.max()) + 1
        position[one.cluster] = int(sum(len(before) for before in places)) + row * size[0] + column
        rows, columns = np.mgrid[: size[1], : size[0]]
        places.append(np.stack([columns.reshape(-1), rows.reshape(-1)], axis=1))
        numbers.append(np.full(len(places[-1]), number))
    return Grid(np.concatenate(numbers), np.concatenate(places)), position


def _nothing(frame: int, corners: int, clusters: int) -> FrameFeatures:
    none = np.zeros(0)
    note = f"frame {frame}: no board found among {corners} corners of micro-images, {clusters} of them in space"
    return FrameFeatures(Features.joined([]), none, none, none, none, none, none, (note,))


def _result(
    views: BoardViews, search: Search, sure: NDArray[np.bool_], camera: PlenopticCamera | None
) -> FrameFeatures:
    """The features of the boards that are `sure` (b,)."""
    grid, board = search.grid, search.board
    column, row = grid.place.T
    found = features_of_views(
        views,
        sure[grid.board],
        corner=row * board.columns + column,
        board=(np.cumsum(sure) - 1)[grid.board],
        frame=search.frame,
        camera=camera,
    )
    whole = [one for one, there in zip(search.whole, sure, strict=True) if there]
    notes = _notes(found.features, whole, board, search.frame)
    factors = (found.clusters.factor, found.clusters.factor_sigma)
    depths = (found.virtual_depth, found.virtual_depth_sigma)
    return FrameFeatures(found.features, found.blur, found.blur_sigma, *factors, *depths, notes)


def _notes(features: Features, boards: list[bool], board: Board, frame: int) -> tuple[str, ...]:
    notes = []
    for number, whole in enumerate(boards):
        here = features.board == number
        name = f"frame {frame}, board {number}"
        seen = len(np.unique(features.corner[here]))
        if not whole:
            notes.append(
                f"{name}: {seen} of {board.corner_count} corners, rows or columns are missing; they are numbered from "
                "the first ones found"
            )
        if here.sum() < FEW_VIEWS * seen:
            notes.append(f"{name}: few views, {here.sum()} of {seen} corners")
    return tuple(notes)
