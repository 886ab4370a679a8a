"""How much neighbouring estimates differ, as part of σ. This needs a finished map, so it runs after all rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, formula, inner
from plenodepth.depth.kernels.constants import (
    COARSE_SCATTER,
    LONE_SCATTER,
    NOISE_SHARE,
    REFINED_SCATTER,
)
from plenodepth.depth.kernels.cpu.agreement import find_neighbours
from plenodepth.depth.kernels.scalar import floor, image_step_gain, in_array, parity_of
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

f4 = np.float32

Float32 = NDArray[np.float32]


@formula
def difference(v, other):
    """Root of |1/v' − 1/v|, in units of that of |1/v|."""
    return math.sqrt(abs(v - other) / abs(other))


@formula
def widened(sigma, v, total, count, factor, shared):
    """σ of v, of what the match says, of `count` neighbours with that total of `difference`, of the shared error."""
    typical = (total / f4(count)) ** 2 if count > 0 else f4(LONE_SCATTER)
    noise, scatter, common = f4(NOISE_SHARE) * sigma, f4(factor) * typical * v, shared * v * v
    return math.sqrt(noise * noise + scatter * scatter + common * common)


@compiled
def coarse_scatter(first, last, views, ring, shared, depth, sigma):
    """Widen the σ (rows, columns) of the virtual depths of the micro-images of rows first … last − 1.

    The first `ring` neighbours of a lens are compared with it. `shared` is the standard deviation of 1/v that all
    depths of a surface have in common.
    """
    for l in range(first, last):
        for k in range(views.columns):
            v = depth[l, k]
            if math.isnan(v):
                continue
            parity, total, count = parity_of(views, k, l), f4(0), 0
            for n in range(ring):
                ok, ol = k + views.step_k[parity, n], l + views.step_l[parity, n]
                if in_array(views, ok, ol) and not math.isnan(depth[ol, ok]):
                    total += difference(v, depth[ol, ok])
                    count += 1
            sigma[l, k] = widened(sigma[l, k], v, total, count, COARSE_SCATTER, shared)


def refined_scatter(
    first: int, last: int, tiles: Tiles, views: Views, ring: int, shared: np.float32, depth: Float32, sigma: Float32
) -> None:
    """The same for each pixel (h, w).

    It is compared with what the first `ring` neighbouring micro-images have where its depth says that they see the
    same point, and with the pixels of its own micro-image whose windows have next to nothing in common with its own.
    """
    neighbours = np.empty((ring, 2), np.float32), np.empty((ring, 2), np.float32)
    refined_scatter_of_band(first, last, tiles, views, ring, *neighbours, shared, depth, sigma)


@compiled
def refined_scatter_of_band(first, last, tiles, views, ring, step, center, shared, depth, sigma):
    """As `refined_scatter`; `step` and `center` (ring, 2) are buffers."""
    for lens in range(first * views.columns, last * views.columns):
        count = find_neighbours(tiles, views, lens, ring, step, center)
        scatter_in_lens(tiles, views, lens, count, step, center, shared, depth, sigma)


@inner
def scatter_in_lens(tiles, views, lens, neighbours, step, center, shared, depth, sigma):
    """Widen the σ of one micro-image's pixels; `step` and `center` are of so many neighbours."""
    height, width = depth.shape
    radius, limit, away = tiles.radius, tiles.radius * tiles.radius, views.window - 1
    cx = f4(tiles.origin[lens, 0]) + tiles.center[lens, 0]
    cy = f4(tiles.origin[lens, 1]) + tiles.center[lens, 1]
    for row in range(max(-floor(radius - cy), 0), min(floor(cy + radius) + 1, height)):
        half = math.sqrt(max(limit - (f4(row) - cy) ** 2, f4(0)))
        for column in range(max(-floor(half - cx), 0), min(floor(cx + half) + 1, width)):
            v = depth[row, column]
            if math.isnan(v):
                continue
            # The way from view to view as in `agreement`.
            gain, total, count = image_step_gain(v, views.pitch_ratio[lens]), f4(0), 0
            for n in range(neighbours):
                u = floor(f4(column) + gain * step[n, 0] + f4(0.5))
                w = floor(f4(row) + gain * step[n, 1] + f4(0.5))
                if (
                    (f4(u) - center[n, 0]) ** 2 + (f4(w) - center[n, 1]) ** 2 <= limit
                    and u >= 0 and w >= 0 and u < width and w < height and not math.isnan(depth[w, u])
                ):  # fmt: skip
                    total += difference(v, depth[w, u])
                    count += 1
            for side in range(4):
                u = column + away * ((side == 0) - (side == 1))
                w = row + away * ((side == 2) - (side == 3))
                if (
                    (f4(u) - cx) ** 2 + (f4(w) - cy) ** 2 <= limit
                    and u >= 0 and w >= 0 and u < width and w < height and not math.isnan(depth[w, u])
                ):  # fmt: skip
                    total += difference(v, depth[w, u])
                    count += 1
            sigma[row, column] = widened(sigma[row, column], v, total, count, REFINED_SCATTER, shared)
