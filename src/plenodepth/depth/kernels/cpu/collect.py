"""Costs of all micro-images collected in another view: each pixel's cost goes where that view sees its point.

A pixel of the other view gets the costs of all pixels of the raw image that would show the same point if a hypothesis
were true. They are kept apart by the side of the micro-image that they stand on, which is the half of the main lens
that they look through: behind the edge of something nearer, a point is seen through one half only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inlined, inner
from plenodepth.depth.kernels.constants import (
    COLLECTED_REACH,
    LEAST_COLLECTED,
    LEAST_SIDE,
    MISSING,
    SIDE_PENALTY,
    SMALLEST_COST,
    SMALLEST_NUMBER,
)
from plenodepth.depth.kernels.cpu.pairs import (
    add_differences_by_side,
    blur_target,
    find_pair,
    load_reference,
    tile_start,
)
from plenodepth.depth.kernels.cpu.resample import ensure_resampled, start_rows
from plenodepth.depth.kernels.scalar import floor, noise_corrected, parity_of
from plenodepth.depth.tiles import Tiles
from plenodepth.lanes import LANES

f4 = np.float32
i4 = np.int32
i8 = np.int64
u4 = np.uint32
u1 = np.uint8

Float32 = NDArray[np.float32]

SIDES = 4  # pairs right of, left of, below and above the middle of both micro-images
CHANNELS = 2 * SIDES  # a cell holds the differences and the weights of each


class CollectBuffers(NamedTuple):
    """What the costs of a micro-image are computed in; size = side²."""

    reference: Float32  # (2 · size + lanes,): see `load_reference`
    target: Float32  # (size + 4 · side,): a blurred target
    sums: Float32  # (4 · size + lanes,): see `add_differences_by_side`


def empty_collect_buffers(tiles: Tiles) -> CollectBuffers:
    """Room for one micro-image."""
    size = tiles.side * tiles.side
    return CollectBuffers(
        np.zeros(2 * size + LANES, f4),
        np.zeros(size + 4 * tiles.side, f4),
        np.zeros(4 * size + LANES, f4),
    )


@compiled
def collect(tiles, views, compared, hypotheses, places, height, width, buffers, cells):
    """Add the costs of some hypotheses (m,), all of one plane, to cells (m · height · width · `CHANNELS`,).

    `places` (J, h, 4) says where the other view, height × width, sees a pixel with offset (x, y) px from the centre of
    its micro-image at each hypothesis: at column places[0] + x · places[2] and row places[1] + y · places[3], pixels
    counted from the corner of the image.
    """
    ready, plane = -views.halo, i8(compared.tables.plane_of_hypothesis[hypotheses[0]])
    size = tiles.side * tiles.side
    for l in range(views.rows):
        ready = start_rows(tiles, views, compared, ready, l + views.halo + 1)
        for k in range(views.columns):
            lens = l * views.columns + k
            ensure_resampled(tiles, views, compared, k, l, views.step_k.shape[1], plane)
            start = tile_start(compared, views, size, k, l, plane)
            load_reference(compared.gray, compared.detail, start, size, buffers.reference)
            for m in range(len(hypotheses)):
                h = hypotheses[m]
                for p in range(4 * size):
                    buffers.sums[u4(p)] = f4(0)
                taken, deficit = add_views_by_side(tiles, views, compared, lens, h, plane, buffers)
                if taken >= views.least_views:
                    first = m * height * width
                    scatter(
                        tiles, lens, buffers.sums, places[lens, h], deficit, views.noise, first, height, width, cells
                    )


@inlined
def add_views_by_side(tiles, views, compared, lens, h, plane, buffers):
    """Add the differences of all views at hypothesis h, pixel by pixel, to buffers.sums.

    Returns the number of views and the mean deficit of their noise.
    """
    l, k = lens // views.columns, lens % views.columns
    side, inverse_depth, parity = i4(tiles.side), compared.tables.inverse_depths[h], parity_of(views, k, l)
    taken, total, weights = f4(0), f4(0), f4(0)
    for n in range(views.step_k.shape[1]):
        pair = find_pair(
            tiles, views, compared, lens, k, l, n, inverse_depth, inverse_depth, plane, views.same_type_first
        )
        if pair.other < 0:
            continue
        weight = views.weight[parity, n]
        if pair.blur > 0:
            blur_target(compared.gray, compared.detail, side, pair, buffers.target)
            add_differences_by_side(buffers.reference, buffers.target, i8(0), side, pair, weight, buffers.sums)
        else:
            add_differences_by_side(buffers.reference, compared.gray, pair.start, side, pair, weight, buffers.sums)
        taken += f4(1)
        total += weight * pair.deficit
        weights += weight
    return taken, total / max(weights, SMALLEST_NUMBER)


@inner
def scatter(tiles, lens, sums, place, deficit, noise, first, height, width, cells):
    """Add the sums of a micro-image's pixels to the cells of the other view's pixels, the first of them at `first`.

    All are multiplied by what corrects the mean cost of the micro-image for noise (`noise_corrected`).
    """
    side, size = tiles.side, tiles.side * tiles.side
    total, weights = f4(0), f4(0)
    for p in range(size):
        total += sums[u4(p)]
        weights += sums[u4(size + p)]
    mean = total / max(weights, SMALLEST_NUMBER)
    factor = noise_corrected(mean, deficit, noise) / max(mean, SMALLEST_COST)
    left, top, right, down = place[0], place[1], place[2], place[3]
    center_x, center_y, radius = tiles.center[lens, 0], tiles.center[lens, 1], tiles.reach
    for row in range(side):
        y = f4(row) - center_y
        half = radius * radius - y * y
        to_row = floor(top + y * down)
        if half < 0 or to_row < 0 or to_row >= height:
            continue
        reach = math.sqrt(half)
        begin, end = max(floor(center_x - reach), i4(0)), min(floor(center_x + reach) + i4(2), i4(side))
        line, along = (first + to_row * width) * CHANNELS, 4 if y > 0 else 6
        for column in range(begin, end):
            p, x = row * side + column, f4(column) - center_x
            weight, upright = sums[size + p], sums[3 * size + p]
            to_column = floor(left + x * right)
            if weight + upright <= 0 or to_column < 0 or to_column >= width:
                continue
            cell = line + to_column * CHANNELS
            across = cell + (0 if x > 0 else 2)
            cells[across] += factor * sums[p]
            cells[across + 1] += weight
            cells[cell + along] += factor * sums[2 * size + p]
            cells[cell + along + 1] += upright


@compiled
def choose_sides(cells, first, h, height, width, above, around, cost, chosen):
    """Costs of hypothesis h, (height, width, h) each: the lowest of all pairs and, at a penalty, of one side's.

    Cells are summed over windows (`COLLECTED_REACH`). `chosen` gets the number of the side, 0 for all; the cost is
    `MISSING` where there is too little to compare. `above` and `around` (width · `CHANNELS` + margins,) are buffers.
    """
    reach, length = COLLECTED_REACH, width * CHANNELS
    margin = reach * CHANNELS
    for i in range(length + 2 * margin):
        above[i] = f4(0)
    for row in range(height):
        for i in range(length):
            above[u4(margin + i)] = f4(0)
        for there in range(max(row - reach, 0), min(row + reach, height - 1) + 1):
            base = (first + there * width) * CHANNELS
            for i in range(length):
                above[u4(margin + i)] += cells[u4(base + i)]
        for i in range(length):
            around[u4(i)] = above[u4(margin + i)]
        for step in range(1, reach + 1):
            for i in range(length):
                around[u4(i)] += above[u4(margin + i - step * CHANNELS)] + above[u4(margin + i + step * CHANNELS)]
        for column in range(width):
            cell = column * CHANNELS
            total, whole = f4(0), f4(0)
            for s in range(SIDES):
                total += around[cell + 2 * s]
                whole += around[cell + 2 * s + 1]
            best, side = MISSING, u1(0)
            if whole >= LEAST_COLLECTED:
                best = total / whole
                for s in range(SIDES):
                    weight = around[cell + 2 * s + 1]
                    value = SIDE_PENALTY * around[cell + 2 * s] / max(weight, SMALLEST_NUMBER)
                    if weight >= LEAST_SIDE * whole and value < best:
                        best, side = value, u1(s + 1)
            cost[row, column, h], chosen[row, column, h] = best, side
