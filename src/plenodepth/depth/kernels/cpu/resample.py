"""Tiles with the aperture's effect undone: blurred alike everywhere, then resampled to their pixels' chief rays.

Where a chief ray is depends on the depth, so a tile is resampled once for each plane, that is, for each hypothesis or
for a few neighbouring ones together. This is done when a lens first compares the tile: most are never needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import formula, inner
from plenodepth.depth.aperture.resampling import ResamplingTables
from plenodepth.depth.kernels.constants import (
    INTERPOLATION_REACH,
    MISSING,
    RESAMPLING_VARIANCE,
    SNAP,
    TABLE_END,
    UNUSABLE,
)
from plenodepth.depth.kernels.cpu.pairs import tile_start
from plenodepth.depth.kernels.scalar import floor, in_array, interpolation_variance, looked_up, parity_of
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

f4 = np.float32
i4 = np.int32
i8 = np.int64
u4 = np.uint32

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]


class Pixels(NamedTuple):
    """Some pixels of a tile and the places in it that they are taken from; (side²,) each, the first few in use."""

    number: Int32  # of the pixel in the tile
    x: Float32  # px from the centre of the tile's light
    y: Float32
    entry: Int32  # where the squared radius lies in the tables: an entry, and the part of the way to the next
    part: Float32
    corner: Int32  # the pixel left of and above the place
    right: Float32  # the way from there to the place, px
    down: Float32
    uniform: Float32  # all pixels of the tile, once it is blurred alike everywhere


def empty_pixels(size: int) -> Pixels:
    """Room for the pixels of a tile."""
    return Pixels(
        np.empty(size, i4), np.empty(size, f4), np.empty(size, f4), np.empty(size, i4), np.empty(size, f4),
        np.empty(size, i4), np.empty(size, f4), np.empty(size, f4), np.empty(size, f4),
    )  # fmt: skip


class ComparedTiles(NamedTuple):
    """Tiles as they are compared: as they were cut, or resampled for each plane.

    The tile of lens (k, l) for a plane begins at `tile_start`. Resampled tiles are there for some rows of lenses at a
    time: those of row l are at l modulo `rows`.
    """

    gray: Float32
    detail: Float32
    done: NDArray[np.bool_]  # (rows · columns, planes + 1): is a tile resampled for a plane, and for all of a sweep?
    correction: Float32  # (rows · columns, side²): what `blur_correction` adds to each tile
    rows: int
    planes: int  # 1: the same tiles for all hypotheses
    tables: ResamplingTables
    pixels: Pixels  # a buffer


def empty_compared_tiles(tiles: Tiles, views: Views, tables: ResamplingTables) -> ComparedTiles:
    """Room for the resampled tiles of as many rows as neighbours reach over; with a single plane, the tiles as cut."""
    count, size = tables.radius.shape[1], tiles.side * tiles.side
    gray, detail, rows = tiles.gray, tiles.detail, views.rows
    done, correction = np.zeros((1, 1), np.bool_), np.zeros((1, 1), f4)
    if count > 1:
        rows = 2 * views.halo + 1
        lenses = rows * views.columns
        # Zeros: pixels that are never set have the weight 0 in a comparison, but 0 · NaN would be NaN.
        padded = lenses * count * size + 4 * tiles.side
        gray, detail = np.zeros(padded, f4), np.zeros(padded, f4)
        done, correction = np.zeros((lenses, count + 1), np.bool_), np.zeros((lenses, size), f4)
    return ComparedTiles(gray, detail, done, correction, rows, count, tables, empty_pixels(size))


@inner
def start_rows(tiles, views, compared, ready, until):
    """Make room for the tiles of rows ready … until − 1, where there are such rows; returns `until`."""
    if compared.planes > 1:
        for l in range(max(ready, 0), min(until, views.rows)):
            for k in range(views.columns):
                slot = (l % compared.rows) * views.columns + k
                for plane in range(compared.planes + 1):  # as a slice it would take a second to compile
                    compared.done[slot, plane] = False
                blur_correction(tiles, compared.tables, l * views.columns + k, compared.correction[slot])
    return until


@inner
def ensure_resampled(tiles, views, compared, k, l, count, plane):
    """Resample lens (k, l) and its first `count` neighbours for a plane (−1: for all of a sweep), unless it is done."""
    if compared.planes == 1:
        return
    parity = parity_of(views, k, l)
    for n in range(-1, count):
        ok, ol = (k, l) if n < 0 else (k + views.step_k[parity, n], l + views.step_l[parity, n])
        if not in_array(views, ok, ol):
            continue
        slot = (ol % compared.rows) * views.columns + ok
        if plane >= 0:
            if not compared.done[slot, plane]:
                resample_lens(tiles, views, compared, ok, ol, plane)
        elif not compared.done[slot, compared.planes]:
            compared.done[slot, compared.planes] = True
            for h in range(len(compared.tables.plane_of_hypothesis)):
                shared = i8(compared.tables.plane_of_hypothesis[h])
                if not compared.done[slot, shared]:
                    resample_lens(tiles, views, compared, ok, ol, shared)


@inner
def resample_lens(tiles, views, compared, k, l, plane):
    """Resample the tile of lens (k, l) for a plane."""
    lens, slot, size = l * views.columns + k, (l % compared.rows) * views.columns + k, tiles.side * tiles.side
    tables, pixels = compared.tables, compared.pixels
    kind = tables.kind[lens]
    reach = tables.radius[kind, plane] + tables.largest_offset + INTERPOLATION_REACH
    count = find_pixels(tiles, tables, lens, reach, pixels)
    find_places(tiles, tables, lens, tables.pixel_from_ray[kind, plane], pixels, count)
    add_scaled(tiles.gray, lens * size, tables.uniform_share[kind, plane], compared.correction[slot], pixels.uniform)
    resample(tiles, lens, count, compared, tile_start(compared, views, size, k, l, plane))
    compared.done[slot, plane] = True


@inner
def find_pixels(tiles, tables, lens, reach, pixels):
    """The pixels of a tile within the reach, px from the centre of its light; returns their number."""
    last, count, side = f4(tables.pixel_from_ray.shape[2] - TABLE_END), 0, i4(tiles.side)
    cx, cy, per_spacing = tables.light_center[lens, 0], tables.light_center[lens, 1], f4(1) / tables.spacing
    for row in range(max(floor(cy - reach) + i4(1), i4(0)), min(floor(cy + reach) + i4(1), side)):
        y = f4(row) - cy
        half = math.sqrt(max(reach * reach - y * y, f4(0)))
        first = max(floor(cx - half) + i4(1), i4(0))
        for n in range(min(floor(cx + half), side - i4(1)) - first + i4(1)):
            x = f4(first + n) - cx
            at = min((x * x + y * y) * per_spacing, last)
            entry = i4(at)
            pixels.number[count + n] = row * side + first + n
            pixels.x[count + n], pixels.y[count + n] = x, y
            pixels.entry[count + n] = entry
            pixels.part[count + n] = at - f4(entry)
        count += max(min(floor(cx + half), side - i4(1)) - first + i4(1), i4(0))
    return count


@inner
def list_pixels(tiles, tables, lens, wanted, pixels):
    """The pixels of a tile where `wanted` (side²,) is not 0; returns their number."""
    last, count, side = f4(tables.pixel_from_ray.shape[2] - TABLE_END), 0, tiles.side
    cx, cy, per_spacing = tables.light_center[lens, 0], tables.light_center[lens, 1], f4(1) / tables.spacing
    for p in range(side * side):
        if wanted[p] != 0:
            x, y = f4(p % side) - cx, f4(p // side) - cy
            at = min((x * x + y * y) * per_spacing, last)
            pixels.number[count] = p
            pixels.x[count], pixels.y[count] = x, y
            pixels.entry[count] = i4(at)
            pixels.part[count] = at - f4(i4(at))
            count += 1
    return count


@formula
def corner_of(position, side):
    """The pixel left of (above) a position, such that the next one is in the tile, too; and the fraction beyond it.

    A position that only rounding keeps from a pixel is taken for it: a missing pixel beside must not count.
    """
    at = min(max(i4(position + SNAP), i4(0)), i4(side - 2))
    fraction = position - f4(at)
    return at, min(fraction, f4(1) - SNAP) if fraction >= SNAP else f4(0)


@inner
def find_places(tiles, tables, lens, table, pixels, count):
    """Where the first `count` pixels are taken from: at their offset times the table's factor."""
    side, cx, cy = tiles.side, tables.light_center[lens, 0], tables.light_center[lens, 1]
    for n in range(count):
        factor = looked_up(table, u4(pixels.entry[n]), pixels.part[n])
        column, pixels.right[n] = corner_of(cx + factor * pixels.x[n], side)
        row, pixels.down[n] = corner_of(cy + factor * pixels.y[n], side)
        pixels.corner[n] = row * i4(side) + column


@formula
def interpolated(values, first, side, right, down):
    """The value at a place between four pixels, the first of them at values[first]."""
    one, other = values[first], values[first + u4(side)]
    above = one + right * (values[first + u4(1)] - one)
    below = other + right * (values[first + u4(side + 1)] - other)
    return above + down * (below - above)


@inner
def add_scaled(values, first, amount, more, out):
    """out[n] = values[first + n] + amount · more[n]."""
    for n in range(len(out)):
        out[u4(n)] = values[u4(first + n)] + amount * more[u4(n)]


@inner
def blur_correction(tiles, tables, lens, out):
    """What makes a tile's blur the same everywhere (`UniformBlur`) once added, into out (side²,).

    It is 0 where a pixel is missing.
    """
    side, kind, gray = tiles.side, tables.kind[lens], tiles.gray
    steps, weights, details = tables.uniform_blur[kind, 0], tables.uniform_blur[kind, 1], tables.uniform_blur[kind, 2]
    start, last, per_spacing = lens * side * side, f4(len(steps) - TABLE_END), f4(1) / tables.spacing
    cx, cy = tables.light_center[lens, 0], tables.light_center[lens, 1]
    for p in range(side * side):
        out[p] = f4(0)
    for row in range(side):
        y, from_middle = f4(row) - cy, f4(row) - tiles.center[lens, 1]
        half = math.sqrt(max(tiles.reach * tiles.reach - from_middle * from_middle, f4(0))) + f4(1)
        first = max(i4(tiles.center[lens, 0] - half), i4(0))  # beyond the reach all pixels are missing
        for column in range(first, min(i4(tiles.center[lens, 0] + half) + 1, side)):
            p, x = row * side + column, f4(column) - cx
            squared, here = x * x + y * y, gray[start + p]
            at = min(squared * per_spacing, last)
            entry, part = u4(at), at - f4(u4(at))
            ends = looked_up(weights, entry, part)
            if ends <= 0 or squared == 0 or here >= UNUSABLE:
                continue
            scale = looked_up(steps, entry, part) / math.sqrt(squared)
            dx, dy = scale * x, scale * y
            outside = value_at(gray, start, side, f4(column) + dx, f4(row) + dy)
            inside = value_at(gray, start, side, f4(column) - dx, f4(row) - dy)
            if here + inside + outside < UNUSABLE:
                blur = looked_up(details, entry, part)
                out[p] = ends * (inside + outside - here - here) + blur * tiles.detail[start + p]


@formula
def value_at(values, start, side, x, y):
    """The value at the place (x, y) of a tile that begins at values[start]."""
    column, right = corner_of(x, side)
    row, down = corner_of(y, side)
    return interpolated(values, u4(start + row * side + column), side, right, down)


@inner
def resample(tiles, lens, count, compared, start):
    """Write a resampled tile at compared[start]: each pixel X gets what the pixel shows whose chief ray is at X.

    `MISSING` where one of the pixels interpolated from is missing.
    """
    side, first_of_tile, scale = tiles.side, u4(lens * tiles.side * tiles.side), f4(1) / tiles.blur_unit
    pixels = compared.pixels
    for n in range(count):
        first, right, down = u4(pixels.corner[n]), pixels.right[n], pixels.down[n]
        value = interpolated(pixels.uniform, first, side, right, down)
        more = interpolated(tiles.detail, first_of_tile + first, side, right, down)
        # Interpolation blurs some pixels more than others; made up to the most it does, all are alike.
        value += (f4(RESAMPLING_VARIANCE) - interpolation_variance(right, down)) * scale * more
        p = u4(start + pixels.number[n])
        compared.gray[p] = value if value < UNUSABLE else MISSING
        compared.detail[p] = more
