"""The median filter of the central view, a row at a time."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.metric.kernels.sorting import sort_columns

f4 = np.float32


@compiled
def filter_rows(first, last, depth, reach, exchanges, window, count, out):
    """Median of what is there around each pixel of rows first … last − 1, into out (h, w); NaN where it is too little.

    The window reaches `reach` px to each side and ends at the map's border; half of it must be there. Of two middle
    values the one nearer to the pixel's own serves. `exchanges` sort the (2 reach + 1)² values of a window
    (`sort_columns`): those of all windows of a row are sorted at once. Buffers: `window` ((2 reach + 1)², w) and
    `count` (w,).
    """
    height, width = depth.shape
    side = 2 * reach + 1
    for row in range(first, last):
        for column in range(width):
            count[column] = 0
        for down in range(side):
            for across in range(side):
                plane = window[down * side + across]
                for column in range(width):
                    plane[column] = f4(math.inf)  # missing; sorts behind everything
                there, shift = row + down - reach, across - reach
                if not 0 <= there < height:
                    continue
                for column in range(max(0, -shift), min(width, width - shift)):
                    value = depth[there, column + shift]
                    if math.isfinite(value):
                        plane[column] = value
                        count[column] += 1
        sort_columns(window, side * side, exchanges)
        rows_within = min(row + reach, height - 1) - max(row - reach, 0) + 1
        for column in range(width):
            within = rows_within * (min(column + reach, width - 1) - max(column - reach, 0) + 1)
            out[row, column] = f4(math.nan)
            if count[column] > 0 and 2 * count[column] >= within:
                low_value, high_value = window[(count[column] - 1) // 2, column], window[count[column] // 2, column]
                own = depth[row, column]
                nearer = abs(high_value - own) < abs(low_value - own)  # false where the pixel itself is missing
                out[row, column] = high_value if nearer else low_value
