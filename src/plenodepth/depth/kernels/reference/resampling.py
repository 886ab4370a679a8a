"""Tiles as they are compared: as they were cut, or resampled to the chief rays of their pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.aperture.resampling import ResamplingTables
from plenodepth.depth.kernels.constants import MISSING, RESAMPLING_VARIANCE, SNAP, TABLE_END, UNUSABLE
from plenodepth.depth.tiles import Tiles

Float32 = NDArray[np.float32]


def cut_tile(flat: Float32, tiles: Tiles, lens: int) -> Float32:
    """The tile (side, side) of a lens among the gray or the detail of all tiles."""
    size = tiles.side**2
    return flat[lens * size : (lens + 1) * size].reshape(tiles.side, tiles.side)


class ComparedTiles:
    """Tiles as they are compared in each plane; each is resampled when it is first asked for."""

    def __init__(self, tiles: Tiles, tables: ResamplingTables) -> None:
        self.tiles, self.tables = tiles, tables
        self._made: dict[tuple[int, int], tuple[Float32, Float32]] = {}

    def existing_plane(self, plane: int) -> int:
        """The plane, or the only one where there is one for all hypotheses."""
        return min(plane, int(self.tables.radius.shape[1]) - 1)

    def tile(self, lens: int, plane: int) -> tuple[Float32, Float32]:
        """Gray and detail (side, side) of a lens in a plane."""
        key = lens, self.existing_plane(plane)
        if key not in self._made:
            self._made[key] = _compared_tile(self.tiles, self.tables, *key)
        return self._made[key]


def _compared_tile(tiles: Tiles, tables: ResamplingTables, lens: int, plane: int) -> tuple[Float32, Float32]:
    gray, detail = cut_tile(tiles.gray, tiles, lens), cut_tile(tiles.detail, tiles, lens)
    if tables.radius.shape[1] == 1:
        return gray, detail
    kind = tables.kind[lens]
    gray = gray + tables.uniform_share[kind, plane] * blur_correction(tiles, tables, lens, gray, detail)
    places = _places(tiles, tables, lens, tables.pixel_from_ray[kind, plane])
    (gray, fraction), (detail, _) = (interpolated(values, places) for values in (gray, detail))
    # Interpolation blurs some pixels more than others; made up to the most it does, all are alike.
    interpolation = np.float32(0.5) * np.sum(fraction * (1 - fraction), axis=-1)
    missing_blur = (np.float32(RESAMPLING_VARIANCE) - interpolation) / tiles.blur_unit
    gray = gray + missing_blur * np.where(gray < UNUSABLE, detail, 0)
    return np.where(gray < UNUSABLE, gray, MISSING).astype(np.float32), detail


def blur_correction(tiles: Tiles, tables: ResamplingTables, lens: int, gray: Float32, detail: Float32) -> Float32:
    """What makes a tile's blur the same everywhere once added (side, side); 0 where a pixel is missing.

    Each pixel is mixed with the two that are a step farther in and out (`depth.aperture.chief_rays.UniformBlur`).
    """
    offset = _offsets(tiles, tables, lens)
    squared = np.sum(offset**2, axis=-1)
    step, weight, blur = (_looked_up(row, squared, tables.spacing) for row in tables.uniform_blur[tables.kind[lens]])
    away = offset / np.maximum(np.sqrt(squared), np.float32(1e-6))[..., None] * step[..., None]
    pixel = offset + tables.light_center[lens]
    ends = interpolated(gray, pixel + away)[0] + interpolated(gray, pixel - away)[0]
    wanted = (weight > 0) & (squared > 0) & (gray + ends < UNUSABLE)
    return np.where(wanted, weight * (ends - 2 * gray) + blur * detail, 0).astype(np.float32)


def at_pixels(tiles: Tiles, tables: ResamplingTables, lens: int, plane: int, *values: Float32) -> tuple[Float32, ...]:
    """Values (side, side) at the chief rays X in a plane, brought back to the pixels x that have them."""
    places = _places(tiles, tables, lens, tables.ray_from_pixel[tables.kind[lens], plane])
    return tuple(interpolated(value, places)[0] for value in values)


def interpolated(values: Float32, places: Float32) -> tuple[Float32, Float32]:
    """A tile's values at places (..., 2) in it, bilinear, and the fractions (..., 2)."""
    corner = np.clip(np.floor(places + SNAP), 0, len(values) - 2).astype(np.int32)
    fraction = np.where(places - corner >= SNAP, np.minimum(places - corner, 1 - SNAP), 0).astype(np.float32)
    x, y = np.moveaxis(corner, -1, 0)
    wx, wy = np.moveaxis(fraction, -1, 0)
    both = wx * wy
    sample = (1 - wx - wy + both) * values[y, x] + (wx - both) * values[y, x + 1]
    sample = sample + (wy - both) * values[y + 1, x] + both * values[y + 1, x + 1]
    return sample.astype(np.float32), fraction


def _places(tiles: Tiles, tables: ResamplingTables, lens: int, table: Float32) -> Float32:
    """Where in a tile its pixels are taken from (side, side, 2): at their offset times a factor of its square."""
    offset = _offsets(tiles, tables, lens)
    factor = _looked_up(table, np.sum(offset**2, axis=-1), tables.spacing)
    return np.asarray(tables.light_center[lens] + factor[..., None] * offset)


def _offsets(tiles: Tiles, tables: ResamplingTables, lens: int) -> Float32:
    """Offsets of a tile's pixels from the centre of its light, (side, side, 2) px."""
    rows, columns = np.indices((tiles.side, tiles.side), dtype=np.float32)
    return np.stack([columns - tables.light_center[lens, 0], rows - tables.light_center[lens, 1]], axis=-1)


def _looked_up(table: Float32, squared: Float32, spacing: np.float32) -> Float32:
    """A table's value at squared radii, linear between its entries, which are `spacing` apart."""
    entry = np.minimum(squared / spacing, np.float32(len(table) - TABLE_END))
    low = entry.astype(np.int32)
    return np.asarray(table[low] + (entry - low) * (table[low + 1] - table[low]))
