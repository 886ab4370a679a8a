"""How many neighbouring views tell the same depth. This needs a finished map, so it runs after all rows.

Confidences are multiplied by the share, in [0, 1], of the neighbouring views with a depth that have the same one. A
depth that fewer than `LEAST_COMPARED` neighbours could confirm is as if so many had been asked.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, formula, inner
from plenodepth.depth.kernels.constants import AGREEMENT, LEAST_COMPARED
from plenodepth.depth.kernels.scalar import floor, image_step_gain, in_array, parity_of
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

f4 = np.float32

Float32 = NDArray[np.float32]


@formula
def same_depth(v, other):
    """1 if two depths are the same: |1/v' − 1/v| ≤ tolerance · |1/v|, without divisions; else 0. None is NaN."""
    return f4(1) if abs(v - other) <= f4(AGREEMENT) * abs(other) and v * other > 0 else f4(0)


@formula
def share_of(agreeing, present):
    """The share of neighbours that agree."""
    return agreeing / max(present, f4(LEAST_COMPARED))


@compiled
def coarse_agreement(first, last, views, ring, depth, confidence):
    """Multiply the confidences (rows, columns) of the micro-images of rows first … last − 1.

    `depth` (rows, columns) is virtual depth. The first `ring` neighbours of a lens are asked.
    """
    for l in range(first, last):
        for k in range(views.columns):
            parity, v, agreeing, present = parity_of(views, k, l), depth[l, k], f4(0), f4(0)
            for n in range(ring):
                ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
                if in_array(views, ok, ol) and not math.isnan(depth[ol, ok]):
                    present += f4(1)
                    agreeing += same_depth(v, depth[ol, ok])
            confidence[l, k] *= share_of(agreeing, present)


def refined_agreement(
    first: int, last: int, tiles: Tiles, views: Views, ring: int, depth: Float32, confidence: Float32
) -> None:
    """The same for each pixel (h, w), at the pixel where its depth says that a neighbour sees the same point."""
    neighbours = np.empty((ring, 2), f4), np.empty((ring, 2), f4)
    refined_agreement_of_band(first, last, tiles, views, ring, *neighbours, depth, confidence)


@compiled
def refined_agreement_of_band(first, last, tiles, views, ring, step, center, depth, confidence):
    """As `refined_agreement`; `step` and `center` (ring, 2) are buffers."""
    for lens in range(first * views.columns, last * views.columns):
        count = find_neighbours(tiles, views, lens, ring, step, center)
        agree_in_lens(tiles, views, lens, count, step, center, depth, confidence)


@inner
def agree_in_lens(tiles, views, lens, count, step, center, depth, confidence):
    """Multiply the confidences of one micro-image's pixels; `step` and `center` are of `count` neighbours."""
    height, width = depth.shape
    radius, limit = tiles.radius, tiles.radius * tiles.radius
    cx = f4(tiles.origin[lens, 0]) + tiles.center[lens, 0]
    cy = f4(tiles.origin[lens, 1]) + tiles.center[lens, 1]
    for row in range(max(-floor(radius - cy), 0), min(floor(cy + radius) + 1, height)):
        half = math.sqrt(max(limit - (f4(row) - cy) ** 2, f4(0)))
        for column in range(max(-floor(half - cx), 0), min(floor(cx + half) + 1, width)):
            v = depth[row, column]
            if math.isnan(v):
                continue
            # p_j = p_i + (c_j − c_i) + g (c_i − c_j), g the disparity gain: a step of (1 − g) (c_j − c_i).
            gain, agreeing, present = image_step_gain(v, views.pitch_ratio[lens]), f4(0), f4(0)
            for n in range(count):
                u = floor(f4(column) + gain * step[n, 0] + f4(0.5))
                w = floor(f4(row) + gain * step[n, 1] + f4(0.5))
                away = (f4(u) - center[n, 0]) ** 2 + (f4(w) - center[n, 1]) ** 2
                if away <= limit and u >= 0 and w >= 0 and u < width and w < height and not math.isnan(depth[w, u]):
                    present += f4(1)
                    agreeing += same_depth(v, depth[w, u])
            confidence[row, column] *= share_of(agreeing, present)


@inner
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
