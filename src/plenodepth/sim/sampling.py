"""Where on a pixel and on a micro-lens the rays go: scrambled Sobol points, four dimensions at once."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from plenodepth.errors import InputError

TABLES = 256  # independent scramblings; each pixel picks one by a hash of its position and the seed


def ray_samples(rays: int, pixel_size: float, lens_radius: float, seed: int) -> NDArray[np.float32]:
    """Sample tables (TABLES, rays, 4): offset x, y on the pixel and x, y on the micro-lens' disc, mm.

    Within a table the points are an Owen-scrambled Sobol sequence, so an average over them converges almost like 1/n
    where light varies smoothly; tables are independent of each other, so pixels share no pattern.
    """
    if rays < 1:
        raise InputError(f"is {rays}, needs at least 1", field="rays")
    tables = np.empty((TABLES, rays, 4), np.float32)
    seeds = np.random.SeedSequence(seed).spawn(TABLES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # counts that are no power of two are a user's choice
        for table, sequence in zip(tables, seeds, strict=True):
            points = qmc.Sobol(4, scramble=True, rng=np.random.default_rng(sequence)).random(rays)
            table[:, :2] = (points[:, :2] - 0.5) * pixel_size
            table[:, 2:] = concentric_disc(points[:, 2:]) * lens_radius
    return tables


def concentric_disc(square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit square (n, 2) → unit disc, keeping areas and neighbourhoods (Shirley and Chiu's concentric map)."""
    a, b = (2 * square - 1).T
    wide = np.abs(a) > np.abs(b)
    radius = np.where(wide, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(wide, np.pi / 4 * (b / a), np.pi / 2 - np.pi / 4 * (a / b))
    angle = np.where(radius == 0, 0.0, angle)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
