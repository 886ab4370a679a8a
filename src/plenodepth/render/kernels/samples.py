"""Where the pixels of the raw image fall in a view, and how much each counts there."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled

f4 = np.float32
i4 = np.int32


@compiled
def find_samples(first, last, center, places, inverse_depths, seen, lens_type, opening, radius, out):
    """Place and weight in a view of the pixels of lenses first … last − 1, whose 1/v is seen (H, W), NaN for none.

    `center` (J, 2) px and `places` (J, n, 4) are those of `find_lens_places` for 1/v (n,), evenly spaced. `opening` is
    what a pixel sees through, an `Opening` as a tuple. `out` are column, row and weight (H, W), 0 where there is none.
    Between two values of 1/v, place/v is linear: so it is for a lens without distortion.
    """
    step_of_table, area, centroid, spread, focus, pixel_variance, sharpness = opening
    column_of, row_of, weight_of = out
    height, width = seen.shape
    count, last_entry = len(inverse_depths), area.shape[1] - 2
    per_step = f4(1) / (inverse_depths[1] - inverse_depths[0])
    for lens in range(first, last):
        middle_x, middle_y, kind = center[lens, 0], center[lens, 1], lens_type[lens]
        low, high = max(math.ceil(middle_y - radius), 0), min(math.floor(middle_y + radius), height - 1)
        for row in range(low, high + 1):
            y = f4(row - middle_y)
            reach = math.sqrt(max(radius * radius - y * y, f4(0)))
            begin, end = max(math.ceil(middle_x - reach), 0), min(math.floor(middle_x + reach), width - 1)
            for column in range(begin, end + 1):
                inverse = seen[row, column]
                if not abs(inverse) > 0:
                    continue
                x = f4(column - middle_x)
                away = math.sqrt(x * x + y * y)
                entry = min(i4(away * step_of_table), i4(last_entry))
                part = min(away * step_of_table - f4(entry), f4(1))
                gap = inverse - focus[kind]
                shift = gap * (centroid[kind, entry] + part * (centroid[kind, entry + 1] - centroid[kind, entry]))
                stretch = f4(1) + shift / max(away, f4(1e-3))
                at = min(max((inverse - inverse_depths[0]) * per_step, f4(0)), f4(count - 1))
                h = min(i4(at), i4(count - 2))
                rest = at - f4(h)
                ahead, behind = rest * inverse_depths[h + 1], (f4(1) - rest) * inverse_depths[h]
                per = f4(1) / (ahead + behind)
                before, after = places[lens, h], places[lens, h + 1]
                place_x = behind * (before[0] + x * stretch * before[2]) + ahead * (after[0] + x * stretch * after[2])
                place_y = behind * (before[1] + y * stretch * before[3]) + ahead * (after[1] + y * stretch * after[3])
                wide = spread[kind, entry] + part * (spread[kind, entry + 1] - spread[kind, entry])
                open_part = area[kind, entry] + part * (area[kind, entry + 1] - area[kind, entry])
                column_of[row, column], row_of[row, column] = place_x * per, place_y * per
                weight_of[row, column] = open_part * (pixel_variance + gap * gap * wide) ** (-sharpness)


@compiled
def fill_from_behind(first, last, center, radius, reach, seen, out):
    """Copy 1/v (H, W) of the pixels of lenses first … last − 1; those without get the farthest up to `reach` px away.

    They look past an outline at something that the view does not show: what lies behind the outline goes on there.
    """
    height, width = seen.shape
    for lens in range(first, last):
        middle_x, middle_y = center[lens, 0], center[lens, 1]
        low, high = max(math.ceil(middle_y - radius), 0), min(math.floor(middle_y + radius), height - 1)
        for row in range(low, high + 1):
            y = f4(row - middle_y)
            side = math.sqrt(max(radius * radius - y * y, f4(0)))
            begin, end = max(math.ceil(middle_x - side), 0), min(math.floor(middle_x + side), width - 1)
            for column in range(begin, end + 1):
                best = seen[row, column]
                if math.isnan(best):
                    for other_row in range(max(row - reach, low), min(row + reach, high) + 1):
                        for other in range(max(column - reach, begin), min(column + reach, end) + 1):
                            value = seen[other_row, other]
                            if not math.isnan(value) and not abs(value) <= abs(best):
                                best = value
                out[row, column] = best
