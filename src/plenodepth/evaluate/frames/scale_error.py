"""The paper's scale error: distances between corners of a board, as reconstructed, against the true ones.

e = 100 (L_true − L_found)/L_true, per cent, for every pair of corners that a frame shows: positive where things come
out too small. Its mean over the pairs of a frame is the paper's ε_scale, the mean bias error; MAE, RMSE and median of
|e| are given beside it. Over frames, the paper's tables give the median of |ε_scale|.

Where corners are found, without Γ, is `board_corners` of `plenodepth.calib.scale.boards`; Γ is fitted there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.calib.features import Board
from plenodepth.calib.scale.boards import LEAST_CORNERS, BoardCorners, pair_scale_errors
from plenodepth.errors import InputError

NO_SCALE = (0.0, 1.0, 0.0)  # Γ(z) = z


@dataclass(frozen=True)
class FrameScaleError:
    """Scale errors of one board in one frame, per cent of the true distances; positive: reconstructed too small."""

    frame: int
    distance: float  # mm, median depth of the corners as given
    mbe: float  # mean of e: the paper's scale error
    mae: float  # mean of |e|
    rmse: float
    median: float  # of |e|
    corners: int
    pairs: int


@dataclass(frozen=True)
class ScaleErrorSummary:
    """Scale errors over all frames, per cent; each frame has the same weight."""

    frames: tuple[FrameScaleError, ...]
    mbe: float  # mean of the frames' scale errors
    mae: float  # mean of the frames' MAE
    rmse: float  # root of the mean of the frames' squared RMSE
    median_scale: float  # median over frames of |scale error|: the figure of the paper's table


def scale_error_summary(corners: BoardCorners, depth_scale: ArrayLike | None = None) -> ScaleErrorSummary:
    """Scale errors of reconstructed corners, frame by frame and over all frames.

    `depth_scale` (γ0, γ1, γ2) rescales the corners before they are judged: that of the camera for `board_corners`,
    which are found without it, None for positions that are as they are.
    """
    errors, view = pair_scale_errors(corners, NO_SCALE if depth_scale is None else depth_scale)
    percent, count = 100 * errors, np.bincount(corners.view, minlength=len(corners.frame))
    rows = []
    for number, (frame, distance) in enumerate(zip(corners.frame, corners.distances, strict=True)):
        e = percent[view == number]
        size = np.abs(e)
        rows.append(
            FrameScaleError(
                frame=int(frame),
                distance=float(distance),
                mbe=float(e.mean()),
                mae=float(size.mean()),
                rmse=float(np.sqrt(np.mean(e**2))),
                median=float(np.median(size)),
                corners=int(count[number]),
                pairs=len(e),
            )
        )
    return ScaleErrorSummary(
        frames=tuple(rows),
        mbe=float(np.mean([row.mbe for row in rows])),
        mae=float(np.mean([row.mae for row in rows])),
        rmse=float(np.sqrt(np.mean([row.rmse**2 for row in rows]))),
        median_scale=float(np.median([abs(row.mbe) for row in rows])),
    )


def reconstructed_corners(frame: ArrayLike, corner: ArrayLike, found: ArrayLike, board: Board) -> BoardCorners:
    """Corners of a board that any method reconstructed: frame (n,), number of the corner (n,), place (n, 3).

    Places are in the camera frame, mm, so z > 0. Missing corners (NaN) are left out, and frames with fewer than
    four; one corner occurs once in a frame.
    """
    frames, numbers = np.asarray(frame), np.asarray(corner)
    places: NDArray[np.float64] = np.asarray(found, dtype=np.float64)
    if frames.ndim != 1 or numbers.shape != frames.shape or places.shape != (len(frames), 3):
        raise InputError(f"shapes {frames.shape}, {numbers.shape}, {places.shape} differ", field="corner")
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < board.corner_count):
        raise InputError(f"has a number that the board of {board.corner_count} corners has not", field="corner")
    there = np.isfinite(places).all(axis=1)
    frames, numbers, places = frames[there], numbers[there], places[there]
    if (places[:, 2] <= 0).any():
        raise InputError("has a corner behind the camera", field="found", fix="give mm in the camera frame, z > 0")
    if len(np.unique(np.stack([frames, numbers], axis=1), axis=0)) < len(frames):
        raise InputError("occurs twice in a frame", field="corner", fix="give the mean of its views")
    seen, view, count = np.unique(frames, return_inverse=True, return_counts=True)
    enough = count >= LEAST_CORNERS
    if not enough.any():
        raise InputError(f"no frame has {LEAST_CORNERS} corners or more", field="found")
    keep = enough[view]
    _, view = np.unique(view[keep], return_inverse=True)
    return BoardCorners(view, seen[enough], places[keep], board.points(numbers[keep]))
