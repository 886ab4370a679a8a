"""Surfaces of views: seen from another place, filled from what lies behind, and with smaller pixels."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.depth.kernels.scalar import floor
from plenodepth.metric.kernels.seen_depths import between_four

f4 = np.float32


@compiled
def warp_surface(first, last, surface, inverse_depths, shift, same, out, origin):
    """A surface (h, w) in 1/v as another viewpoint sees it, rows first … last − 1, into out; NaN where it is hidden.

    `shift` (n, 2) px is by how much the viewpoint moves what lies at 1/v (n,), ascending. `origin` (h, w) gets the
    pixel of the surface, row · w + column, or −1. Two values farther apart than `same` are of two surfaces.
    """
    height, width, count = surface.shape[0], surface.shape[1], len(inverse_depths)
    nearest_first = abs(inverse_depths[0]) < abs(inverse_depths[count - 1])
    half = f4(0.5) * (inverse_depths[1] - inverse_depths[0])
    for row in range(first, last):
        for column in range(width):
            out[row, column], origin[row, column] = f4(math.nan), -1
            before, value_before = f4(-1), f4(0)
            for n in range(count):
                h = n if nearest_first else count - 1 - n
                place_x, place_y = f4(column) + f4(0.5) - shift[h, 0], f4(row) + f4(0.5) - shift[h, 1]
                at_x, at_y = floor(place_x), floor(place_y)
                if at_x < 0 or at_y < 0 or at_x >= width or at_y >= height:
                    before = f4(-1)
                    continue
                value = surface[at_y, at_x]
                ahead = abs(value) - abs(inverse_depths[h])  # > 0: the line is before the surface; NaN: none there
                if before > 0 and ahead <= 0 and abs(value - value_before) <= same:
                    part, ago = before / (before - ahead), h - 1 if nearest_first else h + 1
                    back = f4(1) - part
                    place_x = f4(column) + f4(0.5) - part * shift[h, 0] - back * shift[ago, 0]
                    place_y = f4(row) + f4(0.5) - part * shift[h, 1] - back * shift[ago, 1]
                    at_x, at_y = min(max(floor(place_x), 0), width - 1), min(max(floor(place_y), 0), height - 1)
                    out[row, column] = between_four(surface, at_x, at_y, place_x, place_y, same)
                    origin[row, column] = at_y * width + at_x
                    break
                if abs(ahead) <= half:  # just beside an outline
                    out[row, column], origin[row, column] = value, at_y * width + at_x
                    break
                before = ahead if ahead > 0 else f4(-1)
                value_before = value


@compiled
def fill_hidden(first, last, surface, origin, reach, out, out_origin):
    """Copy rows first … last − 1 of a surface (h, w) in 1/v; holes get the farthest value next to them.

    Of those to the left and right, above and below, up to `reach` px away: what was hidden lies behind.
    """
    height, width = surface.shape
    for row in range(first, last):
        for column in range(width):
            best, of = surface[row, column], origin[row, column]
            if math.isnan(best):
                for direction in range(4):
                    across = 1 if direction == 0 else (-1 if direction == 1 else 0)
                    down = 1 if direction == 2 else (-1 if direction == 3 else 0)
                    for step in range(1, reach + 1):
                        y, x = row + step * down, column + step * across
                        if y < 0 or x < 0 or y >= height or x >= width:
                            break
                        value = surface[y, x]
                        if not math.isnan(value):
                            if not abs(value) <= abs(best):
                                best, of = value, origin[y, x]
                            break
            out[row, column], out_origin[row, column] = best, of


@compiled
def enlarge_surface(first, last, surface, ratio, same, out):
    """A surface (h, w) with pixels `ratio` times as large as those of out (H, W), rows first … last − 1 of that.

    Between the four pixels around a place where they lie within `same` of each other, else the pixel's own value.
    """
    height, width = surface.shape
    for row in range(first, last):
        place_y = (f4(row) + f4(0.5)) / ratio
        at_y = min(floor(place_y), height - 1)
        for column in range(out.shape[1]):
            place_x = (f4(column) + f4(0.5)) / ratio
            at_x = min(floor(place_x), width - 1)
            out[row, column] = between_four(surface, at_x, at_y, place_x, place_y, same)
