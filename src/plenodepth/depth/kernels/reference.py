"""The matching in plain NumPy, slow and readable: what the fast kernels must equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.kernels.peaks import FINE, FINE_STEP, best_hypothesis, between_hypotheses, widest_fine
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]

# Pixels that a shift may cost before a pair is not even looked at.
LEAST_COMMON_WIDTH = 3.0
SNAP = np.float32(1e-4)  # px: shifts this near to a whole number are taken for it


def coarse_depth(tiles: Tiles, views: Views, settings: DepthSettings, lens: int) -> tuple[float, float]:
    """Virtual depth of one micro-image and its standard deviation; NaN where there is none."""
    disc = inside_disc(tiles, lens)
    gray = _tile(tiles.gray, tiles, lens)[disc]
    if not gray.size or gray.astype(np.float64).std() < settings.least_contrast:
        return np.nan, np.nan
    curve = np.array([view_cost(tiles, views, settings, lens, u, views.swept)[0] for u in views.inverse_depths])
    best, _ = best_hypothesis(curve.astype(np.float32), 0, 1, len(curve))
    if best < 0:
        return np.nan, np.nan
    step = views.inverse_depths[1] - views.inverse_depths[0]
    places = views.inverse_depths[best] + (np.arange(FINE) - FINE // 2) * np.float32(FINE_STEP) * step
    widest = np.float32(widest_fine(views.inverse_depths[best], step))
    fine = [view_cost(tiles, views, settings, lens, np.float32(u), views.step_k.shape[1], widest) for u in places]
    place, spread = between_hypotheses(np.array([cost for cost, _ in fine], np.float32), np.float32(fine[FINE // 2][1]))
    inverse = views.inverse_depths[best] + place * FINE_STEP * step
    return float(1 / inverse), float(spread * FINE_STEP * step / inverse**2)


def view_cost(
    tiles: Tiles,
    views: Views,
    settings: DepthSettings,
    lens: int,
    inverse: np.float32,
    count: int,
    widest: np.float32 | None = None,
) -> tuple[float, int]:
    """Cost of a hypothesis 1/v for one micro-image with its first `count` neighbours, and the pixels behind it.

    The mean over the views of the mean absolute difference; NaN where too few views overlap. The views are those that
    still overlap at the hypothesis `widest` (default: this one).
    """
    costs, pixels = [], 0
    for difference, valid in pair_differences(tiles, views, lens, inverse, count, widest):
        if valid.sum() >= settings.least_overlap:
            costs.append(difference[valid].mean(dtype=np.float64))
            pixels += int(valid.sum())
    return (float(np.mean(costs)) if len(costs) >= settings.least_views else np.nan), pixels


def cost_volume(tiles: Tiles, views: Views, settings: DepthSettings, lens: int) -> tuple[Float32, Float32]:
    """Cost (h, side, side) of every hypothesis for every pixel of one micro-image, and the pixels behind it.

    Differences of all views are pooled over a window: their sum over their number.
    """
    shape = (len(views.inverse_depths), tiles.side, tiles.side)
    total, number = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for index in range(shape[0]):
        for difference, valid in pair_differences(tiles, views, lens, views.inverse_depths[index], views.swept):
            total[index] += np.where(valid, difference, 0)
            number[index] += valid
    total, number = _box(total, settings.window), _box(number, settings.window)
    with np.errstate(invalid="ignore", divide="ignore"):
        cost = np.where(number >= settings.least_overlap, total / number, np.float32(np.nan))
    return np.where(inside_disc(tiles, lens), cost, np.float32(np.nan)).astype(np.float32), number


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


def inside_disc(tiles: Tiles, lens: int) -> NDArray[np.bool_]:
    """Pixels (side, side) of a tile that may be compared: inside the micro-image less the margin, and usable."""
    rows, columns = np.indices((tiles.side, tiles.side), dtype=np.float32)
    x, y = columns - tiles.center[lens, 0], rows - tiles.center[lens, 1]
    disc = x * x + y * y <= np.float32(tiles.radius) ** 2
    return np.asarray(disc & np.isfinite(_tile(tiles.gray, tiles, lens)))


def pair_differences(
    tiles: Tiles, views: Views, lens: int, inverse: np.float32, count: int, widest: np.float32 | None = None
) -> list[tuple[Float32, NDArray[np.bool_]]]:
    """|reference − target|, equally blurred and aligned for a hypothesis 1/v, and where it counts; one per view."""
    l, k = divmod(lens, views.columns)
    parity = (k if views.by_column else l) % 2
    ratio = views.pitch_ratio[lens]
    gain = (np.float32(1) - ratio) + ratio * inverse  # disparity per baseline, see camera.disparity
    reference, sharper = _tile(tiles.gray, tiles, lens), _tile(tiles.detail, tiles, lens)
    disc = inside_disc(tiles, lens)
    rows, columns = np.indices((tiles.side, tiles.side), dtype=np.float32)
    found = []
    for dk, dl, baseline in zip(
        views.step_k[parity, :count], views.step_l[parity, :count], views.baseline[parity, :count], strict=True
    ):
        if not (0 <= k + dk < views.columns and 0 <= l + dl < views.rows):
            continue
        shift = gain * baseline
        most = baseline * ((np.float32(1) - ratio) + ratio * (inverse if widest is None else widest))
        if float(most @ most) >= (2 * tiles.radius - LEAST_COMMON_WIDTH) ** 2:
            continue
        other = int((l + dl) * views.columns + k + dk)
        whole = tiles.center[other] - tiles.center[lens] + shift
        part = whole - np.floor(whole)
        # Interpolating the target blurs it, too: by w (1 − w) along each axis.
        interpolation = np.float32(0.5) * np.sum(part * (1 - part), dtype=np.float32)
        blur = float(_relative_variance(views, lens, other, inverse) - interpolation) / tiles.blur_unit
        target = _tile(tiles.gray, tiles, other) + np.float32(max(blur, 0)) * _tile(tiles.detail, tiles, other)
        blurred = reference + np.float32(max(-blur, 0)) * sharper
        x, y = columns - tiles.center[lens, 0] + shift[0], rows - tiles.center[lens, 1] + shift[1]
        aligned = _shifted(target, whole)
        valid = disc & (x * x + y * y <= np.float32(tiles.radius) ** 2) & np.isfinite(aligned)
        found.append((np.abs(blurred - aligned), valid))
    return found


def _relative_variance(views: Views, lens: int, other: int, inverse: np.float32) -> np.float32:
    """Variance per axis, px², by which the reference is blurrier than the target (negative: sharper)."""
    i, j = views.lens_type[lens], views.lens_type[other]
    return np.float32(views.blur_slope[i, j] * inverse + views.blur_intercept[i, j])


def _tile(flat: Float32, tiles: Tiles, lens: int) -> Float32:
    size = tiles.side**2
    return flat[lens * size : (lens + 1) * size].reshape(tiles.side, tiles.side)


def _shifted(tile: Float32, shift: Float32) -> Float32:
    """The tile at (column + shift x, row + shift y), bilinear; NaN outside."""
    side = len(tile)
    x, y = (int(np.floor(value)) for value in shift)
    part_x, part_y = np.float32(shift[0] - x), np.float32(shift[1] - y)
    fx, fy = (np.where(w < SNAP, 0, np.where(w > 1 - SNAP, 1, w)).astype(np.float32) for w in (part_x, part_y))
    padded = np.full((3 * side + 1, 3 * side + 1), np.nan, np.float32)
    padded[side : 2 * side, side : 2 * side] = tile
    if abs(x) >= side or abs(y) >= side:
        return np.full_like(tile, np.nan)

    def part(dx: int, dy: int) -> Float32:
        return padded[side + y + dy : 2 * side + y + dy, side + x + dx : 2 * side + x + dx]

    both = fx * fy
    weights = {(0, 0): 1 - fx - fy + both, (1, 0): fx - both, (0, 1): fy - both, (1, 1): both}
    total = np.zeros_like(tile)
    for (dx, dy), weight in weights.items():
        if weight != 0:  # a missing pixel without any weight does no harm
            total += weight * part(dx, dy)
    return total
