"""The sweep: hypotheses are tried, the best one is kept, and its place between its neighbours is found."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, formula, inner
from plenodepth.depth.aperture.resampling import ResamplingTables
from plenodepth.depth.kernels.constants import (
    FINE_PLACES,
    FINE_STEP,
    FIRST_STEP,
    FULL_VIEWS,
    UNUSABLE,
)
from plenodepth.depth.kernels.cpu.costs import (
    Costs,
    WindowBuffers,
    empty_costs,
    empty_windows,
    view_costs,
    window_contrast,
    window_costs,
)
from plenodepth.depth.kernels.cpu.pairs import load_coordinates
from plenodepth.depth.kernels.cpu.peaks import best_fine_place, best_hypotheses, lowest_at_first, widest_fine_place
from plenodepth.depth.kernels.cpu.resample import (
    Pixels,
    empty_compared_tiles,
    empty_pixels,
    ensure_resampled,
    list_pixels,
    start_rows,
)
from plenodepth.depth.kernels.scalar import five_point_minimum, parabola_minimum, unstretched
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

f4 = np.float32
i8 = np.int64

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


# Room for results in between, made once per band of rows, by NumPy: its memory is of large pages, and kernels that make
# arrays take a second longer to compile.


class CoarseBuffers(NamedTuple):
    """What the depth of a micro-image is found in."""

    coordinates: Float32  # (2 · side²,): see `load_coordinates`
    target: Float32  # (side² + 4 · side,): a blurred target
    curve: Costs  # of all hypotheses
    fine: Costs  # at `FINE_PLACES` places about the best
    finest: Costs  # at two places beside the best of these
    between: Float32  # (`FINE_PLACES`,): those places, 1/v
    beside: Float32  # (2,)
    best: Float32  # (1,)
    sharpness: Float32  # (1,)
    spare: Float32  # (3, 1)


class RefinedBuffers(NamedTuple):
    """What the depths of a micro-image's pixels are found in."""

    coordinates: Float32  # (2 · side²,): see `load_coordinates`
    wanted: Bool  # (side²,): pixels that get a depth
    listed: Pixels  # those pixels
    tried: Bool  # (h,): every second hypothesis, and those beside the lowest of one of the pixels
    windows: WindowBuffers
    best: Float32  # (side²,), of the listed pixels
    sharpness: Float32  # (side²,)
    spare: Float32  # (3, side²)


def empty_coarse_buffers(count: int, side: int) -> CoarseBuffers:
    """Room for a search among so many hypotheses in a tile."""
    return CoarseBuffers(
        np.empty(2 * side * side, f4), np.zeros(side * side + 4 * side, f4), empty_costs(count),
        empty_costs(FINE_PLACES), empty_costs(2), np.empty(FINE_PLACES, f4), np.empty(2, f4), np.empty(1, f4),
        np.empty(1, f4), np.empty((3, 1), f4),
    )  # fmt: skip


def empty_refined_buffers(count: int, side: int) -> RefinedBuffers:
    """Room for a search among so many hypotheses in a tile."""
    size = side * side
    return RefinedBuffers(
        np.empty(2 * size, f4), np.empty(size, np.bool_), empty_pixels(size), np.empty(count, np.bool_),
        empty_windows(count, side), np.empty(size, f4), np.empty(size, f4), np.empty((3, size), f4),
    )  # fmt: skip


def coarse_rows(first: int, last: int, tiles: Tiles, views: Views, tables: ResamplingTables, maps: MapArrays) -> None:
    """One depth per micro-image of rows first … last − 1, into the maps (rows, columns)."""
    buffers = empty_coarse_buffers(len(views.inverse_depths), tiles.side)
    coarse_band(first, last, tiles, views, empty_compared_tiles(tiles, views, tables), buffers, maps)


@compiled
def coarse_band(first, last, tiles, views, compared, buffers, maps):
    """As `coarse_rows`, with room for what is in between."""
    ready = first - views.halo
    for l in range(first, last):
        ready = start_rows(tiles, views, compared, ready, l + views.halo + 1)
        for k in range(views.columns):
            coarse_depth(tiles, views, compared, k, l, buffers, maps)


@inner
def coarse_depth(tiles, views, compared, k, l, buffers, maps):
    """Depth of micro-image (k, l): a sweep, then a search between the hypotheses about the best one."""
    lens, hypotheses = l * views.columns + k, views.inverse_depths
    if load_coordinates(tiles, lens, buffers.coordinates) < views.least_contrast:
        return
    count, step = len(hypotheses), hypotheses[1] - hypotheses[0]
    curve, fine, finest = buffers.curve, buffers.fine, buffers.finest
    best, sharpness, between, beside = buffers.best, buffers.sharpness, buffers.between, buffers.beside
    # Converted: for the literals −1 and False, Numba would compile the functions that take them once more.
    all_planes, any_type = i8(-1), np.bool_(False)
    every_second, all_fine = (i8(0), i8(FIRST_STEP), i8(-(-count // FIRST_STEP))), (i8(0), i8(1), i8(FINE_PLACES))
    both_sides = i8(0), i8(1), i8(2)
    view_costs(
        tiles, views, compared, lens, compared.tables.inverse_depths, every_second, f4(0), all_planes,
        views.swept, views.same_type_first, buffers.target, curve,
    )  # fmt: skip
    lowest_at_first(curve.cost, count, 1, 1, best, sharpness)
    lowest = i8(best[0])
    view_costs(
        tiles, views, compared, lens, compared.tables.inverse_depths, beside_lowest(lowest, count), f4(0), all_planes,
        views.swept, views.same_type_first, buffers.target, curve,
    )  # fmt: skip
    best_hypotheses(curve.cost, count, 1, 1, best, sharpness, buffers.spare[0], buffers.spare[1], buffers.spare[2])
    if best[0] < 0:
        return
    plane = i8(best[0])
    middle, neighbours, quarter = hypotheses[plane], views.step_k.shape[1], f4(0.5 * FINE_STEP) * step
    widest = widest_fine_place(middle, step)
    for n in range(FINE_PLACES):
        between[n] = middle + f4(n - FINE_PLACES // 2) * f4(FINE_STEP) * step
    view_costs(
        tiles, views, compared, lens, between, all_fine, widest, plane, neighbours, any_type,
        buffers.target, fine,
    )  # fmt: skip
    n = best_fine_place(fine.cost)
    for side in range(2):
        beside[side] = between[n] + f4(2 * side - 1) * quarter
    view_costs(
        tiles, views, compared, lens, beside, both_sides, widest, plane, neighbours, any_type, buffers.target, finest
    )
    place, spread = five_point_minimum(
        fine.cost[n - 1], finest.cost[0], fine.cost[n], finest.cost[1], fine.cost[n + 1], fine.pixels[n],
        views.floor / quarter,
    )  # fmt: skip
    if math.isnan(place):
        return
    stretch = compared.tables.stretch[min(plane, compared.planes - 1)]
    inverse = unstretched(between[n] + place * quarter, middle, stretch, views.pitch_ratio[lens])
    if inverse * middle <= 0:  # beyond infinity
        return
    maps.virtual_depth[l, k] = f4(1) / inverse
    maps.sigma[l, k] = spread * quarter / (inverse * inverse)
    maps.confidence[l, k] = sharpness[0] * min(f4(1), fine.views[n] / f4(FULL_VIEWS))
    maps.cost[l, k], maps.views[l, k] = fine.cost[n], fine.views[n]


@formula
def beside_lowest(lowest, count):
    """The hypotheses on both sides of one, as `view_costs` takes them; at an end of the range there is one."""
    first = max(lowest - 1, i8(1))
    return first, i8(FIRST_STEP), (min(lowest + 1, i8(count - 1)) - first) // FIRST_STEP + 1


def refined_rows(first: int, last: int, tiles: Tiles, views: Views, tables: ResamplingTables, maps: MapArrays) -> None:
    """One depth per pixel of the micro-images of rows first … last − 1, into the maps (h, w)."""
    buffers = empty_refined_buffers(len(views.inverse_depths), tiles.side)
    refined_band(first, last, tiles, views, empty_compared_tiles(tiles, views, tables), buffers, maps)


@compiled
def refined_band(first, last, tiles, views, compared, buffers, maps):
    """As `refined_rows`, with room for what is in between."""
    ready = first - views.halo
    for l in range(first, last):
        ready = start_rows(tiles, views, compared, ready, l + views.halo + 1)
        for k in range(views.columns):
            refined_depths(tiles, views, compared, k, l, buffers, maps)


@inner
def refined_depths(tiles, views, compared, k, l, buffers, maps):
    """Depths of the pixels of micro-image (k, l): a sweep, and the minimum between its hypotheses."""
    lens = l * views.columns + k
    if load_coordinates(tiles, lens, buffers.coordinates) < views.least_contrast:
        return
    count, size = len(views.inverse_depths), tiles.side * tiles.side
    windows, listed, best, sharpness = buffers.windows, buffers.listed, buffers.best, buffers.sharpness
    tried = buffers.tried
    find_wanted(tiles, views, lens, buffers)
    pixels = list_pixels(tiles, compared.tables, lens, buffers.wanted, listed)
    ensure_resampled(tiles, views, compared, k, l, views.step_k.shape[1], i8(-1))
    windows.plane[0] = -1
    for h in range(count):
        tried[h] = h % FIRST_STEP == 0
    window_costs(tiles, views, compared, lens, tried, i8(0), listed, pixels, windows)
    lowest_at_first(windows.volume, count, size, pixels, best, sharpness)
    for n in range(pixels):
        lowest = int(best[n])
        tried[max(lowest - 1, 0)] = tried[min(lowest + 1, count - 1)] = True
    window_costs(tiles, views, compared, lens, tried, i8(1), listed, pixels, windows)
    spare = buffers.spare
    best_hypotheses(windows.volume, count, size, pixels, best, sharpness, spare[0], spare[1], spare[2])
    write_depths(tiles, views, lens, pixels, buffers, maps)


@inner
def find_wanted(tiles, views, lens, buffers):
    """Which pixels of a tile get a depth, into buffers.wanted: those in the disc with enough contrast about them."""
    size, limit = tiles.side * tiles.side, tiles.radius * tiles.radius
    coordinates, windows = buffers.coordinates, buffers.windows
    contrast, half = windows.total, views.window // 2
    window_contrast(tiles, lens, coordinates, half, windows.along, contrast, windows.number, buffers.spare)
    for p in range(size):
        in_disc = coordinates[p] ** 2 + coordinates[p + size] ** 2 <= limit
        usable = tiles.gray[lens * size + p] < UNUSABLE
        buffers.wanted[p] = in_disc and usable and contrast[p] >= views.least_contrast


@inner
def write_depths(tiles, views, lens, count, buffers, maps):
    """The minimum about the best hypothesis of each of the `count` listed pixels, into the maps."""
    size, hypotheses, windows, listed = tiles.side * tiles.side, views.inverse_depths, buffers.windows, buffers.listed
    step, volume = hypotheses[1] - hypotheses[0], windows.volume
    for n in range(count):
        if buffers.best[n] < 0:
            continue
        best = int(buffers.best[n])
        place = best * size + n
        low, lowest, high = volume[place - size], volume[place], volume[place + size]
        bend = low - f4(2) * lowest + high
        shift, spread = parabola_minimum(low, lowest, high, bend, windows.pixels[place], views.floor / step)
        if math.isnan(shift):
            continue
        inverse = hypotheses[best] + shift * step
        if inverse * hypotheses[len(hypotheses) // 2] <= 0:  # beyond infinity
            continue
        column = tiles.origin[lens, 0] + listed.number[n] % tiles.side
        row = tiles.origin[lens, 1] + listed.number[n] // tiles.side
        maps.virtual_depth[row, column] = f4(1) / inverse
        maps.sigma[row, column] = spread * step / (inverse * inverse)
        maps.confidence[row, column] = buffers.sharpness[n] * min(f4(1), windows.taken[best] / f4(FULL_VIEWS))
        maps.cost[row, column], maps.views[row, column] = lowest, windows.taken[best]
