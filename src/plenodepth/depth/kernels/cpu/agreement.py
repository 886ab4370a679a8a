"""How many neighbouring views tell the same depth. This needs a finished map, so it runs after all rows."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.kernels.scalar import floor, image_step_gain, in_array, parity_of

f4 = np.float32


@inlined
def count_neighbour(other, v, tolerance, row, column, agreeing, present):
    """Count a neighbour's depth. (|1/v' − 1/v| ≤ tolerance · |1/v|, without divisions.)"""
    if not math.isnan(other):
        present[row, column] += 1
        if abs(v - other) <= tolerance * abs(other) and v * other > 0:
            agreeing[row, column] += 1


@compiled
def coarse_agreement(first, last, views, depth, ring, tolerance, agreeing, present):
    """Count, for each micro-image of rows first … last − 1, the neighbours with a depth and those with the same depth.

    Only the first `ring` neighbours. `depth` (rows, columns) is virtual depth. The same: |1/v' − 1/v| ≤ tolerance ·
    |1/v|. Counts are added to `present` and `agreeing` (rows, columns).
    """
    for l in range(first, last):
        for k in range(views.columns):
            parity = parity_of(views, k, l)
            v = depth[l, k]
            if math.isnan(v):
                continue
            for n in range(ring):
                ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
                if in_array(views, ok, ol):
                    count_neighbour(depth[ol, ok], v, tolerance, l, k, agreeing, present)


@compiled
def refined_agreement(first, last, tiles, views, depth, ring, tolerance, agreeing, present):
    """The same for each pixel (h, w), at the pixel where its depth says that a neighbour sees the same point."""
    height, width = depth.shape
    limit = tiles.radius * tiles.radius
    step, center = np.empty((ring, 2), f4), np.empty((ring, 2), f4)  # px, of each neighbour
    for lens in range(first * views.columns, last * views.columns):
        count = find_neighbours(tiles, views, lens, ring, step, center)
        x0, y0 = tiles.origin[lens, 0], tiles.origin[lens, 1]
        for row in range(max(y0, 0), min(y0 + tiles.side, height)):
            y = f4(row - y0) - tiles.center[lens, 1]
            for column in range(max(x0, 0), min(x0 + tiles.side, width)):
                x, v = f4(column - x0) - tiles.center[lens, 0], depth[row, column]
                if math.isnan(v) or x * x + y * y > limit:
                    continue
                # p_j = p_i + (c_j − c_i) + g (c_i − c_j), g the disparity gain: a step of (1 − g) (c_j − c_i).
                gain = image_step_gain(v, views.pitch_ratio[lens])
                for n in range(count):
                    u = floor(f4(column) + gain * step[n, 0] + f4(0.5))
                    w = floor(f4(row) + gain * step[n, 1] + f4(0.5))
                    if u < 0 or w < 0 or u >= width or w >= height:
                        continue
                    if (f4(u) - center[n, 0]) ** 2 + (f4(w) - center[n, 1]) ** 2 <= limit:
                        count_neighbour(depth[w, u], v, tolerance, row, column, agreeing, present)


@compiled
def find_neighbours(tiles, views, lens, ring, step, center):
    """Those of a lens' first `ring` neighbours that are in the array; returns how many.

    Writes the ways to them into step (ring, 2) and the centres of their micro-images into center (ring, 2), both px.
    """
    l, k = lens // views.columns, lens % views.columns
    parity, count = parity_of(views, k, l), 0
    for n in range(ring):
        ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
        if in_array(views, ok, ol):
            other = ol * views.columns + ok
            for axis in range(2):
                step[count, axis] = -views.baseline[parity, n, axis]
                center[count, axis] = f4(tiles.origin[other, axis]) + tiles.center[other, axis]
            count += 1
    return count
