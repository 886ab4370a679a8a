"""Which micro-image is nearest to a place in the image, compiled: what `MicroImageArray.owner` says, pixel by pixel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import MicroImageArray
from plenodepth.compiling import compiled, formula, inner
from plenodepth.geometry import Arrangement
from plenodepth.geometry.lattice import SIN_60

i8 = np.int64


class GridInImage(NamedTuple):
    """A lattice of micro-images as compiled functions take it."""

    columns: int
    rows: int
    shape: int  # 0: orthogonal, 1: hexagonal by rows, 2: hexagonal by columns
    shifted_parity: int
    pitch: NDArray[np.float64]  # (2,) px
    lattice_from_image: NDArray[np.float64]  # (2, 3): rotation and translation


def grid_in_image(micro_images: MicroImageArray) -> GridInImage:
    """The lattice of micro-images, packed."""
    lattice, pose = micro_images.lattice, micro_images.image_from_lattice.inverse()
    assert lattice.shifted_parity is not None
    return GridInImage(
        lattice.columns,
        lattice.rows,
        list(Arrangement).index(lattice.arrangement),
        lattice.shifted_parity,
        lattice.pitch.copy(),  # for a read-only array all functions would be compiled once more
        np.column_stack([pose.rotation, pose.translation]),
    )


@formula
def distance_to_line(line, along, across, shift, parity, pitch_along, pitch_across):
    """Squared distance, px², to the nearest node on a line of a hexagonal lattice, and its step along the line."""
    offset = shift if line % 2 == parity else 0.0
    step = math.floor(along / pitch_along - offset + 0.5)
    return ((step + offset) * pitch_along - along) ** 2 + (line * pitch_across - across) ** 2, i8(step)


@inner
def nearest_node(grid, u, v):
    """Indices k, l of the node nearest to the place (u, v), px; they may lie beyond the lattice (`Lattice.nearest`)."""
    pose = grid.lattice_from_image
    x, y = pose[0, 0] * u + pose[0, 1] * v + pose[0, 2], pose[1, 0] * u + pose[1, 1] * v + pose[1, 2]
    if grid.shape == 0:
        return i8(math.floor(x / grid.pitch[0] + 0.5)), i8(math.floor(y / grid.pitch[1] + 0.5))
    by_rows = grid.shape == 1
    along, across = (x, y) if by_rows else (y, x)
    pitch_along = grid.pitch[0] if by_rows else grid.pitch[1]
    pitch_across = (grid.pitch[1] if by_rows else grid.pitch[0]) * SIN_60
    shift = 0.5 if by_rows else -0.5
    line = i8(math.floor(across / pitch_across))
    near, step = distance_to_line(line, along, across, shift, grid.shifted_parity, pitch_along, pitch_across)
    other, next_step = distance_to_line(line + 1, along, across, shift, grid.shifted_parity, pitch_along, pitch_across)
    if other < near:
        line, step = line + 1, next_step
    return (step, line) if by_rows else (line, step)


@compiled
def find_owners(first, last, grid, owner):
    """Write l · columns + k of the nearest micro-image, −1 beyond the array, into rows first … last − 1 of `owner`."""
    for row in range(first, last):
        for column in range(owner.shape[1]):
            k, l = nearest_node(grid, float(column), float(row))
            inside = 0 <= k < grid.columns and 0 <= l < grid.rows
            owner[row, column] = l * grid.columns + k if inside else -1
