"""A map's errors by tiles: units that can be compared and resampled, which single pixels, alike nearby, cannot."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

TILES = (8, 8)  # down and across


@dataclass(frozen=True)
class TileError:
    """The errors of one tile of a map; mm."""

    name: str  # "r03c07": row and column of the tile
    count: int  # pixels with an error
    median: float  # of |error|
    mean: float
    bias: float  # median of the signed errors


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
