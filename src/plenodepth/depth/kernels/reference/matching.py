"""Costs of hypotheses: of a whole micro-image, and of the window about each of its pixels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.kernels.constants import LEAST_COMMON_WIDTH, MISSING, SMALLEST_NUMBER, SNAP, UNUSABLE
from plenodepth.depth.kernels.reference.resampling import ComparedTiles, at_pixels
from plenodepth.depth.tiles import NoiseGain, Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


class Difference(NamedTuple):
    """Two views compared at one hypothesis, pixel by pixel of the reference's tile."""

    absolute: Float32  # (side, side): |reference − target|, 0 where there is none
    pixel_weight: Float32  # (side, side): what each pixel counts, 0 where there is none
    view_weight: float
    noise_deficit: float
    disparity: Float32  # (2,) px: offset from the centre in the target minus that in the reference


def view_costs(
    compared: ComparedTiles,
    views: Views,
    lens: int,
    inverse_depths: Float32,
    widest: np.float32 | None,
    plane: int | None,
    count: int,
    same_type: bool,
) -> tuple[Float32, NDArray[np.int64], Float32]:
    """Costs of hypotheses 1/v (h,) for one micro-image with its first `count` neighbours, their views and pixels.

    A cost is the weighted mean of the absolute difference, corrected for noise; `MISSING` where too few views overlap.
    The views are those that still overlap at the hypothesis `widest` (None: at each one itself), their tiles those of a
    plane (None: of each hypothesis' own in a sweep).
    """
    shape = len(inverse_depths)
    costs, taken, pixels = np.full(shape, MISSING), np.zeros(shape, int), np.zeros(shape, np.float32)
    for h, inverse_depth in enumerate(inverse_depths):
        total = deficits = weights = 0.0
        chosen = int(compared.tables.plane_of_hypothesis[h]) if plane is None else plane
        farthest = inverse_depth if widest is None else widest
        for pair in pair_differences(compared, views, lens, inverse_depth, chosen, count, same_type, farthest):
            number = float(pair.pixel_weight.sum(dtype=np.float64))
            if number >= views.least_overlap:
                weight = pair.view_weight * (number if views.by_pixels else 1)
                total += weight * float((pair.pixel_weight * pair.absolute).sum(dtype=np.float64)) / number
                deficits += weight * pair.noise_deficit
                weights += weight
                taken[h] += 1
                pixels[h] += number
        if taken[h] >= views.least_views:
            costs[h] = max((total / weights) ** 2 + deficits / weights * float(views.noise), 0.0) ** 0.5
    return costs, taken, pixels


def cost_volume(compared: ComparedTiles, views: Views, lens: int) -> tuple[Float32, Float32, NDArray[np.int64]]:
    """Cost (h, side, side) of every hypothesis for every pixel of one micro-image, its pixels, and its views (h,).

    Differences of all views are pooled over a window: their weighted sum over the sum of weights.
    """
    tiles, tables = compared.tiles, compared.tables
    shape = (len(views.inverse_depths), tiles.side, tiles.side)
    total, number = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    taken, count = np.zeros(shape[0], int), views.step_k.shape[1]
    deficit, weights = np.zeros(shape[0]), np.full(shape[0], float(SMALLEST_NUMBER))
    for h, inverse_depth in enumerate(tables.inverse_depths):
        plane = int(tables.plane_of_hypothesis[h])
        for pair in pair_differences(
            compared, views, lens, inverse_depth, plane, count, views.same_type_first, inverse_depth
        ):
            total[h] += np.float32(pair.view_weight) * pair.pixel_weight * pair.absolute
            number[h] += np.float32(pair.view_weight) * pair.pixel_weight
            taken[h] += 1
            deficit[h] += pair.view_weight * pair.noise_deficit
            weights[h] += pair.view_weight
    total, number = box_sums(total, views.window), box_sums(number, views.window)
    if tables.radius.shape[1] > 1:
        for h, plane in enumerate(tables.plane_of_hypothesis):
            total[h], number[h] = at_pixels(tiles, tables, lens, int(plane), total[h], number[h])
    enough = (number >= views.least_overlap) & (taken >= views.least_views)[:, None, None]
    mean, extra = total / np.maximum(number, SMALLEST_NUMBER), (deficit / weights * views.noise)[:, None, None]
    cost = np.where(enough, np.sqrt(np.maximum(mean**2 + extra, 0)), MISSING)
    return cost.astype(np.float32), number, taken


def pair_differences(
    compared: ComparedTiles,
    views: Views,
    lens: int,
    inverse_depth: np.float32,
    plane: int,
    count: int,
    same_type: bool,
    widest: np.float32,
) -> Iterator[Difference]:
    """The views of a lens, equally blurred and aligned for a hypothesis 1/v, compared one by one with the lens.

    Only those among the first `count` neighbours that overlap at the hypothesis `widest`, and only those of the same
    lens type where that is wanted.
    """
    tiles, tables = compared.tiles, compared.tables
    l, k = divmod(lens, views.columns)
    parity = (k if views.by_column else l) % 2
    ratio = views.pitch_ratio[lens]
    # Disparity per baseline, see camera.disparity.
    gain, most = ((np.float32(1) - ratio) + ratio * u for u in (inverse_depth, widest))
    plane = compared.existing_plane(plane)
    radius = tables.radius[tables.kind[lens], plane]
    gray, detail = compared.tile(lens, plane)
    disc = inside_disc(tiles, lens, radius, gray)
    here = np.stack(np.meshgrid(*2 * [np.arange(tiles.side, dtype=np.float32)]), axis=-1) - tiles.center[lens]
    aside = tables.light_center[lens] - tiles.center[lens]
    for n in range(count):
        ok, ol = int(k + views.step_k[parity, n]), int(l + views.step_l[parity, n])
        other = ol * views.columns + ok
        if not (0 <= ok < views.columns and 0 <= ol < views.rows):
            continue
        if same_type and views.lens_type[lens] != views.lens_type[other]:
            continue
        baseline, other_radius = views.baseline[parity, n], tables.radius[tables.kind[other], plane]
        if np.linalg.norm(most * baseline) >= max(radius + other_radius - LEAST_COMMON_WIDTH, 0):
            continue
        shift = tiles.center[other] - tiles.center[lens] + gain * baseline
        fraction = shift - np.floor(shift)
        # Interpolating the target blurs it, too: by w (1 − w) along each axis.
        interpolation = np.float32(0.5) * np.sum(fraction * (1 - fraction), dtype=np.float32)
        variance = relative_blur_variance(views, lens, other, inverse_depth)
        blur = np.float32((variance - interpolation) / tables.blur_unit[plane])
        other_gray, other_detail = compared.tile(other, plane)
        target = shifted(other_gray + max(blur, np.float32(0)) * other_detail, shift)
        reference = gray + max(-blur, np.float32(0)) * detail
        there = here + gain * baseline
        valid = disc & (np.sum(there**2, axis=-1) <= other_radius**2) & (target < UNUSABLE)
        # The aperture clips pixels unalike that are not equally far from the centre of the light.
        apart = np.sum((here - aside) ** 2, axis=-1) - np.sum((there - aside) ** 2, axis=-1)
        weight = np.where(valid, np.maximum(1 - tables.dissimilarity[plane] * np.abs(apart), 0), 0)
        yield Difference(
            np.where(valid, np.abs(reference - target), 0),
            weight.astype(np.float32),
            float(views.weight[parity, n]),
            noise_deficit(tiles.noise, fraction, float(blur)),
            np.asarray(gain * baseline, np.float32),
        )


def relative_blur_variance(views: Views, lens: int, other: int, inverse_depth: np.float32) -> np.float32:
    """Variance per axis, px², by which a lens is blurrier than another at 1/v (negative: sharper)."""
    i, j = views.lens_type[lens], views.lens_type[other]
    slope = views.blur_slope[i, j] + views.blur_square[i, j] * inverse_depth
    return np.float32(slope * inverse_depth + views.blur_intercept[i, j])


def noise_deficit(noise: NoiseGain, fraction: Float32, blur: float) -> float:
    """Variance of the noise, in units of one view's, that interpolation and blur take from a pair.

    The target always loses noise to interpolation at a fraction (2,) between pixels. The blurred view is the reference
    where `blur` is negative, else the target.
    """
    interpolated = float(np.prod(1 - fraction * (1 - fraction) * noise.between))
    blurred = 1 + abs(blur) * float(noise.blur[0]) + blur**2 * float(noise.blur[1])
    reference, target = (blurred, interpolated) if blur < 0 else (1.0, blurred * interpolated)
    return 2 - (reference + target)


def inside_disc(tiles: Tiles, lens: int, radius: np.float32, gray: Float32) -> Bool:
    """Pixels (side, side) of a tile that may be compared: within a radius, and not missing."""
    rows, columns = np.indices((tiles.side, tiles.side), dtype=np.float32)
    x, y = columns - tiles.center[lens, 0], rows - tiles.center[lens, 1]
    return np.asarray((x * x + y * y <= radius**2) & (gray < UNUSABLE))


def shifted(tile: Float32, shift: Float32) -> Float32:
    """The tile at (column + shift x, row + shift y), bilinear; huge or NaN where a pixel is missing."""
    side = len(tile)
    x, y = (int(np.floor(value)) for value in shift)
    if abs(x) >= side or abs(y) >= side:
        return np.full_like(tile, np.nan)
    fractions = np.float32(shift[0] - x), np.float32(shift[1] - y)
    fx, fy = (np.where(w < SNAP, 0, np.where(w > 1 - SNAP, 1, w)).astype(np.float32) for w in fractions)
    padded = np.full((3 * side + 1, 3 * side + 1), np.nan, np.float32)  # outside the tile: not even with no weight
    padded[side : 2 * side, side : 2 * side] = tile

    def part(dx: int, dy: int) -> Float32:
        return padded[side + y + dy : 2 * side + y + dy, side + x + dx : 2 * side + x + dx]

    both = fx * fy
    return np.asarray(
        (1 - fx - fy + both) * part(0, 0) + (fx - both) * part(1, 0) + (fy - both) * part(0, 1) + both * part(1, 1)
    )


def box_sums(values: Float32, window: int) -> Float32:
    """Sums over window × window pixels of the last two axes of (n, h, w), zero beyond the edge."""
    half = window // 2
    padded = np.pad(values, ((0, 0), (half, half), (half, half)))
    rows, sums = np.zeros((*values.shape[:2], padded.shape[2]), np.float32), np.zeros_like(values)
    for i in range(window):
        rows += padded[:, i : i + values.shape[1], :]
    for i in range(window):
        sums += rows[:, :, i : i + values.shape[2]]
    return sums
