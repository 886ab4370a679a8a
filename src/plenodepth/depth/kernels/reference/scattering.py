"""How much neighbouring estimates differ, as part of σ, in plain NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.kernels.constants import (
    COARSE_SCATTER,
    LONE_SCATTER,
    NOISE_SHARE,
    REFINED_SCATTER,
)
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]


def coarse_scatter(
    first: int, last: int, views: Views, ring: int, shared: np.float32, depth: Float32, sigma: Float32
) -> None:
    """Widen the σ (rows, columns) of the virtual depths of the micro-images of rows first … last − 1."""
    for l in range(first, last):
        for k in range(views.columns):
            parity = (k if views.by_column else l) % 2
            places = [(l + views.step_l[parity, n], k + views.step_k[parity, n]) for n in range(ring)]
            inside = [depth[row, column] for row, column in places if _inside(row, column, depth.shape)]
            sigma[l, k] = _widened(sigma[l, k], depth[l, k], np.array(inside), COARSE_SCATTER, shared)


def refined_scatter(
    first: int, last: int, tiles: Tiles, views: Views, ring: int, shared: np.float32, depth: Float32, sigma: Float32
) -> None:
    """The same for each pixel (h, w)."""
    centers = tiles.origin + tiles.center
    for lens in range(first * views.columns, last * views.columns):
        parity = (lens % views.columns if views.by_column else lens // views.columns) % 2
        rows, columns = np.mgrid[: depth.shape[0], : depth.shape[1]]
        own = np.hypot(columns - centers[lens, 0], rows - centers[lens, 1]) <= tiles.radius
        for row, column in np.argwhere(own & np.isfinite(depth)):
            gain = views.pitch_ratio[lens] * (1 - 1 / depth[row, column])
            places = []
            for n in range(ring):
                k, l = lens % views.columns + views.step_k[parity, n], lens // views.columns + views.step_l[parity, n]
                if 0 <= k < views.columns and 0 <= l < views.rows:
                    across, down = np.floor(np.array([column, row]) - gain * views.baseline[parity, n] + 0.5)
                    places.append((int(down), int(across), centers[l * views.columns + k]))
            for down, across in (views.window - 1) * np.array([(0, 1), (0, -1), (1, 0), (-1, 0)]):
                places.append((row + down, column + across, centers[lens]))
            found = [
                depth[y, x]
                for y, x, center in places
                if np.hypot(x - center[0], y - center[1]) <= tiles.radius and _inside(y, x, depth.shape)
            ]
            sigma[row, column] = _widened(
                sigma[row, column], depth[row, column], np.array(found), REFINED_SCATTER, shared
            )


def _inside(row: int, column: int, shape: tuple[int, ...]) -> bool:
    return 0 <= row < shape[0] and 0 <= column < shape[1]


def _widened(sigma: float, v: float, others: NDArray[np.float64], factor: float, shared: float | np.float32) -> float:
    """σ of v, of what the match says, of those of the others that are there, and of the shared error."""
    others = others[np.isfinite(others)]
    differences = np.abs(1 / others - 1 / v)
    typical = np.mean(np.sqrt(differences)) ** 2 if len(others) else LONE_SCATTER / abs(v)
    of_inverse = np.sqrt((NOISE_SHARE * sigma / v**2) ** 2 + (factor * typical) ** 2 + shared**2)
    return float(of_inverse * v**2)
