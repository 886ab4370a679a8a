"""Where a true view has straight slanted edges between two even surfaces, on which sharpness can be measured."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.evaluate.views.sharpness import LEAST_CONTRAST, LEAST_SLANT, SlantedEdge, edge_line

Float32 = NDArray[np.float32]

SIDE = 33  # px of a window, odd
STEP = 8  # px between the windows tried
EVEN = 0.03  # of the difference of the two levels: a pixel nearer to one of them than this is of it
LEAST_EVEN = 0.85  # share of such pixels
STRAIGHT = 0.06  # px: the places of a true edge's rows lie closer about its line
STEEPEST = 0.36  # slope: 20 degrees
MIDDLE = 0.2  # of the side: how far from the window's middle the edge may pass
SAME_DEPTH = 0.05  # of the depth: edges between surfaces farther apart are outlines, which rendering makes


class StraightEdge(NamedTuple):
    """A window about a straight edge: its first row and column, the edge's line in it, and its depth."""

    row: int
    column: int
    line: SlantedEdge
    depth: float  # mm; NaN without a map of depth

    @property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns of the window."""
        return slice(self.row, self.row + SIDE), slice(self.column, self.column + SIDE)


def find_edges(light: Float32, depth: Float32 | None = None) -> list[StraightEdge]:
    """Windows that do not overlap about the straight edges of a true view's gray light (h, w), the straightest first.

    With its `depth` (h, w) mm, edges where one surface ends before another are left out.
    """
    height, width = light.shape
    candidates = []
    if min(light.shape) >= SIDE:
        kernel = np.ones((SIDE, SIDE), np.uint8)
        filled = np.nan_to_num(light)
        dark, bright = cv2.erode(filled, kernel), cv2.dilate(filled, kernel)
        contrast = bright - dark > LEAST_CONTRAST * (bright + dark)
        half = SIDE // 2
        for row, column in np.argwhere(contrast[half : height - half : STEP, half : width - half : STEP]) * STEP:
            edge = _edge(light, depth, int(row), int(column))
            if edge is not None:
                candidates.append(edge)
    taken = np.zeros(light.shape, np.bool_)
    chosen = []
    for edge in sorted(candidates, key=_offside):
        if not taken[edge.window].any():
            taken[edge.window] = True
            chosen.append(edge)
    return chosen


def _offside(edge: StraightEdge) -> float:
    """How far from the window's middle the edge passes, px."""
    return abs(edge.line.offset + edge.line.slope * (SIDE // 2) - SIDE // 2)


def _edge(light: Float32, depth: Float32 | None, row: int, column: int) -> StraightEdge | None:
    window = light[row : row + SIDE, column : column + SIDE]
    if not np.isfinite(window).all():
        return None
    dark, bright = window.min(), window.max()
    near = EVEN * (bright - dark)
    even = (np.abs(window - dark) <= near) | (np.abs(window - bright) <= near)
    if not (bright - dark > LEAST_CONTRAST * (bright + dark) and even.mean() >= LEAST_EVEN):
        return None
    line = edge_line(window)
    if line is None or line.residual > STRAIGHT or not LEAST_SLANT / SIDE <= abs(line.slope) <= STEEPEST:
        return None
    found = StraightEdge(row, column, line, _depth_of(depth, row, column))
    if _offside(found) > MIDDLE * SIDE or (depth is not None and not np.isfinite(found.depth)):
        return None
    return found


def _depth_of(depth: Float32 | None, row: int, column: int) -> float:
    """Of the surface in a window, mm; NaN where there are several, or none."""
    if depth is None:
        return float("nan")
    inside = depth[row : row + SIDE, column : column + SIDE]
    middle = float(np.median(inside))
    return middle if (np.abs(inside - middle) <= SAME_DEPTH * middle).all() else float("nan")
