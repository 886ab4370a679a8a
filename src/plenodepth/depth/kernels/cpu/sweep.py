"""The sweep: all hypotheses tried, the best one kept and its place between them found."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inlined
from plenodepth.depth.kernels.cpu.pairs import (
    blend,
    load_coordinates,
    load_reference,
    meet,
    pair_add,
    pair_sum,
    place_of,
)
from plenodepth.depth.kernels.cpu.peaks import (
    FINE,
    FINE_STEP,
    FULL_VIEWS,
    best_hypotheses,
    best_place,
    between_places,
    parabola,
    widest_fine,
)
from plenodepth.depth.kernels.cpu.resample import (
    empty_pixels,
    empty_stack,
    find_pixels,
    find_places,
    have_layers,
    seen_from_pixels,
    start_rows,
)
from plenodepth.depth.tiles import MISSING, UNUSABLE

f4 = np.float32
i4 = np.int32
u4 = np.uint32

Float32 = NDArray[np.float32]


class Costs(NamedTuple):
    """Costs of hypotheses and what they are made of, (h,) each."""

    cost: Float32
    deficit: Float32  # of noise, see `levelled`
    weight: Float32  # of the views that took part
    views: Float32  # their number
    pixels: Float32  # that they compared


@inlined
def empty_costs(count):
    """Room for the costs of so many hypotheses."""
    return Costs(
        np.empty(count, f4), np.empty(count, f4), np.empty(count, f4), np.empty(count, f4), np.empty(count, f4)
    )


@inlined
def levelled(cost, deficit, noise):
    """A mean absolute difference as it would be if interpolation and blur had left all noise in it.

    (mean |difference|)² = mismatch² + variance of the noise · 2/π. `noise` is the latter for one view, the deficit
    says how much of that is missing on average (`noise_deficit`).
    """
    return math.sqrt(max(cost * cost + deficit * noise, f4(0)))


@compiled
def view_costs(tiles, views, stack, lens, places, widest, layer, count, same_type, coordinates, target, out):
    """Costs of hypotheses 1/v (h,) for one micro-image with its first `count` neighbours, into `out`.

    The weighted mean of the absolute difference; `MISSING` where too few views overlap. Those neighbours take part that
    still overlap at the hypothesis `widest` (0: at each hypothesis itself): with the same one for a whole search, its
    views stay the same. A view that drops out in the middle would make a step in the curve, and a false minimum there.
    Tiles are taken from a layer of the stack (−1: that of each hypothesis in a sweep). `target` (side² + 4 · side,) is
    a buffer.
    """
    l, k = lens // views.columns, lens % views.columns
    size, side = tiles.side * tiles.side, i4(tiles.side)
    have_layers(tiles, views, stack, k, l, count, layer)
    for h in range(len(places)):
        out.cost[h] = out.deficit[h] = out.weight[h] = out.views[h] = out.pixels[h] = f4(0)
    parity, gray, detail = (k if views.by_column else l) % 2, stack.gray, stack.detail
    for n in range(count):
        for h in range(len(places)):
            chosen = layer if layer >= 0 else stack.shared[h]
            farthest = widest if widest != 0 else places[h]
            pair = meet(tiles, views, stack, lens, k, l, n, places[h], farthest, chosen, same_type)
            if pair.other < 0:
                continue
            base = place_of(stack, views, size, k, l, chosen)
            if pair.blur > 0:
                blend(gray, detail, pair.start, i4(size), pair.blur, target)
                total, number = pair_sum(gray, detail, coordinates, base, target, 0, side, pair)
            else:
                total, number = pair_sum(gray, detail, coordinates, base, gray, pair.start, side, pair)
            if number >= views.least_overlap:
                weight = views.weight[parity, n] * (f4(1) if views.by_pixels else f4(1) / number)
                out.cost[h] += weight * total
                out.deficit[h] += weight * number * pair.deficit
                out.weight[h] += weight * number
                out.views[h] += f4(1)
                out.pixels[h] += number
    for h in range(len(places)):
        if out.views[h] >= views.least_views:
            out.cost[h] = levelled(out.cost[h] / out.weight[h], out.deficit[h] / out.weight[h], views.noise)
        else:
            out.cost[h] = MISSING


@compiled
def coarse_rows(first, last, tiles, views, layers, maps):
    """One depth per micro-image of rows first … last − 1, into the maps (rows, columns)."""
    size, places = tiles.side * tiles.side, views.inverse_depths
    count, step = len(places), places[1] - places[0]
    coordinates, target = np.empty(2 * size, f4), np.empty(size + 4 * tiles.side, f4)
    curve = empty_costs(count)
    fine = empty_costs(FINE)
    finest = empty_costs(2)
    best, sharpness, buffer = np.empty(1, f4), np.empty(1, f4), np.empty((3, 1), f4)
    between, beside, quarter = np.empty(FINE, f4), np.empty(2, f4), f4(0.5 * FINE_STEP) * step
    stack, ready = empty_stack(tiles, views, layers), first - views.halo
    for l in range(first, last):
        ready = start_rows(tiles, views, stack, ready, l + views.halo + 1)
        for k in range(views.columns):
            lens = l * views.columns + k
            if load_coordinates(tiles, lens, coordinates) < views.least_contrast:
                continue
            view_costs(
                tiles, views, stack, lens, layers.places, f4(0), -1, views.swept, views.same_type_first, coordinates,
                target, curve,
            )  # fmt: skip
            best_hypotheses(curve.cost, count, 1, best, sharpness, buffer[0], buffer[1], buffer[2])
            if best[0] < 0:
                continue
            layer = int(best[0])
            middle, neighbours = places[layer], views.step_k.shape[1]
            widest = widest_fine(middle, step)
            for n in range(FINE):
                between[n] = middle + f4(n - FINE // 2) * f4(FINE_STEP) * step
            view_costs(tiles, views, stack, lens, between, widest, layer, neighbours, False, coordinates, target, fine)
            n = best_place(fine.cost)
            for side in range(2):
                beside[side] = between[n] + f4(2 * side - 1) * quarter
            view_costs(tiles, views, stack, lens, beside, widest, layer, neighbours, False, coordinates, target, finest)
            place, spread = between_places(
                fine.cost[n - 1], finest.cost[0], fine.cost[n], finest.cost[1], fine.cost[n + 1], fine.pixels[n],
                views.floor / quarter,
            )  # fmt: skip
            if math.isnan(place):
                continue
            stretch = layers.stretch[min(layer, stack.layers - 1)]
            inverse = unstretched(between[n] + place * quarter, middle, stretch, views.pitch_ratio[lens])
            if inverse * middle <= 0:  # beyond infinity
                continue
            maps.virtual_depth[l, k] = f4(1) / inverse
            maps.sigma[l, k] = spread * quarter / (inverse * inverse)
            maps.confidence[l, k] = sharpness[0] * min(f4(1), fine.views[n] / f4(FULL_VIEWS))
            maps.cost[l, k], maps.views[l, k] = fine.cost[n], fine.views[n]


@inlined
def unstretched(inverse, layer, stretch, ratio):
    """1/v from that found among tiles made for the hypothesis `layer`, whose scale is not quite that of 1/v itself.

    Disparities in those tiles are too small by 1 + stretch · (1/v − layer); they go with 1/v + (1 − λ)/λ, λ the ratio
    of the pitches.
    """
    if stretch == 0:
        return inverse
    rest = (f4(1) - ratio) / ratio
    return ((inverse + rest) * (f4(1) - stretch * layer) - rest) / (f4(1) - stretch * (inverse + rest))


@compiled
def box_sums(values, first, side, half, along, out):
    """Sums over (2·half + 1)² pixels of a tile (side²,) at values[first] that is zero outside its disc, into `out`.

    Rows run into each other here, but between the disc's pixels of one row and of the next lie at least `half` zeros
    (`empty_tiles` sees to it): so every sum is one long loop. `along` (side²,) is a buffer.
    """
    size = side * side
    for p in range(size):
        along[p] = values[first + p]
    for step in range(1, half + 1):
        for n in range(size - step):
            along[u4(n)] += values[u4(first + n + step)]
        for n in range(size - step):
            along[u4(n + step)] += values[u4(first + n)]
    for p in range(size):
        out[p] = along[p]
    for step in range(1, half + 1):
        shift = step * side
        for n in range(size - shift):
            out[u4(n)] += along[u4(n + shift)]
        for n in range(size - shift):
            out[u4(n + shift)] += along[u4(n)]


@compiled
def add_views(tiles, views, stack, lens, h, coordinates, reference, target, sums):
    """Add the differences of hypothesis h pixel by pixel (see `pair_add`).

    Returns the number of views and the mean deficit of their noise.
    """
    l, k = lens // views.columns, lens % views.columns
    size, side, inverse, layer = tiles.side * tiles.side, i4(tiles.side), stack.places[h], stack.shared[h]
    parity = (k if views.by_column else l) % 2
    taken, total, weights = f4(0), f4(0), f4(0)
    if h == 0 or layer != stack.shared[h - 1]:  # else it is there already
        radius = stack.radius[stack.kind[lens], layer]
        load_reference(stack, coordinates, place_of(stack, views, size, k, l, layer), radius * radius, reference)
    for n in range(views.step_k.shape[1]):
        pair = meet(tiles, views, stack, lens, k, l, n, inverse, inverse, layer, views.same_type_first)
        if pair.other < 0:
            continue
        weight = views.weight[parity, n]
        if pair.blur > 0:
            blend(stack.gray, stack.detail, pair.start, i4(size), pair.blur, target)
            pair_add(reference, target, 0, side, pair, weight, sums)
        else:
            pair_add(reference, stack.gray, pair.start, side, pair, weight, sums)
        taken += f4(1)
        total += weight * pair.deficit
        weights += weight
    return taken, total / max(weights, f4(1e-6))


@compiled
def refined_rows(first, last, tiles, views, layers, maps):
    """One depth per pixel of the micro-images of rows first … last − 1, into the maps (h, w)."""
    side, half, count = tiles.side, views.window // 2, len(views.inverse_depths)
    size = side * side
    coordinates, reference, target = np.empty(2 * size, f4), np.empty(4 * size, f4), np.empty(size + 4 * side, f4)
    sums, along, total, number = np.empty(2 * size, f4), np.empty(size, f4), np.empty(size, f4), np.empty(size, f4)
    volume, pixels, taken = np.empty(count * size, f4), np.empty((count, size), f4), np.empty(count, f4)
    best, sharpness, buffer = np.empty(size, f4), np.empty(size, f4), np.empty((3, size), f4)
    seen = empty_pixels(size)
    step = views.inverse_depths[1] - views.inverse_depths[0]
    stack, ready = empty_stack(tiles, views, layers), first - views.halo
    limit = tiles.radius * tiles.radius
    for l in range(first, last):
        ready = start_rows(tiles, views, stack, ready, l + views.halo + 1)
        for k in range(views.columns):
            lens = l * views.columns + k
            if load_coordinates(tiles, lens, coordinates) < views.least_contrast:
                continue
            have_layers(tiles, views, stack, k, l, views.step_k.shape[1], -1)
            in_disc = find_pixels(tiles, layers, lens, tiles.radius + layers.aside, seen)
            for h in range(count):
                for p in range(2 * size):
                    sums[p] = f4(0)
                taken[h], deficit = add_views(tiles, views, stack, lens, h, coordinates, reference, target, sums)
                box_sums(sums, 0, side, half, along, total)
                box_sums(sums, size, side, half, along, number)
                if stack.layers > 1:
                    if h == 0 or layers.shared[h] != layers.shared[h - 1]:
                        find_places(
                            tiles, layers, lens, layers.outward[layers.kind[lens], layers.shared[h]], seen, in_disc
                        )
                    seen_from_pixels(tiles, seen, in_disc, total, number, buffer)
                enough = views.least_overlap if taken[h] >= views.least_views else MISSING
                for p in range(size):
                    pixels[h, p] = number[p]
                    mean = total[p] / max(number[p], f4(1e-6))
                    volume[u4(h * size + p)] = levelled(mean, deficit, views.noise) if number[p] >= enough else MISSING
            best_hypotheses(volume, count, size, best, sharpness, buffer[0], buffer[1], buffer[2])
            window_contrast(tiles, lens, coordinates, half, along, total, number, buffer)
            for p in range(size):
                column, row = tiles.origin[lens, 0] + p % side, tiles.origin[lens, 1] + p // side
                away = coordinates[p] ** 2 + coordinates[p + size] ** 2
                if away > limit or tiles.gray[lens * size + p] >= UNUSABLE:
                    continue
                if best[p] < 0 or total[p] < views.least_contrast:
                    continue
                hypothesis = int(best[p])
                place = hypothesis * size + p
                low, lowest, high = volume[place - size], volume[place], volume[place + size]
                bend = low - f4(2) * lowest + high
                shift, spread = parabola(low, lowest, high, bend, pixels[hypothesis, p], views.floor / step)
                if math.isnan(shift):
                    continue
                inverse = views.inverse_depths[hypothesis] + shift * step
                if inverse * views.inverse_depths[count // 2] <= 0:
                    continue
                maps.virtual_depth[row, column] = f4(1) / inverse
                maps.sigma[row, column] = spread * step / (inverse * inverse)
                maps.confidence[row, column] = sharpness[p] * min(f4(1), taken[hypothesis] / f4(FULL_VIEWS))
                maps.cost[row, column], maps.views[row, column] = lowest, taken[hypothesis]


@compiled
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
