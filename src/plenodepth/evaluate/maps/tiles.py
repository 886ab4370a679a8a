"""Errors by tiles of the view: units to compare and resample. Single pixels are too like their neighbours for that."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

TILES = (8, 8)  # down and across


@dataclass(frozen=True)
class TileError:
    """The errors of one tile of a map; mm."""

    name: str  # "r03c07": row and column of the tile
    count: int  # pixels with an error
    median: float  # of |error|
    mean: float
    bias: float  # median of the signed errors

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "tile": self.name,
            "pixels": self.count,
            "median_ad_mm": self.median,
            "mean_ad_mm": self.mean,
            "bias_mm": self.bias,
        }


def tile_errors(signed: NDArray[np.floating[Any]], tiles: tuple[int, int] = TILES) -> tuple[TileError, ...]:
    """Errors (h, w), NaN = missing, by tiles (down, across) of equal size; tiles without an error are left out."""
    rows, columns = (
        np.linspace(0, size, min(tiles[axis], size) + 1).astype(int) for axis, size in enumerate(signed.shape)
    )
    found = []
    for r, (top, bottom) in enumerate(pairwise(rows.tolist())):
        for c, (left, right) in enumerate(pairwise(columns.tolist())):
            part = signed[top:bottom, left:right]
            errors = part[np.isfinite(part)]
            if not len(errors):
                continue
            size = np.abs(errors)
            mean = float(size.mean(dtype=np.float64))
            found.append(
                TileError(f"r{r:02d}c{c:02d}", len(errors), float(np.median(size)), mean, float(np.median(errors)))
            )
    return tuple(found)


@dataclass(frozen=True)
class ViewTiles:
    """Tiles of directions x/z, y/z from the camera."""

    low: tuple[float, float]
    high: tuple[float, float]
    tiles: tuple[int, int] = TILES

    @classmethod
    def around(cls, points: Float64, tiles: tuple[int, int] = TILES) -> ViewTiles:
        """Tiles that cover points (n, 3) with z > 0. Tiles around the truth are the same for all predictions."""
        x, y = (points[:, axis] / points[:, 2] for axis in (0, 1))
        return cls((float(x.min()), float(y.min())), (float(x.max()), float(y.max())), tiles)

    def labels(self, points: Float64) -> NDArray[np.int64]:
        """The tile of each point (n, 3); what lies beyond the outermost tiles counts to them."""
        place = np.empty((2, len(points)), np.int64)
        for axis, count in enumerate(self.tiles[::-1]):  # x goes across
            span = max(self.high[axis] - self.low[axis], 1e-12)
            part = (points[:, axis] / points[:, 2] - self.low[axis]) / span
            place[axis] = np.clip(np.floor(part * count), 0, count - 1)
        labels: NDArray[np.int64] = place[1] * self.tiles[1] + place[0]
        return labels

    def mean(self, points: Float64, values: Float64) -> dict[str, tuple[float, int]]:
        """Mean of values (n,) of points (n, 3), and their number, by the names of tiles that have any."""
        labels, size = self.labels(points), self.tiles[0] * self.tiles[1]
        count = np.bincount(labels, minlength=size)
        total = np.bincount(labels, weights=values, minlength=size)
        return {
            f"r{tile // self.tiles[1]:02d}c{tile % self.tiles[1]:02d}": (
                float(total[tile] / count[tile]),
                int(count[tile]),
            )
            for tile in np.flatnonzero(count).tolist()
        }
