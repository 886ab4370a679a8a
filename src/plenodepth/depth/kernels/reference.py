"""The matching in plain NumPy, slow and readable: what the fast kernels must equal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.aperture.resampling import Layers
from plenodepth.depth.kernels.cpu.pairs import noise_deficit
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
from plenodepth.depth.kernels.cpu.sweep import unstretched
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.tiles import LEAST_COMMON_WIDTH, MISSING, RESAMPLED, SNAP, UNUSABLE, Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


def coarse_rows(first: int, last: int, tiles: Tiles, views: Views, layers: Layers, maps: MapArrays) -> None:
    """One depth per micro-image of rows first … last − 1, into the maps (rows, columns)."""
    for lens in range(first * views.columns, last * views.columns):
        coarse_depth(tiles, views, layers, lens, maps)


def coarse_depth(tiles: Tiles, views: Views, layers: Layers, lens: int, maps: MapArrays) -> None:
    """Depth of one micro-image."""
    tile = _tile(tiles.gray, tiles, lens)
    gray = tile[inside_disc(tiles, lens, tiles.radius, tile)].astype(np.float64)
    if not gray.size or gray.std() < views.least_contrast:
        return
    places = views.inverse_depths
    curve, _, _ = view_costs(tiles, views, layers, lens, layers.places, None, None, views.swept, views.same_type_first)
    best, sharpness = _best(curve[:, None])
    if best[0] < 0:
        return
    step, middle = places[1] - places[0], places[best[0]]
    quarter, widest = np.float32(0.5 * FINE_STEP) * step, np.float32(widest_fine(middle, step))

    def fine_costs(inverses: Float32) -> tuple[Float32, NDArray[np.int64], Float32]:
        return view_costs(
            tiles, views, layers, lens, inverses, widest, int(best[0]), views.step_k.shape[1], same_type=False
        )

    between = (middle + (np.arange(FINE) - FINE // 2) * np.float32(FINE_STEP) * step).astype(np.float32)
    fine, taken, pixels = fine_costs(between)
    n = best_place(fine)
    (left, right), _, _ = fine_costs(between[n] + np.array([-1, 1], np.float32) * quarter)
    place, spread = between_places(
        fine[n - 1], left, fine[n], right, fine[n + 1], np.float32(pixels[n]), views.floor / quarter
    )
    if np.isnan(place):
        return
    stretch = layers.stretch[_layer(layers, int(best[0]))]
    inverse = unstretched(between[n] + place * quarter, middle, stretch, views.pitch_ratio[lens])
    if inverse * middle <= 0:  # beyond infinity
        return
    maps.virtual_depth.flat[lens] = 1 / inverse
    maps.sigma.flat[lens] = spread * quarter / inverse**2
    maps.confidence.flat[lens] = sharpness[0] * min(1.0, taken[n] / FULL_VIEWS)
    maps.cost.flat[lens], maps.views.flat[lens] = fine[n], taken[n]


def refined_rows(first: int, last: int, tiles: Tiles, views: Views, layers: Layers, maps: MapArrays) -> None:
    """One depth per pixel of the micro-images of rows first … last − 1, into the maps (h, w)."""
    for lens in range(first * views.columns, last * views.columns):
        refined_depth(tiles, views, layers, lens, maps)


def refined_depth(tiles: Tiles, views: Views, layers: Layers, lens: int, maps: MapArrays) -> None:
    """Depths of one micro-image's pixels."""
    gray = _tile(tiles.gray, tiles, lens)
    disc = inside_disc(tiles, lens, tiles.radius, gray)
    if not disc.any() or gray[disc].astype(np.float64).std() < views.least_contrast:
        return
    volume, pixels, taken = cost_volume(tiles, views, layers, lens)
    best, sharpness = _best(volume.reshape(len(volume), -1))
    textured = _window_contrast(gray, disc, views.window) >= views.least_contrast
    step = views.inverse_depths[1] - views.inverse_depths[0]
    for row, column in np.argwhere(disc & textured & (best.reshape(disc.shape) >= 0)):
        n = best.reshape(disc.shape)[row, column]
        low, lowest, high = volume[n - 1 : n + 2, row, column]
        bend = low - 2 * lowest + high
        shift, spread = parabola(low, lowest, high, bend, pixels[n, row, column], views.floor / step)
        if np.isnan(shift):
            continue
        inverse = views.inverse_depths[n] + shift * step
        if inverse * views.inverse_depths[len(views.inverse_depths) // 2] <= 0:
            continue
        there = int(tiles.origin[lens, 1] + row), int(tiles.origin[lens, 0] + column)
        maps.virtual_depth[there] = 1 / inverse
        maps.sigma[there] = spread * step / inverse**2
        maps.confidence[there] = sharpness.reshape(disc.shape)[row, column] * min(1.0, taken[n] / FULL_VIEWS)
        maps.cost[there], maps.views[there] = lowest, taken[n]


def view_costs(
    tiles: Tiles,
    views: Views,
    layers: Layers,
    lens: int,
    places: Float32,
    widest: np.float32 | None,
    layer: int | None,
    count: int,
    same_type: bool,
) -> tuple[Float32, NDArray[np.int64], Float32]:
    """Costs of hypotheses 1/v (h,) for one micro-image with its first `count` neighbours, their views and pixels.

    The weighted mean of the absolute difference, levelled for noise; `MISSING` where too few views overlap. The views
    are those that still overlap at the hypothesis `widest` (None: each one itself), in tiles of a layer (None: that of
    each hypothesis in a sweep).
    """
    costs, taken, pixels = np.full(len(places), MISSING), np.zeros(len(places), int), np.zeros(len(places), np.float32)
    for h, inverse in enumerate(places):
        total = deficits = weights = 0.0
        chosen = int(layers.shared[h]) if layer is None else layer
        for difference, counts, weight, deficit in pair_differences(
            tiles, views, layers, lens, inverse, chosen, count, same_type, widest
        ):
            number = float(counts.sum(dtype=np.float64))
            if number >= views.least_overlap:
                weight *= number if views.by_pixels else 1
                total += weight * float((counts * difference).sum(dtype=np.float64)) / number
                deficits += weight * deficit
                weights += weight
                taken[h] += 1
                pixels[h] += number
        if taken[h] >= views.least_views:
            costs[h] = max((total / weights) ** 2 + deficits / weights * float(views.noise), 0.0) ** 0.5
    return costs, taken, pixels


def cost_volume(tiles: Tiles, views: Views, layers: Layers, lens: int) -> tuple[Float32, Float32, NDArray[np.int64]]:
    """Cost (h, side, side) of every hypothesis for every pixel of one micro-image, its pixels, and its views (h,).

    Differences of all views are pooled over a window: their weighted sum over their weighted number.
    """
    shape = (len(views.inverse_depths), tiles.side, tiles.side)
    total, number = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    taken, count = np.zeros(shape[0], int), views.step_k.shape[1]
    deficit, weights = np.zeros(shape[0]), np.full(shape[0], 1e-6)
    for h, inverse in enumerate(layers.places):
        for difference, counts, weight, missing in pair_differences(
            tiles, views, layers, lens, inverse, int(layers.shared[h]), count, views.same_type_first
        ):
            total[h] += np.float32(weight) * counts * difference
            number[h] += np.float32(weight) * counts
            taken[h] += 1
            deficit[h] += weight * missing
            weights[h] += weight
    total, number = _box(total, views.window), _box(number, views.window)
    if layers.radius.shape[1] > 1:
        seen = [
            _seen_from_pixels(tiles, layers, lens, int(layers.shared[h]), total[h], number[h]) for h in range(shape[0])
        ]
        total, number = (np.array(part, np.float32) for part in zip(*seen, strict=True))
    enough = (number >= views.least_overlap) & (taken >= views.least_views)[:, None, None]
    mean, extra = total / np.maximum(number, np.float32(1e-6)), (deficit / weights * views.noise)[:, None, None]
    cost = np.where(enough, np.sqrt(np.maximum(mean**2 + extra, 0)), MISSING)
    return cost.astype(np.float32), number, taken


def inside_disc(tiles: Tiles, lens: int, radius: np.float32, gray: Float32) -> Bool:
    """Pixels (side, side) of a tile that may be compared: within a radius, and not missing."""
    rows, columns = np.indices((tiles.side, tiles.side), dtype=np.float32)
    x, y = columns - tiles.center[lens, 0], rows - tiles.center[lens, 1]
    return np.asarray((x * x + y * y <= radius**2) & (gray < UNUSABLE))


def pair_differences(
    tiles: Tiles,
    views: Views,
    layers: Layers,
    lens: int,
    inverse: np.float32,
    layer: int,
    count: int,
    same_type: bool,
    widest: np.float32 | None = None,
) -> Iterator[tuple[Float32, Float32, float, float]]:
    """|reference − target|, equally blurred and aligned for a hypothesis 1/v, and what it counts; one per view.

    With the view's weight and the deficit of its noise (`noise_deficit`).
    """
    l, k = divmod(lens, views.columns)
    parity = (k if views.by_column else l) % 2
    ratio = views.pitch_ratio[lens]
    gain = (np.float32(1) - ratio) + ratio * inverse  # disparity per baseline, see camera.disparity
    most = gain if widest is None else (np.float32(1) - ratio) + ratio * widest
    layer = _layer(layers, layer)
    radius = layers.radius[layers.kind[lens], layer]
    gray, detail = layer_tile(tiles, layers, lens, layer)
    disc = inside_disc(tiles, lens, radius, gray)
    coordinates = np.stack(np.meshgrid(*2 * [np.arange(tiles.side, dtype=np.float32)]), axis=-1) - tiles.center[lens]
    for n in range(count):
        ok, ol = int(k + views.step_k[parity, n]), int(l + views.step_l[parity, n])
        other = ol * views.columns + ok
        if not (0 <= ok < views.columns and 0 <= ol < views.rows):
            continue
        if same_type and views.lens_type[lens] != views.lens_type[other]:
            continue
        baseline, other_radius = views.baseline[parity, n], layers.radius[layers.kind[other], layer]
        if np.linalg.norm(most * baseline) >= max(radius + other_radius - LEAST_COMMON_WIDTH, 0):
            continue
        shift = tiles.center[other] - tiles.center[lens] + gain * baseline
        part = shift - np.floor(shift)
        # Interpolating the target blurs it, too: by w (1 − w) along each axis.
        interpolation = np.float32(0.5) * np.sum(part * (1 - part), dtype=np.float32)
        blur = float((_relative_variance(views, lens, other, inverse) - interpolation) / layers.unit[layer])
        other_gray, other_detail = layer_tile(tiles, layers, other, layer)
        aligned = _shifted(other_gray + np.float32(max(blur, 0)) * other_detail, shift)
        reference = gray + np.float32(max(-blur, 0)) * detail
        deficit = noise_deficit(tiles.noise, part[0], part[1], np.float32(blur))
        there = coordinates + gain * baseline
        valid = disc & (np.sum(there**2, axis=-1) <= other_radius**2) & (aligned < UNUSABLE)
        aside = layers.center[lens] - tiles.center[lens]
        apart = np.sum((coordinates - aside) ** 2, axis=-1) - np.sum((there - aside) ** 2, axis=-1)
        counts = np.where(valid, np.maximum(1 - layers.unlike[layer] * np.abs(apart), 0), 0)
        difference = np.where(valid, np.abs(reference - aligned), 0)
        yield difference, counts.astype(np.float32), float(views.weight[parity, n]), deficit


def _relative_variance(views: Views, lens: int, other: int, inverse: np.float32) -> np.float32:
    """Variance per axis, px², by which the reference is blurrier than the target (negative: sharper)."""
    i, j = views.lens_type[lens], views.lens_type[other]
    slope = views.blur_slope[i, j] + views.blur_square[i, j] * inverse
    return np.float32(slope * inverse + views.blur_intercept[i, j])


def _layer(layers: Layers, h: int) -> int:
    """Layer h, or the only one where there is one for all."""
    return min(h, int(layers.radius.shape[1]) - 1)


def layer_tile(tiles: Tiles, layers: Layers, lens: int, layer: int) -> tuple[Float32, Float32]:
    """Gray and detail (side, side) of a lens as they are compared: resampled to where its pixels look."""
    gray, detail = _tile(tiles.gray, tiles, lens), _tile(tiles.detail, tiles, lens)
    if layers.radius.shape[1] == 1:
        return gray, detail
    kind = layers.kind[lens]
    gray = gray + layers.even[kind, layer] * _mixed(tiles, layers, lens, gray, detail)
    (gray, detail), fraction = _resampled(tiles, layers, lens, layers.inward[kind, layer], [gray, detail])
    interpolation = np.float32(0.5) * np.sum(fraction * (1 - fraction), axis=-1)
    gray = gray + (np.float32(RESAMPLED) - interpolation) / tiles.blur_unit * np.where(gray < UNUSABLE, detail, 0)
    return np.where(gray < UNUSABLE, gray, MISSING).astype(np.float32), detail


def _mixed(tiles: Tiles, layers: Layers, lens: int, gray: Float32, detail: Float32) -> Float32:
    """What the evening (see depth.looks) adds to a tile (side, side); 0 where a pixel is missing."""
    offset = _offsets(tiles, layers, lens)
    squared = np.sum(offset**2, axis=-1)
    step, weight, blur = (_looked_up(row, squared, layers.spacing) for row in layers.mixing[layers.kind[lens]])
    away = offset / np.maximum(np.sqrt(squared), np.float32(1e-6))[..., None] * step[..., None]
    pixel = offset + layers.center[lens]
    ends = _between(gray, pixel + away)[0] + _between(gray, pixel - away)[0]
    wanted = (weight > 0) & (squared > 0) & (gray + ends < UNUSABLE)
    return np.where(wanted, weight * (ends - 2 * gray) + blur * detail, 0).astype(np.float32)


def _seen_from_pixels(tiles: Tiles, layers: Layers, lens: int, layer: int, *values: Float32) -> tuple[Float32, ...]:
    """A layer's values (side, side) at the places where its lens' pixels look: from X back to x."""
    table = layers.outward[layers.kind[lens], layer]
    found, _ = _resampled(tiles, layers, lens, table, list(values))
    return tuple(found)


def _resampled(
    tiles: Tiles, layers: Layers, lens: int, table: Float32, values: list[Float32]
) -> tuple[list[Float32], Float32]:
    """Values (side, side) at every pixel's offset times a factor of its squared radius, bilinear; and the fractions.

    The table holds the factor at squared radii.
    """
    offset = _offsets(tiles, layers, lens)
    factor = _looked_up(table, np.sum(offset**2, axis=-1), layers.spacing)
    found = [_between(value, layers.center[lens] + factor[..., None] * offset) for value in values]
    return [value for value, _ in found], found[0][1]


def _offsets(tiles: Tiles, layers: Layers, lens: int) -> Float32:
    """Of a tile's pixels from the middle of its light, (side, side, 2) px."""
    rows, columns = np.indices((tiles.side, tiles.side), dtype=np.float32)
    return np.stack([columns - layers.center[lens, 0], rows - layers.center[lens, 1]], axis=-1)


def _looked_up(table: Float32, squared: Float32, spacing: np.float32) -> Float32:
    """A table's value at squared radii: its entries are `spacing` apart."""
    entry = np.minimum(squared / spacing, np.float32(len(table) - 1.001))
    low = entry.astype(np.int32)
    return np.asarray(table[low] + (entry - low) * (table[low + 1] - table[low]))


def _between(value: Float32, place: Float32) -> tuple[Float32, Float32]:
    """A tile's values at places (..., 2) in it, bilinear, and the fractions (..., 2)."""
    corner = np.clip(np.floor(place + SNAP), 0, len(value) - 2).astype(np.int32)
    fraction = np.where(place - corner >= SNAP, np.minimum(place - corner, 1 - SNAP), 0).astype(np.float32)
    x, y = np.moveaxis(corner, -1, 0)
    wx, wy = np.moveaxis(fraction, -1, 0)
    both = wx * wy
    sample = (1 - wx - wy + both) * value[y, x] + (wx - both) * value[y, x + 1]
    sample = sample + (wy - both) * value[y + 1, x] + both * value[y + 1, x + 1]
    return sample.astype(np.float32), fraction


def _tile(flat: Float32, tiles: Tiles, lens: int) -> Float32:
    size = tiles.side**2
    return flat[lens * size : (lens + 1) * size].reshape(tiles.side, tiles.side)


def _shifted(tile: Float32, shift: Float32) -> Float32:
    """The tile at (column + shift x, row + shift y), bilinear; huge or NaN where a pixel is missing."""
    side = len(tile)
    x, y = (int(np.floor(value)) for value in shift)
    part_x, part_y = np.float32(shift[0] - x), np.float32(shift[1] - y)
    fx, fy = (np.where(w < SNAP, 0, np.where(w > 1 - SNAP, 1, w)).astype(np.float32) for w in (part_x, part_y))
    padded = np.full((3 * side + 1, 3 * side + 1), np.nan, np.float32)  # outside the tile: not even with no weight
    padded[side : 2 * side, side : 2 * side] = tile
    if abs(x) >= side or abs(y) >= side:
        return np.full_like(tile, np.nan)

    def part(dx: int, dy: int) -> Float32:
        return padded[side + y + dy : 2 * side + y + dy, side + x + dx : 2 * side + x + dx]

    both = fx * fy
    return np.asarray(
        (1 - fx - fy + both) * part(0, 0) + (fx - both) * part(1, 0) + (fy - both) * part(0, 1) + both * part(1, 1)
    )


def _best(curves: Float32) -> tuple[NDArray[np.int64], Float32]:
    """Index of the lowest (p,) of curves (h, p), −1 where there is none, and its sharpness; see `best_hypotheses`."""
    best, sharpness, *buffers = (np.empty(curves.shape[1], np.float32) for _ in range(5))
    best_hypotheses(np.ascontiguousarray(curves, np.float32).ravel(), *curves.shape, best, sharpness, *buffers)
    return best.astype(np.int64), sharpness


def _window_contrast(gray: Float32, disc: Bool, window: int) -> Float32:
    """Standard deviation (side, side) of the disc's pixels in the window about each pixel."""
    inside = np.where(disc, gray, 0)
    planes = np.stack([disc.astype(np.float32), inside, inside**2])
    number, total, squares = _box(planes, window)
    number = np.maximum(number, 1)
    return np.asarray(np.sqrt(np.maximum(squares / number - (total / number) ** 2, 0)))


def _box(values: Float32, window: int) -> Float32:
    """Sums over window × window pixels of the last two axes, zero beyond the edge."""
    half = window // 2
    padded = np.pad(values, ((0, 0), (half, half), (half, half)))
    rows, sums = np.zeros((*values.shape[:2], padded.shape[2]), np.float32), np.zeros_like(values)
    for i in range(window):
        rows += padded[:, i : i + values.shape[1], :]
    for i in range(window):
        sums += rows[:, :, i : i + values.shape[2]]
    return sums
