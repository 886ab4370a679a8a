"""Outlines that follow the light: beside a step in depth, a pixel has the depth of what looks like it."""

from __future__ import annotations

import numpy as np

from plenodepth.compiling import compiled

f4 = np.float32


@compiled
def follow_light(first, last, label, near_outline, root, reach, alike, weights, out):
    """Weighted medians of label (h, w) in rows first … last − 1, into out, where near_outline (h, w); −1 stays.

    A pixel within `reach` px counts less the farther it is, and half as much if the root (h, w, channels) of its light
    differs by `alike`. `weights` (n,) is a buffer, n the number of labels.
    """
    height, width, channels = root.shape
    per_reach, per_alike = f4(1) / f4((reach + 1) * (reach + 1)), f4(1) / (alike * alike)
    for row in range(first, last):
        for column in range(width):
            out[row, column] = label[row, column]
            if label[row, column] < 0 or not near_outline[row, column]:
                continue
            for n in range(len(weights)):
                weights[n] = f4(0)
            total = f4(0)
            for there in range(max(row - reach, 0), min(row + reach, height - 1) + 1):
                for beside in range(max(column - reach, 0), min(column + reach, width - 1) + 1):
                    away = f4((there - row) ** 2 + (beside - column) ** 2) * per_reach
                    if label[there, beside] < 0 or away >= 1:
                        continue
                    squares = f4(0)
                    for channel in range(channels):
                        differs = root[there, beside, channel] - root[row, column, channel]
                        squares += differs * differs
                    weight = (f4(1) - away) / (f4(1) + squares * per_alike)
                    weights[label[there, beside]] += weight
                    total += weight
            n, sum_so_far = 0, weights[0]
            while f4(2) * sum_so_far < total:
                n += 1
                sum_so_far += weights[n]
            out[row, column] = n
