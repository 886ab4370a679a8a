"""The sweep of hypotheses: one depth per micro-image, or one per pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.aperture.resampling import ResamplingTables
from plenodepth.depth.kernels.constants import FINE_PLACES, FINE_STEP, FULL_VIEWS
from plenodepth.depth.kernels.reference.matching import box_sums, cost_volume, inside_disc, view_costs
from plenodepth.depth.kernels.reference.peaks import (
    best_hypotheses,
    five_point_minimum,
    three_point_minimum,
    unstretched,
)
from plenodepth.depth.kernels.reference.resampling import ComparedTiles, cut_tile
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


def coarse_rows(first: int, last: int, tiles: Tiles, views: Views, tables: ResamplingTables, maps: MapArrays) -> None:
    """One depth per micro-image of rows first … last − 1, into the maps (rows, columns)."""
    for lens in range(first * views.columns, last * views.columns):
        coarse_depth(tiles, views, tables, lens, maps)


def coarse_depth(tiles: Tiles, views: Views, tables: ResamplingTables, lens: int, maps: MapArrays) -> None:
    """Depth of one micro-image: a sweep, then a search between the hypotheses about the best one."""
    if not _has_contrast(tiles, views, lens):
        return
    compared, hypotheses = ComparedTiles(tiles, tables), views.inverse_depths
    curve, _, _ = view_costs(
        compared, views, lens, tables.inverse_depths, None, None, views.swept, views.same_type_first
    )
    best, sharpness = best_hypotheses(curve)
    if best < 0:
        return
    plane = int(best)
    step, middle = hypotheses[1] - hypotheses[0], hypotheses[plane]
    quarter = np.float32(0.5 * FINE_STEP) * step
    from_middle = ((np.arange(FINE_PLACES) - FINE_PLACES // 2) * FINE_STEP).astype(np.float32)
    between = middle + from_middle * step
    # Views take part that still overlap where disparities are largest: all costs are of the same views.
    widest = between[np.argmax(np.abs(between))]

    def fine_costs(inverse_depths: Float32) -> tuple[Float32, NDArray[np.int64], Float32]:
        count = views.step_k.shape[1]
        return view_costs(compared, views, lens, inverse_depths, widest, plane, count, same_type=False)

    fine, taken, pixels = fine_costs(between)
    n = 1 + int(np.argmin(fine[1:-1]))  # at the ends the curve may go on falling
    (left, right), _, _ = fine_costs(between[n] + np.array([-1, 1], np.float32) * quarter)
    costs = (fine[n - 1], left, fine[n], right, fine[n + 1])
    minimum = five_point_minimum(costs, float(pixels[n]), float(views.floor / quarter))
    if minimum is None:
        return
    stretch = float(tables.stretch[compared.existing_plane(plane)])
    found = float(between[n]) + minimum.place * float(quarter)
    inverse = unstretched(found, float(middle), stretch, float(views.pitch_ratio[lens]))
    if inverse * middle <= 0:  # beyond infinity
        return
    maps.virtual_depth.flat[lens] = 1 / inverse
    maps.sigma.flat[lens] = minimum.sigma * quarter / inverse**2
    maps.confidence.flat[lens] = sharpness * min(1.0, taken[n] / FULL_VIEWS)
    maps.cost.flat[lens], maps.views.flat[lens] = fine[n], taken[n]


def refined_rows(first: int, last: int, tiles: Tiles, views: Views, tables: ResamplingTables, maps: MapArrays) -> None:
    """One depth per pixel of the micro-images of rows first … last − 1, into the maps (h, w)."""
    for lens in range(first * views.columns, last * views.columns):
        refined_depth(tiles, views, tables, lens, maps)


def refined_depth(tiles: Tiles, views: Views, tables: ResamplingTables, lens: int, maps: MapArrays) -> None:
    """Depths of one micro-image's pixels: a sweep, and the minimum between its hypotheses."""
    if not _has_contrast(tiles, views, lens):
        return
    gray = cut_tile(tiles.gray, tiles, lens)
    disc = inside_disc(tiles, lens, tiles.radius, gray)
    volume, pixels, taken = cost_volume(ComparedTiles(tiles, tables), views, lens)
    best, sharpness = best_hypotheses(volume)
    textured = window_contrast(gray, disc, views.window) >= views.least_contrast
    hypotheses = views.inverse_depths
    step = hypotheses[1] - hypotheses[0]
    for row, column in np.argwhere(disc & textured & (best >= 0)):
        n = best[row, column]
        costs = tuple(volume[n - 1 : n + 2, row, column])
        minimum = three_point_minimum(costs, float(pixels[n, row, column]), float(views.floor / step))
        if minimum is None:
            continue
        inverse = float(hypotheses[n]) + minimum.place * float(step)
        if inverse * hypotheses[len(hypotheses) // 2] <= 0:  # beyond infinity
            continue
        there = int(tiles.origin[lens, 1] + row), int(tiles.origin[lens, 0] + column)
        maps.virtual_depth[there] = 1 / inverse
        maps.sigma[there] = minimum.sigma * step / inverse**2
        maps.confidence[there] = sharpness[row, column] * min(1.0, taken[n] / FULL_VIEWS)
        maps.cost[there], maps.views[there] = costs[1], taken[n]


def window_contrast(gray: Float32, disc: Bool, window: int) -> Float32:
    """Standard deviation (side, side) of the disc's pixels in the window about each pixel."""
    inside = np.where(disc, gray, 0)
    planes = np.stack([disc.astype(np.float32), inside, inside**2])
    number, total, squares = box_sums(planes, window)
    number = np.maximum(number, 1)
    return np.asarray(np.sqrt(np.maximum(squares / number - (total / number) ** 2, 0)))


def _has_contrast(tiles: Tiles, views: Views, lens: int) -> bool:
    """Whether there is anything to match in the compared disc of a micro-image."""
    tile = cut_tile(tiles.gray, tiles, lens)
    gray = tile[inside_disc(tiles, lens, tiles.radius, tile)].astype(np.float64)
    return bool(gray.size and gray.std() >= views.least_contrast)
