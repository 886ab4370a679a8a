"""Where the rays of a pixel start on it, pass its micro-lens, and how far diffraction takes them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import j0, j1
from scipy.stats import qmc

from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

TABLES = 256  # independent sets of sample points; each pixel picks one by a hash of its position and the seed
AIRY_REACH = 20.0  # π r/(λ N): farther light, 3 % of all, falls within
# Directions, degrees, of the sides of a lens' cell: those of its neighbours.
CELLS = {
    Arrangement.ORTHOGONAL: (0.0, 90.0),
    Arrangement.HEXAGONAL_ROWS: (0.0, 60.0, 120.0),
    Arrangement.HEXAGONAL_COLUMNS: (30.0, 90.0, 150.0),
}


@dataclass(frozen=True)
class LensShape:
    """The opening of a micro-lens: a disc of `radius` mm, or the array's cell about it, its corners cut at `reach`."""

    radius: float
    reach: float = 1.0  # of the radius
    sides: tuple[float, ...] = ()  # directions, degrees, of the cell's sides


def ray_samples(rays: int, pixel_size: float, shape: LensShape, seed: int, *, diffracted: bool = False) -> Float32:
    """Sample tables (TABLES, rays, 4): offset x, y on the pixel and x, y on the micro-lens, mm.

    With `diffracted` two columns more: a place x, y in the Airy pattern of a disc, in λ N.

    Within a table the points are an Owen-scrambled Sobol sequence, so an average over them converges almost like 1/n
    where light varies smoothly; tables are independent of each other, so pixels share no pattern.
    """
    if rays < 1:
        raise InputError(f"is {rays}, needs at least 1", field="rays")
    return _sample_tables(rays, pixel_size, shape, seed, diffracted).copy()


@lru_cache(maxsize=4)  # making the tables takes longer than tracing a small image
def _sample_tables(rays: int, pixel_size: float, shape: LensShape, seed: int, diffracted: bool) -> Float32:
    dimensions = 6 if diffracted else 4
    tables = np.empty((TABLES, rays, dimensions), np.float32)
    seeds = np.random.SeedSequence(seed).spawn(TABLES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # counts that are no power of two are a user's choice
        for table, sequence in zip(tables, seeds, strict=True):
            sobol = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(sequence))
            points, on_lens = _points_on_lens(sobol, rays, shape)
            table[:, :2] = (points[:, :2] - 0.5) * pixel_size
            table[:, 2:4] = on_lens
            if diffracted:
                table[:, 4:] = airy_points(points[:, 4:])
    return tables


def _points_on_lens(sobol: qmc.Sobol, rays: int, shape: LensShape) -> tuple[Float64, Float64]:
    """Points of the sequence (rays, dimensions) and their places on the lens (rays, 2): the first that hit it."""
    points = sobol.random(rays)
    on_lens = concentric_disc(points[:, 2:4]) * (shape.radius * shape.reach)
    if shape.reach == 1:
        return points, on_lens
    while True:
        inside = np.ones(len(points), np.bool_)
        for side in np.radians(shape.sides):
            inside &= np.abs(on_lens @ [np.cos(side), np.sin(side)]) <= shape.radius
        if np.count_nonzero(inside) >= rays:
            return points[inside][:rays], on_lens[inside][:rays]
        points = np.concatenate([points, sobol.random(rays)])
        on_lens = concentric_disc(points[:, 2:4]) * (shape.radius * shape.reach)


def concentric_disc(square: Float64) -> Float64:
    """Unit square (n, 2) → unit disc, keeping areas and neighbourhoods (Shirley and Chiu's concentric map)."""
    a, b = (2 * square - 1).T
    wide = np.abs(a) > np.abs(b)
    radius = np.where(wide, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(wide, np.pi / 4 * (b / a), np.pi / 2 - np.pi / 4 * (a / b))
    angle = np.where(radius == 0, 0.0, angle)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def airy_points(square: Float64) -> Float64:
    """Unit square (n, 2) → places (n, 2) in the Airy pattern, in λ N: within v = π r/(λ N) lies 1 − J0(v)² − J1(v)²."""
    disc = concentric_disc(square)
    part = (disc**2).sum(axis=1)  # of the light within: even in [0, 1]
    v = np.linspace(0, AIRY_REACH, 4001)
    within = 1 - j0(v) ** 2 - j1(v) ** 2
    radius = np.interp(part, within / within[-1], v / np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part[:, None] > 0, disc * (radius / np.sqrt(part))[:, None], 0.0)
