"""Depths of the raw image's pixels from the central view's surface: where each pixel's line of sight meets it."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, formula
from plenodepth.depth.kernels.scalar import floor

f4 = np.float32


@formula
def between_four(surface, column, row, place_x, place_y, same):
    """The surface at a place in the pixel (column, row) of the view; its own value beside an edge or the border.

    Between the four pixels around the place if they lie within `same` of each other.
    """
    here = surface[row, column]
    x, y = place_x - f4(0.5), place_y - f4(0.5)
    left, top = floor(x), floor(y)
    inside = left >= 0 and top >= 0 and left + 1 < surface.shape[1] and top + 1 < surface.shape[0]
    left, top = (left, top) if inside else (column, row)
    right, bottom = (left + 1, top + 1) if inside else (column, row)
    a, b, c, d = surface[top, left], surface[top, right], surface[bottom, left], surface[bottom, right]
    alike = abs(a - here) < same and abs(b - here) < same and abs(c - here) < same and abs(d - here) < same
    across, down = (x - f4(left), y - f4(top)) if inside else (f4(0), f4(0))
    above, below = a + across * (b - a), c + across * (d - c)
    return above + down * (below - above) if alike else here


@compiled
def find_seen_depths(first, last, center, places, inverse_depths, surface, radius, same, seen, owner):
    """1/v of the pixels of lenses first … last − 1, into seen (H, W), and the view's pixel that shows it, into owner.

    `center` (J, 2) px and `places` (J, n, 4) are those of `find_lens_places` for 1/v (n,), ascending; `surface` (h, w)
    is 1/v in the view, NaN for none. A pixel within `radius` px of its lens' centre looks along a line; the nearest
    place where this comes from before the surface to behind it is what it sees. Two values of 1/v farther apart than
    `same` are of two surfaces: the line passes through the gap between them. `owner` (H, W) is row · w + column.
    """
    height, width, count = surface.shape[0], surface.shape[1], len(inverse_depths)
    rows, columns = seen.shape
    nearest_first = abs(inverse_depths[0]) < abs(inverse_depths[count - 1])
    for lens in range(first, last):
        middle_x, middle_y = center[lens, 0], center[lens, 1]
        low, high = max(math.ceil(middle_y - radius), 0), min(math.floor(middle_y + radius), rows - 1)
        for row in range(low, high + 1):
            y = f4(row - middle_y)
            reach = math.sqrt(max(radius * radius - y * y, f4(0)))
            begin, end = max(math.ceil(middle_x - reach), 0), min(math.floor(middle_x + reach), columns - 1)
            for column in range(begin, end + 1):
                x = f4(column - middle_x)
                before, value_before = f4(-1), f4(0)
                for n in range(count):
                    h = n if nearest_first else count - 1 - n
                    place_x = places[lens, h, 0] + x * places[lens, h, 2]
                    place_y = places[lens, h, 1] + y * places[lens, h, 3]
                    there_x, there_y = floor(place_x), floor(place_y)
                    if there_x < 0 or there_y < 0 or there_x >= width or there_y >= height:
                        before = f4(-1)
                        continue
                    value = surface[there_y, there_x]
                    ahead = abs(value) - abs(inverse_depths[h])  # > 0: the line is before the surface; NaN: none there
                    if before > 0 and ahead <= 0 and abs(value - value_before) <= same:
                        part, ago = before / (before - ahead), h - 1 if nearest_first else h + 1
                        back = f4(1) - part
                        place_x = part * place_x + back * (places[lens, ago, 0] + x * places[lens, ago, 2])
                        place_y = part * place_y + back * (places[lens, ago, 1] + y * places[lens, ago, 3])
                        there_x, there_y = floor(place_x), floor(place_y)
                        seen[row, column] = between_four(surface, there_x, there_y, place_x, place_y, same)
                        owner[row, column] = there_y * width + there_x
                        break
                    before = ahead if ahead > 0 else f4(-1)
                    value_before = value
