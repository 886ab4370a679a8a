"""Samples of the raw image added up in the pixels of a view."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.depth.kernels.scalar import floor

f4 = np.float32


@compiled
def splat(first, last, center, extent, radius, samples, light, channel_of, total, weight):
    """Add the samples that fall in rows first … last − 1 of a view to total and weight (h, w, channels), zeros before.

    `light` (H, W, channels) is that of the raw image, NaN for none. `channel_of` (2, 2) says which channel a pixel
    of a mosaic has, by row and column modulo 2; −1: all. `samples` are of `find_samples`, `extent` (J, 2) the first and
    the last row of the view that each lens may reach. A sample is shared among the four pixels around its place.
    """
    column_of, row_of, weight_of = samples
    height, width = light.shape[0], light.shape[1]
    channels = light.shape[2]
    for lens in range(len(center)):
        if extent[lens, 0] >= last or extent[lens, 1] < first:
            continue
        middle_x, middle_y = center[lens, 0], center[lens, 1]
        low, high = max(math.ceil(middle_y - radius), 0), min(math.floor(middle_y + radius), height - 1)
        for row in range(low, high + 1):
            y = f4(row - middle_y)
            reach = math.sqrt(max(radius * radius - y * y, f4(0)))
            begin, end = max(math.ceil(middle_x - reach), 0), min(math.floor(middle_x + reach), width - 1)
            for column in range(begin, end + 1):
                share = weight_of[row, column]
                if not share > 0:
                    continue
                place_y = row_of[row, column] - f4(0.5)
                if not (place_y > f4(first) - f4(1) and place_y < f4(last)):
                    continue
                place_x = column_of[row, column] - f4(0.5)
                if not (place_x > f4(-1) and place_x < f4(total.shape[1])):
                    continue
                left, top = floor(place_x), floor(place_y)
                right_share, lower_share = place_x - f4(left), place_y - f4(top)
                only = channel_of[row & 1, column & 1]
                for channel in range(channels):
                    if only >= 0 and channel != only:
                        continue
                    value = light[row, column, channel]
                    if math.isnan(value):
                        continue
                    for down in range(2):
                        at_row = top + down
                        if at_row < first or at_row >= last:
                            continue
                        by_row = share * (lower_share if down else f4(1) - lower_share)
                        for right in range(2):
                            at = left + right
                            if at < 0 or at >= total.shape[1]:
                                continue
                            part = by_row * (right_share if right else f4(1) - right_share)
                            total[at_row, at, channel] += part * value
                            weight[at_row, at, channel] += part
