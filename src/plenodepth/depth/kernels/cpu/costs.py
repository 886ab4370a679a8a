"""Costs of hypotheses: of a whole micro-image, and of the window about each of its pixels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import inlined, inner
from plenodepth.depth.kernels.constants import FIRST_STEP, MISSING, SMALLEST_NUMBER, UNUSABLE
from plenodepth.depth.kernels.cpu.pairs import (
    add_differences,
    blur_target,
    find_pair,
    load_reference,
    sum_differences,
    tile_start,
)
from plenodepth.depth.kernels.cpu.resample import ensure_resampled, find_places, interpolated
from plenodepth.depth.kernels.scalar import noise_corrected, parity_of
from plenodepth.lanes import LANES

f4 = np.float32
i4 = np.int32
i8 = np.int64
u4 = np.uint32

Float32 = NDArray[np.float32]


class Costs(NamedTuple):
    """Costs of hypotheses and what they are made of, (h,) each."""

    cost: Float32
    deficit: Float32  # of noise, see `noise_deficit`
    weight: Float32  # of the views that took part
    views: Float32  # their number
    pixels: Float32  # that they compared


def empty_costs(count: int) -> Costs:
    """Room for the costs of so many hypotheses."""
    return Costs(
        np.empty(count, f4), np.empty(count, f4), np.empty(count, f4), np.empty(count, f4), np.empty(count, f4)
    )


@inner
def view_costs(tiles, views, compared, lens, inverse_depths, chosen, widest, plane, count, same_type, target, out):
    """Costs of the chosen hypotheses 1/v (h,) for one micro-image with its first `count` neighbours, into `out`.

    `chosen` says which: (first, step, how many). A cost is the weighted mean of the absolute difference; `MISSING`
    where too few views overlap. Those neighbours take part that still overlap at the hypothesis `widest` (0: at each
    hypothesis itself): with the same one for a whole search, its views stay the same. A view that drops out in the
    middle would make a step in the curve, and a false minimum there.
    Tiles are those of a plane (−1: of each hypothesis' own in a sweep). `target` (side² + 4 · side,) is a buffer.
    """
    l, k = lens // views.columns, lens % views.columns
    size, side = tiles.side * tiles.side, i4(tiles.side)
    ensure_resampled(tiles, views, compared, k, l, count, plane)
    for i in range(chosen[2]):
        h = chosen[0] + i * chosen[1]
        out.cost[h] = out.deficit[h] = out.weight[h] = out.views[h] = out.pixels[h] = f4(0)
    parity, gray, detail = parity_of(views, k, l), compared.gray, compared.detail
    for n in range(count):
        for i in range(chosen[2]):
            h = chosen[0] + i * chosen[1]
            own_plane = plane if plane >= 0 else i8(compared.tables.plane_of_hypothesis[h])
            farthest = widest if widest != 0 else inverse_depths[h]
            pair = find_pair(tiles, views, compared, lens, k, l, n, inverse_depths[h], farthest, own_plane, same_type)
            if pair.other < 0:
                continue
            base = tile_start(compared, views, size, k, l, own_plane)
            if pair.blur > 0:
                blur_target(gray, detail, side, pair, target)
                total, number = sum_differences(gray, detail, base, target, i8(0), side, pair)
            else:
                total, number = sum_differences(gray, detail, base, gray, pair.start, side, pair)
            if number >= views.least_overlap:
                weight = views.weight[parity, n] * (f4(1) if views.by_pixels else f4(1) / number)
                out.cost[h] += weight * total
                out.deficit[h] += weight * number * pair.deficit
                out.weight[h] += weight * number
                out.views[h] += f4(1)
                out.pixels[h] += number
    for i in range(chosen[2]):
        h = chosen[0] + i * chosen[1]
        if out.views[h] >= views.least_views:
            out.cost[h] = noise_corrected(out.cost[h] / out.weight[h], out.deficit[h] / out.weight[h], views.noise)
        else:
            out.cost[h] = MISSING


class WindowBuffers(NamedTuple):
    """What the costs of a micro-image's windows are computed in; side² = size values each unless said otherwise."""

    volume: Float32  # (h · size,): cost of hypothesis h for the i-th of the listed pixels, at h · size + i
    pixels: Float32  # (h · size,): the pixels behind each of these
    taken: Float32  # (h,): the views
    plane: NDArray[np.int64]  # (1,): the plane that `reference` and the listed pixels' places are for
    reference: Float32  # (2 · size + lanes,): see `load_reference`
    target: Float32  # (size + 4 · side,): a blurred target
    sums: Float32  # (2 · size + lanes,): differences of all views, and their weights
    along: Float32
    total: Float32  # sums over windows
    number: Float32


def empty_windows(count: int, side: int) -> WindowBuffers:
    """Room for the costs of so many hypotheses in a tile."""
    size = side * side
    # Zeros where more is read than was written: what is read there counts nothing, but 0 · NaN would be NaN.
    return WindowBuffers(
        np.zeros(count * size, f4), np.zeros(count * size, f4), np.zeros(count, f4), np.full(1, -1, i8),
        np.zeros(2 * size + LANES, f4), np.zeros(size + 4 * side, f4), np.zeros(2 * size + LANES, f4),
        np.empty(size, f4), np.empty(size, f4), np.empty(size, f4),
    )  # fmt: skip


@inner
def window_costs(tiles, views, compared, lens, tried, first, listed, count, windows):
    """Costs of hypotheses for the window about each of the first `count` listed pixels, into windows.volume.

    Of every second hypothesis from `first` on, those that are `tried` (h,). All in one call: to hand over so many
    arrays takes as long as a tenth of the work.
    """
    side, half, size = tiles.side, views.window // 2, tiles.side * tiles.side
    tables, volume, pixels, sums = compared.tables, windows.volume, windows.pixels, windows.sums
    total, number = windows.total, windows.number
    for h in range(first, len(tried), FIRST_STEP):
        if not tried[h]:
            continue
        plane = tables.plane_of_hypothesis[h]
        if windows.plane[0] != plane:
            start = tile_start(compared, views, size, lens % views.columns, lens // views.columns, plane)
            load_reference(compared.gray, compared.detail, start, size, windows.reference)
            find_places(tiles, tables, lens, tables.ray_from_pixel[tables.kind[lens], plane], listed, count)
            windows.plane[0] = plane
        for p in range(2 * size):
            sums[u4(p)] = f4(0)
        taken, deficit = add_views(tiles, views, compared, lens, h, windows.reference, windows.target, sums)
        windows.taken[h] = taken
        box_sums(sums, 0, side, half, windows.along, total)
        box_sums(sums, size, side, half, windows.along, number)
        row = h * size
        if compared.planes == 1:
            for n in range(count):
                volume[u4(row + n)], pixels[u4(row + n)] = total[listed.number[n]], number[listed.number[n]]
        else:  # sums are at the chief rays: from there to the pixels
            for n in range(count):
                corner, right, down = u4(listed.corner[n]), listed.right[n], listed.down[n]
                volume[u4(row + n)] = interpolated(total, corner, side, right, down)
                pixels[u4(row + n)] = interpolated(number, corner, side, right, down)
        # In a loop of its own, which becomes vector instructions.
        enough = views.least_overlap if taken >= views.least_views else MISSING
        for n in range(count):
            weights = pixels[u4(row + n)]
            cost = noise_corrected(volume[u4(row + n)] / max(weights, SMALLEST_NUMBER), deficit, views.noise)
            volume[u4(row + n)] = cost if weights >= enough else MISSING


@inlined
def add_views(tiles, views, compared, lens, h, reference, target, sums):
    """Add the differences of all views at hypothesis h, pixel by pixel, to `sums` (see `add_differences`).

    Returns the number of views and the mean deficit of their noise.
    """
    l, k = lens // views.columns, lens % views.columns
    side = i4(tiles.side)
    inverse_depth, plane = compared.tables.inverse_depths[h], i8(compared.tables.plane_of_hypothesis[h])
    parity = parity_of(views, k, l)
    taken, total, weights = f4(0), f4(0), f4(0)
    for n in range(views.step_k.shape[1]):
        pair = find_pair(
            tiles, views, compared, lens, k, l, n, inverse_depth, inverse_depth, plane, views.same_type_first
        )
        if pair.other < 0:
            continue
        weight = views.weight[parity, n]
        if pair.blur > 0:
            blur_target(compared.gray, compared.detail, side, pair, target)
            add_differences(reference, target, i8(0), side, pair, weight, sums)
        else:
            add_differences(reference, compared.gray, pair.start, side, pair, weight, sums)
        taken += f4(1)
        total += weight * pair.deficit
        weights += weight
    return taken, total / max(weights, SMALLEST_NUMBER)


@inner
def box_sums(values, first, side, half, along, out):
    """Sums over (2·half + 1)² pixels of a tile (side²,) at values[first] that is zero outside its disc, into `out`.

    Rows run into each other here, but between the disc's pixels of one row and of the next lie at least `half` zeros
    (`empty_tiles` sees to it): so every sum is one long loop. `along` (side²,) is a buffer.
    """
    size = side * side
    for p in range(size):
        along[u4(p)] = values[u4(first + p)]
    for step in range(1, half + 1):
        for n in range(size - step):
            along[u4(n)] += values[u4(first + n + step)]
        for n in range(size - step):
            along[u4(n + step)] += values[u4(first + n)]
    for p in range(size):
        out[u4(p)] = along[u4(p)]
    for step in range(1, half + 1):
        shift = step * side
        for n in range(size - shift):
            out[u4(n)] += along[u4(n + shift)]
        for n in range(size - shift):
            out[u4(n + shift)] += along[u4(n)]


@inner
def window_contrast(tiles, lens, coordinates, half, along, contrast, number, buffer):
    """Standard deviation of a tile in the window about each pixel, into contrast (side²,)."""
    size, side, limit = tiles.side * tiles.side, tiles.side, tiles.radius * tiles.radius
    usable, values, means = buffer[0], buffer[1], buffer[2]
    for p in range(size):
        value = tiles.gray[lens * size + p]
        inside = coordinates[p] ** 2 + coordinates[p + size] ** 2 <= limit and value < UNUSABLE
        usable[p], values[p] = (f4(1), value) if inside else (f4(0), f4(0))
    box_sums(usable, 0, side, half, along, number)
    box_sums(values, 0, side, half, along, means)
    for p in range(size):
        values[p] *= values[p]
    box_sums(values, 0, side, half, along, contrast)
    for p in range(size):
        n = max(number[p], f4(1))
        contrast[p] = math.sqrt(max(contrast[p] / n - (means[p] / n) ** 2, f4(0)))
