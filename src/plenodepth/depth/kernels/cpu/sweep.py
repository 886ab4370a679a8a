"""The sweep: all hypotheses are tried, the best one is kept, and its place between its neighbours is found."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.depth.kernels.constants import (
    FINE_PLACES,
    FINE_STEP,
    FULL_VIEWS,
    MISSING,
    SMALLEST_NUMBER,
    UNUSABLE,
)
from plenodepth.depth.kernels.cpu.costs import add_views, box_sums, empty_costs, view_costs, window_contrast
from plenodepth.depth.kernels.cpu.pairs import load_coordinates
from plenodepth.depth.kernels.cpu.peaks import best_fine_place, best_hypotheses, widest_fine_place
from plenodepth.depth.kernels.cpu.resample import (
    bring_to_pixels,
    empty_compared_tiles,
    empty_pixels,
    ensure_resampled,
    find_pixels,
    find_places,
    start_rows,
)
from plenodepth.depth.kernels.scalar import five_point_minimum, noise_corrected, parabola_minimum, unstretched

f4 = np.float32
i8 = np.int64
u4 = np.uint32


@compiled
def coarse_rows(first, last, tiles, views, tables, maps):
    """One depth per micro-image of rows first … last − 1, into the maps (rows, columns)."""
    size, hypotheses = tiles.side * tiles.side, views.inverse_depths
    count, step = len(hypotheses), hypotheses[1] - hypotheses[0]
    coordinates, target = np.empty(2 * size, f4), np.empty(size + 4 * tiles.side, f4)
    curve = empty_costs(count)
    fine = empty_costs(FINE_PLACES)
    finest = empty_costs(2)
    best, sharpness, buffer = np.empty(1, f4), np.empty(1, f4), np.empty((3, 1), f4)
    between, beside, quarter = np.empty(FINE_PLACES, f4), np.empty(2, f4), f4(0.5 * FINE_STEP) * step
    compared, ready = empty_compared_tiles(tiles, views, tables), first - views.halo
    # Converted: for the literals −1 and False, Numba would compile the functions that take them once more.
    all_planes, any_type = i8(-1), np.bool_(False)
    for l in range(first, last):
        ready = start_rows(tiles, views, compared, ready, l + views.halo + 1)
        for k in range(views.columns):
            lens = l * views.columns + k
            if load_coordinates(tiles, lens, coordinates) < views.least_contrast:
                continue
            view_costs(
                tiles, views, compared, lens, tables.inverse_depths, f4(0), all_planes, views.swept,
                views.same_type_first, coordinates, target, curve,
            )  # fmt: skip
            best_hypotheses(curve.cost, count, 1, best, sharpness, buffer[0], buffer[1], buffer[2])
            if best[0] < 0:
                continue
            plane = int(best[0])
            middle, neighbours = hypotheses[plane], views.step_k.shape[1]
            widest = widest_fine_place(middle, step)
            for n in range(FINE_PLACES):
                between[n] = middle + f4(n - FINE_PLACES // 2) * f4(FINE_STEP) * step
            view_costs(
                tiles, views, compared, lens, between, widest, plane, neighbours, any_type, coordinates, target, fine
            )
            n = best_fine_place(fine.cost)
            for side in range(2):
                beside[side] = between[n] + f4(2 * side - 1) * quarter
            view_costs(
                tiles, views, compared, lens, beside, widest, plane, neighbours, any_type, coordinates, target, finest
            )
            place, spread = five_point_minimum(
                fine.cost[n - 1], finest.cost[0], fine.cost[n], finest.cost[1], fine.cost[n + 1], fine.pixels[n],
                views.floor / quarter,
            )  # fmt: skip
            if math.isnan(place):
                continue
            stretch = tables.stretch[min(plane, compared.planes - 1)]
            inverse = unstretched(between[n] + place * quarter, middle, stretch, views.pitch_ratio[lens])
            if inverse * middle <= 0:  # beyond infinity
                continue
            maps.virtual_depth[l, k] = f4(1) / inverse
            maps.sigma[l, k] = spread * quarter / (inverse * inverse)
            maps.confidence[l, k] = sharpness[0] * min(f4(1), fine.views[n] / f4(FULL_VIEWS))
            maps.cost[l, k], maps.views[l, k] = fine.cost[n], fine.views[n]


@compiled
def refined_rows(first, last, tiles, views, tables, maps):
    """One depth per pixel of the micro-images of rows first … last − 1, into the maps (h, w)."""
    side, half, count = tiles.side, views.window // 2, len(views.inverse_depths)
    size = side * side
    coordinates, reference, target = np.empty(2 * size, f4), np.empty(4 * size, f4), np.empty(size + 4 * side, f4)
    sums, along, total, number = np.empty(2 * size, f4), np.empty(size, f4), np.empty(size, f4), np.empty(size, f4)
    volume, pixels, taken = np.empty(count * size, f4), np.empty((count, size), f4), np.empty(count, f4)
    best, sharpness, buffer = np.empty(size, f4), np.empty(size, f4), np.empty((3, size), f4)
    rays = empty_pixels(size)
    step = views.inverse_depths[1] - views.inverse_depths[0]
    compared, ready = empty_compared_tiles(tiles, views, tables), first - views.halo
    limit = tiles.radius * tiles.radius
    for l in range(first, last):
        ready = start_rows(tiles, views, compared, ready, l + views.halo + 1)
        for k in range(views.columns):
            lens = l * views.columns + k
            if load_coordinates(tiles, lens, coordinates) < views.least_contrast:
                continue
            ensure_resampled(tiles, views, compared, k, l, views.step_k.shape[1], i8(-1))
            in_disc = find_pixels(tiles, tables, lens, tiles.radius + tables.largest_offset, rays)
            for h in range(count):
                for p in range(2 * size):
                    sums[p] = f4(0)
                taken[h], deficit = add_views(tiles, views, compared, lens, h, coordinates, reference, target, sums)
                box_sums(sums, 0, side, half, along, total)
                box_sums(sums, size, side, half, along, number)
                if compared.planes > 1:
                    plane = tables.plane_of_hypothesis[h]
                    if h == 0 or plane != tables.plane_of_hypothesis[h - 1]:
                        outward = tables.ray_from_pixel[tables.kind[lens], plane]
                        find_places(tiles, tables, lens, outward, rays, in_disc)
                    bring_to_pixels(tiles, rays, in_disc, total, number, buffer)
                enough = views.least_overlap if taken[h] >= views.least_views else MISSING
                for p in range(size):
                    pixels[h, p] = number[p]
                    mean = total[p] / max(number[p], SMALLEST_NUMBER)
                    volume[u4(h * size + p)] = (
                        noise_corrected(mean, deficit, views.noise) if number[p] >= enough else MISSING
                    )
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
                shift, spread = parabola_minimum(low, lowest, high, bend, pixels[hypothesis, p], views.floor / step)
                if math.isnan(shift):
                    continue
                inverse = views.inverse_depths[hypothesis] + shift * step
                if inverse * views.inverse_depths[count // 2] <= 0:
                    continue
                maps.virtual_depth[row, column] = f4(1) / inverse
                maps.sigma[row, column] = spread * step / (inverse * inverse)
                maps.confidence[row, column] = sharpness[p] * min(f4(1), taken[hypothesis] / f4(FULL_VIEWS))
                maps.cost[row, column], maps.views[row, column] = lowest, taken[hypothesis]
