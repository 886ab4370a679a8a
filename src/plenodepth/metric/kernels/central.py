"""The central view: where the pixels' points fall in a pinhole camera, and one depth per pixel of that."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.metric.kernels.points import entry_of, follow_row, undistort
from plenodepth.metric.kernels.sorting import kth_smallest, sort_columns

f4 = np.float32
i4 = np.int32

MOST_SORTED = 32  # values of a pixel; of more, which are rare, the one that is wanted is searched for
PIXELS_AT_A_TIME = 64


@compiled
def find_places(first, last, owner, depth, refined, optics, view, points, place):
    """Pixel of the central view that each pixel of rows first … last − 1 is seen at, into place (h, w); −1 for none.

    `depth` is the flat map of virtual depth. `view` (5,) is the pinhole camera: its image's height and width, the
    place of the optical axis in it (column, row), and its focal length in its pixels. `points` (`RowBuffers`) is a
    buffer.
    """
    width = owner.shape[1]
    x, y, z, straight_x, straight_y = points
    high, wide, axis_x, axis_y, focal = view[0], view[1], view[2], view[3], view[4]
    for row in range(first, last):
        follow_row(row, owner, depth, refined, optics, x, y, z)
        undistort(x, y, width, optics.distortion, straight_x, straight_y)
        for column in range(width):
            # A point lies in the direction of its image, on the other side: the depth need not be known.
            at_x = axis_x + focal * straight_x[column] / z[column]
            at_y = axis_y + focal * straight_y[column] / z[column]
            seen = (z[column] < -optics.focal) & (at_x >= 0) & (at_x < wide) & (at_y >= 0) & (at_y < high)
            place[row, column] = i4(at_y) * i4(wide) + i4(at_x) if seen else i4(-1)


@compiled
def count_depths(first, last, place, owner, depth, refined, starts):
    """Where the depths of pixels first … last − 1 of the central view begin in a list of all, into starts (n + 1,).

    `place` (h, w) says where each pixel is seen, `depth` is the flat map of its metric depth, of which what is > 0
    counts. `starts` holds zeros before.
    """
    height, width = place.shape
    for row in range(height):
        for column in range(width):
            at = place[row, column] - first
            if 0 <= at < last - first and depth[entry_of(refined, owner[row, column], row, column, width)] > 0:
                starts[at + 1] += 1
    for n in range(last - first):
        starts[n + 1] += starts[n]


@compiled
def choose_depths(
    first, last, place, owner, depth, refined, by_median, exchanges, starts, filled, values, sorted_together, out
):
    """The depth of pixels first … last − 1 of the central view, into out (n,); NaN stays where nothing is seen.

    The least of a pixel's depths, or their median (of two middle ones the nearer). `starts` is of `count_depths`, whose
    other arguments are the same. `exchanges` sort `MOST_SORTED` values (`sort_columns`). Buffers are `filled`, a copy
    of `starts`, `values`, for all depths, and `sorted_together` (`MOST_SORTED`, `PIXELS_AT_A_TIME`).
    """
    height, width = place.shape
    for row in range(height):
        for column in range(width):
            at = place[row, column] - first
            if 0 <= at < last - first:
                value = depth[entry_of(refined, owner[row, column], row, column, width)]
                if value > 0:
                    values[filled[at]] = value
                    filled[at] += 1
    for start in range(0, last - first, PIXELS_AT_A_TIME):
        end, most = min(start + PIXELS_AT_A_TIME, last - first), 0
        for n in range(start, end):
            most = max(most, starts[n + 1] - starts[n])
        together = most <= MOST_SORTED
        if together:
            for k in range(most):
                for n in range(PIXELS_AT_A_TIME):
                    sorted_together[k, n] = f4(math.inf)
            for n in range(start, end):
                for k in range(starts[n + 1] - starts[n]):
                    sorted_together[k, n - start] = values[starts[n] + k]
            sort_columns(sorted_together, most, exchanges)
        for n in range(start, end):
            count = starts[n + 1] - starts[n]
            rank = (count - 1) // 2 if by_median else 0
            if count > 0 and together:
                out[first + n] = sorted_together[rank, n - start]
            elif count > 0:
                out[first + n] = kth_smallest(values, starts[n], starts[n + 1] - 1, starts[n] + rank)
