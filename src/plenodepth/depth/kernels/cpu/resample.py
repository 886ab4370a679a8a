"""Tiles with the aperture's effect undone: made even, then resampled to where their pixels look, per hypothesis.

A tile's layer for a hypothesis is made when a lens first compares it: most are never needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.aperture.resampling import Layers
from plenodepth.depth.kernels.cpu.pairs import place_of, whole
from plenodepth.depth.tiles import MISSING, RESAMPLED, SNAP, UNUSABLE

f4 = np.float32
i4 = np.int32
u4 = np.uint32

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]

BESIDE = f4(1.6)  # px beyond the compared disc that interpolation takes


class Pixels(NamedTuple):
    """Some pixels of a tile, and from where in it they are taken; (side²,) each, the first `count` of them in use."""

    number: Int32  # of the pixel in the tile
    x: Float32  # px from the middle of the tile's light
    y: Float32
    entry: Int32  # where the squared radius lies in the tables: an entry, and the part of the way to the next
    part: Float32
    corner: Int32  # the pixel left of and above the place that they are taken from
    right: Float32  # the way from there, in px
    down: Float32
    even: Float32  # the whole tile, made even


@inlined
def empty_pixels(size):
    """Room for the pixels of a tile."""
    return Pixels(
        np.empty(size, i4), np.empty(size, f4), np.empty(size, f4), np.empty(size, i4), np.empty(size, f4),
        np.empty(size, i4), np.empty(size, f4), np.empty(size, f4), np.empty(size, f4),
    )  # fmt: skip


class Stack(NamedTuple):
    """Tiles as they are compared: as they were cut, or (the aperture's effect undone) in layers.

    Layer h of lens (k, l) begins at `place_of`. Only some rows of lenses need be there at a time:
    row l is at l modulo `rows`.
    """

    gray: Float32
    detail: Float32
    made: NDArray[np.bool_]  # (rows · columns, layers + 1): whether a layer is there, and whether all of a sweep's are
    mixed: Float32  # (rows · columns, side²): what evening adds to each tile
    rows: int
    layers: int  # 1: the same for all hypotheses
    # Of the tables, what every comparison needs: to take an array out of a tuple in a tuple counts references to all.
    kind: Int32
    center: Float32
    radius: Float32
    unit: Float32
    unlike: Float32
    shared: Int32
    places: Float32
    tables: Layers
    pixels: Pixels  # a buffer


@compiled
def empty_stack(tiles, views, layers):
    """Room for the layers of as many rows as neighbours reach over; without layers, the tiles as they are."""
    count, size = layers.radius.shape[1], tiles.side * tiles.side
    gray, detail, rows = tiles.gray, tiles.detail, views.rows
    made, mixed = np.zeros((1, 1), np.bool_), np.zeros((1, 1), f4)
    if count > 1:
        rows = 2 * views.halo + 1
        lenses = rows * views.columns
        # Zeros: what is never set is never compared either, but even times nothing a NaN would be one.
        gray, detail = np.zeros(lenses * count * size + 4 * tiles.side, f4), np.zeros(lenses * count * size, f4)
        made, mixed = np.zeros((lenses, count + 1), np.bool_), np.zeros((lenses, size), f4)
    return Stack(
        gray, detail, made, mixed, rows, count, layers.kind, layers.center, layers.radius, layers.unit,
        layers.unlike, layers.shared, layers.places, layers, empty_pixels(size),
    )  # fmt: skip


@compiled
def start_rows(tiles, views, stack, ready, until):
    """Make ready for the layers of rows ready … until − 1, where there are such rows; returns `until`."""
    if stack.layers > 1:
        for l in range(max(ready, 0), min(until, views.rows)):
            for k in range(views.columns):
                slot = (l % stack.rows) * views.columns + k
                stack.made[slot] = False
                mix(tiles, stack.tables, l * views.columns + k, stack.mixed[slot])
    return until


@compiled
def have_layers(tiles, views, stack, k, l, count, layer):
    """See that a layer (−1: all that a sweep takes) of lens (k, l) and of its first `count` neighbours is made."""
    if stack.layers == 1:
        return
    parity = (k if views.by_column else l) % 2
    for n in range(-1, count):
        ok, ol = (k, l) if n < 0 else (k + views.step_k[parity, n], l + views.step_l[parity, n])
        if ok < 0 or ol < 0 or ok >= views.columns or ol >= views.rows:
            continue
        slot = (ol % stack.rows) * views.columns + ok
        if layer >= 0:
            if not stack.made[slot, layer]:
                make(tiles, views, stack, ok, ol, layer)
        elif not stack.made[slot, stack.layers]:
            stack.made[slot, stack.layers] = True
            for h in range(len(stack.shared)):
                if not stack.made[slot, stack.shared[h]]:
                    make(tiles, views, stack, ok, ol, stack.shared[h])


@compiled
def make(tiles, views, stack, k, l, h):
    """Make layer h of lens (k, l)."""
    lens, slot, size = l * views.columns + k, (l % stack.rows) * views.columns + k, tiles.side * tiles.side
    layers, pixels = stack.tables, stack.pixels
    kind = layers.kind[lens]
    count = find_pixels(tiles, layers, lens, layers.radius[kind, h] + layers.aside + BESIDE, pixels)
    find_places(tiles, layers, lens, layers.inward[kind, h], pixels, count)
    add(tiles.gray, lens * size, layers.even[kind, h], stack.mixed[slot], pixels.even)
    resample(tiles, lens, count, stack, place_of(stack, views, size, k, l, h))
    stack.made[slot, h] = True


@compiled
def find_pixels(tiles, layers, lens, reach, pixels):
    """The pixels of a tile within the reach, px from the middle of its light; returns their number."""
    last, count, side = f4(layers.inward.shape[2] - 1.001), 0, i4(tiles.side)
    cx, cy, per_spacing = layers.center[lens, 0], layers.center[lens, 1], f4(1) / layers.spacing
    for row in range(max(whole(cy - reach) + i4(1), i4(0)), min(whole(cy + reach) + i4(1), side)):
        y = f4(row) - cy
        half = math.sqrt(max(reach * reach - y * y, f4(0)))
        first = max(whole(cx - half) + i4(1), i4(0))
        for n in range(min(whole(cx + half), side - i4(1)) - first + i4(1)):
            x = f4(first + n) - cx
            at = min((x * x + y * y) * per_spacing, last)
            entry = i4(at)
            pixels.number[count + n] = row * side + first + n
            pixels.x[count + n], pixels.y[count + n] = x, y
            pixels.entry[count + n] = entry
            pixels.part[count + n] = at - f4(entry)
        count += max(min(whole(cx + half), side - i4(1)) - first + i4(1), i4(0))
    return count


@inlined
def corner(position, side):
    """The pixel left of (above) a position, such that the next one is in the tile, too; and the fraction beyond it.

    A position that only rounding keeps from a pixel is taken for it: a missing pixel beside must not count.
    """
    at = min(max(i4(position + SNAP), i4(0)), i4(side - 2))
    fraction = position - f4(at)
    return at, min(fraction, f4(1) - SNAP) if fraction >= SNAP else f4(0)


@compiled
def find_places(tiles, layers, lens, table, pixels, count):
    """Where pixels are taken from: at their offset times the table's factor."""
    side, cx, cy = tiles.side, layers.center[lens, 0], layers.center[lens, 1]
    for n in range(count):
        entry = u4(pixels.entry[n])
        factor = table[entry] + pixels.part[n] * (table[entry + u4(1)] - table[entry])
        column, pixels.right[n] = corner(cx + factor * pixels.x[n], side)
        row, pixels.down[n] = corner(cy + factor * pixels.y[n], side)
        pixels.corner[n] = row * i4(side) + column


@inlined
def between(values, first, side, right, down):
    """The value at a place between four pixels, the first of them at values[first]."""
    one, other = values[first], values[first + u4(side)]
    above = one + right * (values[first + u4(1)] - one)
    below = other + right * (values[first + u4(side + 1)] - other)
    return above + down * (below - above)


@compiled
def add(values, first, amount, more, out):
    """out[n] = values[first + n] + amount · more[n]."""
    for n in range(len(out)):
        out[u4(n)] = values[u4(first + n)] + amount * more[u4(n)]


@compiled
def mix(tiles, layers, lens, out):
    """What the evening (see depth.looks) adds to a tile, into out (side²,): 0 where a pixel is missing."""
    side, kind, gray = tiles.side, layers.kind[lens], tiles.gray
    steps, weights, details = layers.mixing[kind, 0], layers.mixing[kind, 1], layers.mixing[kind, 2]
    start, last = lens * side * side, f4(len(steps) - 1.001)
    cx, cy = layers.center[lens, 0], layers.center[lens, 1]
    for row in range(side):
        y = f4(row) - cy
        for column in range(side):
            p, x = row * side + column, f4(column) - cx
            squared = x * x + y * y
            at = min(squared / layers.spacing, last)
            entry, part = u4(at), at - f4(u4(at))
            ends = weights[entry] + part * (weights[entry + u4(1)] - weights[entry])
            out[p] = f4(0)
            if ends <= 0 or squared == 0:
                continue
            scale = (steps[entry] + part * (steps[entry + u4(1)] - steps[entry])) / math.sqrt(squared)
            dx, dy = scale * x, scale * y
            outside = beside(gray, start, side, f4(column) + dx, f4(row) + dy)
            inside = beside(gray, start, side, f4(column) - dx, f4(row) - dy)
            here = gray[start + p]
            if here + inside + outside < UNUSABLE:
                blur = details[entry] + part * (details[entry + u4(1)] - details[entry])
                out[p] = ends * (inside + outside - here - here) + blur * tiles.detail[start + p]


@inlined
def beside(values, start, side, x, y):
    """The value of a tile at a place in it."""
    column, right = corner(x, side)
    row, down = corner(y, side)
    return between(values, u4(start + row * side + column), side, right, down)


@compiled
def resample(tiles, lens, count, stack, place):
    """A layer of a lens, at stack[place]: at X what the pixels at x show that look there; `MISSING` where one is."""
    side, start, scale = tiles.side, u4(lens * tiles.side * tiles.side), f4(1) / tiles.blur_unit
    pixels = stack.pixels
    for n in range(count):
        first, right, down = u4(pixels.corner[n]), pixels.right[n], pixels.down[n]
        value = between(pixels.even, first, side, right, down)
        more = between(tiles.detail, start + first, side, right, down)
        # Interpolation blurs by w (1 − w) along each axis; made up to the most it does, all layers are alike.
        interpolation = f4(0.5) * (right * (f4(1) - right) + down * (f4(1) - down))
        value += (f4(RESAMPLED) - interpolation) * scale * more
        p = u4(place + pixels.number[n])
        stack.gray[p] = value if value < UNUSABLE else MISSING
        stack.detail[p] = more


@compiled
def seen_from_pixels(tiles, pixels, count, total, number, buffer):
    """A layer's values (side²,) at the places of pixels that look there (`find_places`, outward), bilinear.

    `total` and `number` are replaced at the pixels; `buffer` (2, side²).
    """
    totals, numbers = buffer[0], buffer[1]
    for n in range(count):
        first, right, down = u4(pixels.corner[n]), pixels.right[n], pixels.down[n]
        totals[n] = between(total, first, tiles.side, right, down)
        numbers[n] = between(number, first, tiles.side, right, down)
    for n in range(count):
        total[pixels.number[n]], number[pixels.number[n]] = totals[n], numbers[n]
