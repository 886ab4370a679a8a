"""Tiles with the aperture's effect undone: resampled to where their pixels look, once for each hypothesis."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.depth.kernels.compiling import compiled, inlined
from plenodepth.depth.kernels.pairs import Stack, place_of, whole
from plenodepth.depth.tiles import MISSING, RESAMPLED, SNAP, UNUSABLE

f4 = np.float32
i4 = np.int32
u4 = np.uint32

BESIDE = f4(1.6)  # px beyond the compared disc that interpolation takes


@compiled
def empty_stack(tiles, views, layers):
    """Room for the layers of as many rows as neighbours reach over; without layers, the tiles as they are."""
    count = layers.radius.shape[1]
    if count == 1:
        return Stack(tiles.gray, tiles.detail, views.rows, 1, layers.kind, layers.radius, layers.unit, layers.stretch)
    rows = 2 * views.halo + 1
    size = rows * views.columns * count * tiles.side * tiles.side + 4 * tiles.side
    # Zeros: what is never set is never compared either, but even times nothing a NaN would be one.
    gray, detail = np.zeros(size, f4), np.zeros(size, f4)
    return Stack(gray, detail, rows, count, layers.kind, layers.radius, layers.unit, layers.stretch)


@compiled
def fill_rows(tiles, views, layers, stack, ready, until):
    """Make the layers of rows ready … until − 1, where there are such rows; returns `until`."""
    if stack.layers > 1:
        size = tiles.side * tiles.side
        entry, part = np.empty(size, i4), np.empty(size, f4)
        for l in range(max(ready, 0), min(until, views.rows)):
            for k in range(views.columns):
                lens = l * views.columns + k
                find_entries(tiles, layers, lens, entry, part)
                for h in range(stack.layers):
                    place = place_of(stack, views, size, k, l, h)
                    resample(tiles, layers, stack, lens, h, entry, part, place)
    return until


@compiled
def find_entries(tiles, layers, lens, entry, part):
    """Where each pixel's squared radius lies in the tables: an entry and the part of the way to the next, (side²,)."""
    last = f4(layers.inward.shape[2] - 1.001)
    for row in range(tiles.side):
        y = f4(row) - tiles.center[lens, 1]
        for column in range(tiles.side):
            x = f4(column) - tiles.center[lens, 0]
            at = min((x * x + y * y) / layers.spacing, last)
            p = row * tiles.side + column
            entry[p] = i4(at)
            part[p] = at - f4(i4(at))


@inlined
def corner(position, side):
    """The pixel left of (above) a position, such that the next one is in the tile, too; and the fraction beyond it.

    A position that only rounding keeps from a pixel is taken for it: a missing pixel beside must not count.
    """
    at = min(max(i4(position + SNAP), i4(0)), i4(side - 2))
    fraction = position - f4(at)
    return at, fraction if fraction >= SNAP else f4(0)


@compiled
def resample(tiles, layers, stack, lens, h, entry, part, place):
    """Layer h of a lens: at X what the pixels at x show that look there, bilinear; `MISSING` where one is missing.

    Only as far as it is compared.
    """
    side, kind = tiles.side, layers.kind[lens]
    source, table = u4(lens * side * side), layers.inward[kind, h]
    cx, cy, reach = tiles.center[lens, 0], tiles.center[lens, 1], layers.radius[kind, h] + BESIDE
    gray, detail, s = tiles.gray, tiles.detail, u4(side)
    scale = f4(1) / tiles.blur_unit
    for row in range(max(whole(cy - reach), i4(0)), min(whole(cy + reach) + i4(2), i4(side))):
        y = f4(row) - cy
        half = math.sqrt(max(reach * reach - y * y, f4(1)))
        first, last = max(whole(cx - half), i4(0)), min(whole(cx + half) + i4(1), i4(side - 1))
        for n in range(last - first + i4(1)):
            column = first + n
            p = u4(row * side + column)
            low, high = table[u4(entry[p])], table[u4(entry[p] + 1)]
            factor = low + part[p] * (high - low)
            u, wx = corner(cx + factor * (f4(column) - cx), side)
            v, wy = corner(cy + factor * y, side)
            t = source + u4(v) * s + u4(u)
            w11 = wx * wy
            w10, w01, w00 = wx - w11, wy - w11, f4(1) - wx - wy + w11
            value = w00 * gray[t] + w10 * gray[t + u4(1)] + w01 * gray[t + s] + w11 * gray[t + s + u4(1)]
            more = w00 * detail[t] + w10 * detail[t + u4(1)] + w01 * detail[t + s] + w11 * detail[t + s + u4(1)]
            # Interpolation blurs by w (1 − w) along each axis; made up to the most it does, all layers are alike.
            interpolation = f4(0.5) * (wx * (f4(1) - wx) + wy * (f4(1) - wy))
            value += (f4(RESAMPLED) - interpolation) * scale * more
            stack.gray[u4(place + p)] = value if value < UNUSABLE else MISSING
            stack.detail[u4(place + p)] = more


@compiled
def seen_from_pixels(tiles, layers, lens, h, coordinates, entry, part, total, number, buffer):
    """A layer's values (side²,) at the places where its lens' pixels look: from X back to x, bilinear.

    `total` and `number` are replaced within the compared disc; `buffer` (2, side²).
    """
    side = tiles.side
    size, s = side * side, u4(side)
    table, limit = layers.outward[layers.kind[lens], h], tiles.radius * tiles.radius
    cx, cy = tiles.center[lens, 0], tiles.center[lens, 1]
    totals, numbers = buffer[0], buffer[1]
    for p in range(size):
        totals[p], numbers[p] = total[p], number[p]
    for p in range(size):
        x, y = coordinates[p], coordinates[p + size]
        if x * x + y * y > limit:
            continue
        factor = table[entry[p]] + part[p] * (table[entry[p] + 1] - table[entry[p]])
        u, wx = corner(cx + factor * x, side)
        v, wy = corner(cy + factor * y, side)
        t = u4(v) * s + u4(u)
        w11 = wx * wy
        w10, w01, w00 = wx - w11, wy - w11, f4(1) - wx - wy + w11
        total[p] = w00 * totals[t] + w10 * totals[t + u4(1)] + w01 * totals[t + s] + w11 * totals[t + s + u4(1)]
        number[p] = w00 * numbers[t] + w10 * numbers[t + u4(1)] + w01 * numbers[t + s] + w11 * numbers[t + s + u4(1)]
