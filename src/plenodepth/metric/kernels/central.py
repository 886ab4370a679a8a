"""The central view: where the pixels' points fall in a pinhole camera, and one depth per pixel of that."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.metric.kernels.points import entry_of, is_dark, undistort, virtual_point

f8 = np.float64
i8 = np.int64


@compiled
def find_places(first, last, owner, depth, refined, optics, view, place):
    """Pixel of the central view that each pixel of rows first … last − 1 is seen at, into place (h, w); −1 for none.

    `depth` is the flat map of virtual depth. `view` (5,) is the pinhole camera: its image's height and width, the
    place of the optical axis in it (column, row), and its focal length in its pixels.
    """
    width = owner.shape[1]
    chosen = np.empty(width, np.int32)
    x, y, z, straight_x, straight_y = (
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(width),
    )
    high, wide = i8(view[0]), i8(view[1])
    for row in range(first, last):
        count = 0
        for column in range(width):
            place[row, column] = -1
            lens = owner[row, column]
            if lens < 0:
                continue
            value = f8(depth[entry_of(refined, lens, row, column, width)])
            if math.isnan(value) or value == 0 or is_dark(optics, lens, f8(column), f8(row)):
                continue
            chosen[count] = column
            x[count], y[count], z[count] = virtual_point(optics, lens, f8(column), f8(row), value)
            count += 1
        undistort(x, y, count, optics.distortion, straight_x, straight_y)
        for n in range(count):
            # A point lies in the direction of its image, on the other side: the depth need not be known.
            at_x, at_y = view[2] + view[4] * straight_x[n] / z[n], view[3] + view[4] * straight_y[n] / z[n]
            if z[n] < -optics.focal and 0 <= at_x < wide and 0 <= at_y < high:
                place[row, chosen[n]] = i8(at_y) * wide + i8(at_x)


@compiled
def choose_depths(first, last, place, owner, depth, refined, by_median, out):
    """The depth of pixels first … last − 1 of the central view, into out (n,); NaN stays where nothing is seen.

    `place` (h, w) says where each pixel is seen, `depth` is the flat map of its metric depth, of which what is > 0
    counts. The least of a
    pixel's depths, or their median (of two middle ones the nearer).
    """
    starts = np.zeros(last - first + 1, np.int64)
    height, width = place.shape
    for row in range(height):
        for column in range(width):
            at = place[row, column] - first
            if 0 <= at < last - first and depth[entry_of(refined, owner[row, column], row, column, width)] > 0:
                starts[at + 1] += 1
    for n in range(last - first):
        starts[n + 1] += starts[n]
    values, filled = np.empty(starts[last - first], np.float32), starts[:-1].copy()
    for row in range(height):
        for column in range(width):
            at = place[row, column] - first
            if 0 <= at < last - first:
                value = depth[entry_of(refined, owner[row, column], row, column, width)]
                if value > 0:
                    values[filled[at]] = value
                    filled[at] += 1
    for n in range(last - first):
        count = starts[n + 1] - starts[n]
        if count > 0:
            rank = (count - 1) // 2 if by_median else 0
            out[first + n] = kth_smallest(values, starts[n], starts[n + 1] - 1, starts[n] + rank)


@compiled
def kth_smallest(values, low, high, wanted):
    """The value that would stand at index `wanted` if values[low … high] were sorted; they change their order."""
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return values[wanted]
