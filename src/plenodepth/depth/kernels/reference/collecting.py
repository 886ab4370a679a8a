"""Costs of all micro-images collected in another view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.kernels.constants import (
    ACROSS,
    COLLECTED_REACH,
    LEAST_COLLECTED,
    LEAST_SIDE,
    MISSING,
    SIDE_PENALTY,
)
from plenodepth.depth.kernels.reference.matching import box_sums, pair_differences
from plenodepth.depth.kernels.reference.resampling import ComparedTiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]


def collected(
    compared: ComparedTiles, views: Views, h: int, places: Float32, shape: tuple[int, int]
) -> tuple[Float32, NDArray[np.uint8]]:
    """Cost and number of the chosen side of hypothesis h, (height, width) each; `places` (J, n, 4) as for `collect`."""
    tiles, tables = compared.tiles, compared.tables
    cells = np.zeros((4, 2, *shape))  # right, left, below, above; differences and weights
    here = np.stack(np.meshgrid(*2 * [np.arange(tiles.side, dtype=np.float32)]), axis=-1)
    for lens in range(len(tiles.origin)):
        offset = here - tiles.center[lens]
        sums, taken, deficit, weights = np.zeros((2, 2, tiles.side, tiles.side)), 0, 0.0, 0.0
        inverse, plane = tables.inverse_depths[h], int(tables.plane_of_hypothesis[h])
        pairs = pair_differences(
            compared, views, lens, inverse, plane, views.step_k.shape[1], views.same_type_first, inverse
        )
        for pair in pairs:
            weight = pair.view_weight * pair.pixel_weight
            for axis in (0, 1):
                one_side = offset[..., axis] * (offset[..., axis] + pair.disparity[axis]) >= -ACROSS
                sums[axis] += np.where(one_side, weight, 0) * np.stack([pair.absolute, np.ones_like(pair.absolute)])
            taken += 1
            deficit += pair.view_weight * pair.noise_deficit
            weights += pair.view_weight
        if taken < views.least_views or not sums[0, 1].any():
            continue
        mean = sums[0, 0].sum() / sums[0, 1].sum()
        factor = np.sqrt(max(mean**2 + deficit / weights * views.noise, 0)) / mean
        column, row = (np.floor(places[lens, h, n] + offset[..., n] * places[lens, h, 2 + n]) for n in (0, 1))
        inside = (column >= 0) & (row >= 0) & (column < shape[1]) & (row < shape[0])
        at = row[inside].astype(int), column[inside].astype(int)
        for axis in (0, 1):
            far = offset[..., axis] > 0
            for side, mine in ((2 * axis, far), (2 * axis + 1, ~far)):
                for kind, scale in ((0, factor), (1, 1.0)):
                    np.add.at(cells[side, kind], at, scale * np.where(mine, sums[axis, kind], 0)[inside])
    around = box_sums(cells.reshape(-1, *shape).astype(np.float32), 2 * COLLECTED_REACH + 1).reshape(cells.shape)
    total, whole = around.sum(axis=0)
    enough = whole >= LEAST_COLLECTED
    cost, chosen = np.where(enough, total / np.maximum(whole, 1e-6), MISSING), np.zeros(shape, np.uint8)
    for side in range(4):
        value = SIDE_PENALTY * around[side, 0] / np.maximum(around[side, 1], 1e-6)
        better = enough & (around[side, 1] >= LEAST_SIDE * whole) & (value < cost)
        cost, chosen = np.where(better, value, cost), np.where(better, np.uint8(side + 1), chosen)
    return cost.astype(np.float32), chosen
