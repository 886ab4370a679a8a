"""Do neighbouring views tell the same depth? From a finished map, so after all its rows."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.kernels.cpu.pairs import whole

f4 = np.float32


@inlined
def compare(other, v, tolerance, row, column, agreeing, looked):
    """Count a neighbour's depth. (|1/v' − 1/v| ≤ t |1/v| without its divisions.)"""
    if not math.isnan(other):
        looked[row, column] += 1
        if abs(v - other) <= tolerance * abs(other) and v * other > 0:
            agreeing[row, column] += 1


@compiled
def coarse_agreement(first, last, views, depth, ring, tolerance, agreeing, looked):
    """Of each micro-image's first `ring` neighbours, how many have a depth and how many have the same; (rows, columns).

    The same: |1/v' − 1/v| ≤ tolerance · |1/v|.
    """
    for l in range(first, last):
        for k in range(views.columns):
            parity = (k if views.by_column else l) % 2
            v = depth[l, k]
            if math.isnan(v):
                continue
            for n in range(ring):
                ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
                if ok < 0 or ol < 0 or ok >= views.columns or ol >= views.rows:
                    continue
                compare(depth[ol, ok], v, tolerance, l, k, agreeing, looked)


@compiled
def refined_agreement(first, last, tiles, views, depth, ring, tolerance, agreeing, looked):
    """The same for each pixel (h, w), at the pixel where its depth says that a neighbour sees the same point."""
    height, width = depth.shape
    limit = tiles.radius * tiles.radius
    step, center = np.empty((ring, 2), f4), np.empty((ring, 2), f4)  # px, of each neighbour
    for lens in range(first * views.columns, last * views.columns):
        count = neighbours(tiles, views, lens, ring, step, center)
        x0, y0 = tiles.origin[lens, 0], tiles.origin[lens, 1]
        for row in range(max(y0, 0), min(y0 + tiles.side, height)):
            y = f4(row - y0) - tiles.center[lens, 1]
            for column in range(max(x0, 0), min(x0 + tiles.side, width)):
                x, v = f4(column - x0) - tiles.center[lens, 0], depth[row, column]
                if math.isnan(v) or x * x + y * y > limit:
                    continue
                # p_j = p_i + (c_j − c_i) + g (c_i − c_j) with g = 1 − λ + λ/v: a step of (1 − g) (c_j − c_i).
                stay = views.pitch_ratio[lens] * (f4(1) - f4(1) / v)
                for n in range(count):
                    u = whole(f4(column) + stay * step[n, 0] + f4(0.5))
                    w = whole(f4(row) + stay * step[n, 1] + f4(0.5))
                    if u < 0 or w < 0 or u >= width or w >= height:
                        continue
                    if (f4(u) - center[n, 0]) ** 2 + (f4(w) - center[n, 1]) ** 2 <= limit:
                        compare(depth[w, u], v, tolerance, row, column, agreeing, looked)


@compiled
def neighbours(tiles, views, lens, ring, step, center):
    """The ways (n, 2) from a lens to its first neighbours in the array, and where those are in the image, px."""
    l, k = lens // views.columns, lens % views.columns
    parity, count = (k if views.by_column else l) % 2, 0
    for n in range(ring):
        ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
        if ok >= 0 and ol >= 0 and ok < views.columns and ol < views.rows:
            other = ol * views.columns + ok
            for axis in range(2):
                step[count, axis] = -views.baseline[parity, n, axis]
                center[count, axis] = f4(tiles.origin[other, axis]) + tiles.center[other, axis]
            count += 1
    return count
