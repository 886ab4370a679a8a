"""The surface of a body as triangles. A field gives the body: negative inside, outside about the distance from it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.sim.scenes.sweeps import Surface

Array = NDArray[np.float64]
Triangles = NDArray[np.int32]
Field = Callable[[Array], Array]  # points (n, 3) mm → values (n,)

POLISHING_STEPS = 2
MERGED = 0.01  # of a step of the grid: vertices closer than this become one
FIRST_STEP = 2.0  # mm, of the surface that tells how fine the grid must be
BLOCK = 4  # points a side: blocks far from the surface are sampled at their centre only
BLOCKS_AT_A_TIME = 4096
STEEPEST, ROUGHNESS = 1.5, 1.0  # how much faster than the distance a field may grow, and by how many mm it may jump


def surface_of(field: Field, low: ArrayLike, high: ArrayLike, triangles: int) -> Surface:
    """Closed surface of about `triangles` triangles, turned outwards: vertices (n, 3) mm and faces (f, 3).

    The box from `low` to `high` (3,) mm must hold the body, with room to spare.
    """
    box = np.asarray(low, np.float64), np.asarray(high, np.float64)
    # Their number grows with 1/step².
    step = FIRST_STEP * np.sqrt(len(_net(field, *box, FIRST_STEP)[1]) / triangles)
    vertices, faces = _net(field, *box, float(step))
    return _merge_vertices(_polish(field, vertices, float(step)), faces, MERGED * float(step))


def _net(field: Field, low: Array, high: Array, step: float) -> tuple[Array, Triangles]:
    """The naive surface net: a vertex in every cell of a grid that the surface crosses, a quad over every such edge."""
    values = _sampled(field, low, high, step)
    inside = values < 0
    corners = [_corner(inside, offset) for offset in product((0, 1), repeat=3)]
    mixed = np.logical_or.reduce(corners) & ~np.logical_and.reduce(corners)
    number = np.full(mixed.shape, -1, np.int32)
    number[mixed] = np.arange(np.count_nonzero(mixed), dtype=np.int32)
    vertices: Array = low + step * _cell_vertices(values, mixed)
    quads = np.concatenate([_quads(inside, number, axis) for axis in range(3)])
    return vertices, _split(vertices, quads)


def _sampled(field: Field, low: Array, high: Array, step: float) -> Array:
    """The field on a grid from `low` to at least `high`. Far from the surface only the sign of the values is right."""
    blocks = np.ceil(((high - low) / step + 1) / BLOCK).astype(int)
    centers = low + step * (BLOCK * np.argwhere(np.ones(blocks, bool)) + (BLOCK - 1) / 2)
    middle = field(centers)
    reach = np.sqrt(3) / 2 * (BLOCK - 1) * step + step
    near = np.flatnonzero(np.abs(middle) < STEEPEST * reach + ROUGHNESS)
    values = np.repeat(middle[:, None], BLOCK**3, axis=1)
    offsets = step * (np.argwhere(np.ones((BLOCK,) * 3, bool)) - (BLOCK - 1) / 2)
    for some in np.array_split(near, len(near) // BLOCKS_AT_A_TIME + 1):
        values[some] = field((centers[some, None] + offsets).reshape(-1, 3)).reshape(-1, BLOCK**3)
    in_blocks = values.reshape(*blocks, BLOCK, BLOCK, BLOCK).transpose(0, 3, 1, 4, 2, 5)
    return in_blocks.reshape(blocks * BLOCK)


def _corner(grid: NDArray[np.generic], offset: tuple[int, ...]) -> NDArray[np.generic]:
    """One corner of every cell of a grid of points."""
    return grid[tuple(slice(o, n - 1 + o) for o, n in zip(offset, grid.shape, strict=True))]


def _cell_vertices(values: Array, mixed: NDArray[np.bool_]) -> Array:
    """Mean of the crossings on the twelve edges of each mixed cell, (n, 3) in steps of the grid."""
    total, count = np.zeros((np.count_nonzero(mixed), 3)), np.zeros(np.count_nonzero(mixed))
    for axis in range(3):
        for offset in product((0, 1), repeat=2):
            start = (*offset[:axis], 0, *offset[axis:])
            end = (*offset[:axis], 1, *offset[axis:])
            a, b = np.asarray(_corner(values, start)[mixed]), np.asarray(_corner(values, end)[mixed])
            crossing = (a < 0) != (b < 0)
            share = np.where(crossing, a / np.where(crossing, a - b, 1.0), 0.0)
            total += crossing[:, None] * np.array(start)
            total[:, axis] += share
            count += crossing
    return np.argwhere(mixed) + total / count[:, None]


def _quads(inside: NDArray[np.bool_], number: Triangles, axis: int) -> Triangles:
    """The four cells around every edge along `axis` that the surface crosses, (n, 4), turned outwards."""
    swapped, cells = np.moveaxis(inside, axis, 0), np.moveaxis(number, axis, 0)
    flips = (swapped[:-1] != swapped[1:])[:, 1:-1, 1:-1]
    i, j, k = np.nonzero(flips)
    around = [cells[i, j + a, k + b] for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    quads = np.stack(around, axis=1)
    # moveaxis keeps the handedness of the axes for x and z, and turns it for y.
    outwards = swapped[i, j + 1, k + 1] != (axis == 1)
    return np.where(outwards[:, None], quads, quads[:, ::-1])


def _split(vertices: Array, quads: Triangles) -> Triangles:
    """Two triangles for each quad, along its shorter diagonal."""
    p = vertices[quads]
    turned = np.linalg.norm(p[:, 0] - p[:, 2], axis=1) > np.linalg.norm(p[:, 1] - p[:, 3], axis=1)
    q = np.where(turned[:, None], np.roll(quads, -1, axis=1), quads)
    return np.concatenate([q[:, [0, 1, 2]], q[:, [0, 2, 3]]]).astype(np.int32)


def _merge_vertices(vertices: Array, faces: Triangles, tolerance: float) -> Surface:
    """Merge vertices closer than about `tolerance` and drop the triangles between them: the surface stays closed."""
    cells = np.round(vertices / tolerance).astype(np.int64)
    _, first, index = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = index.ravel()[faces].astype(np.int32)
    return Surface(vertices[first], faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)])


def _polish(field: Field, vertices: Array, step: float) -> Array:
    """Move the vertices onto the surface along the field's gradient, by a third of a step of the grid at most."""
    moved, nudge = vertices, 0.01 * step
    for _ in range(POLISHING_STEPS):
        value = field(moved)
        gradient = np.stack([field(moved + shift) - value for shift in nudge * np.eye(3)], axis=1) / nudge
        square = np.maximum((gradient**2).sum(axis=1), 1e-2)
        moved = moved - (value / square)[:, None] * gradient
        offset = moved - vertices
        length = np.linalg.norm(offset, axis=1, keepdims=True)
        moved = vertices + offset * np.minimum(1.0, step / 3 / np.maximum(length, 1e-12))
    return moved


# --- fields of simple bodies -------------------------------------------------------------------------------------


def ellipsoid(p: Array, center: ArrayLike, radii: ArrayLike) -> Array:
    """Almost the distance from an ellipsoid along the axes."""
    q = p - np.asarray(center)
    scaled = np.linalg.norm(q / np.asarray(radii), axis=1)
    slope = np.linalg.norm(q / np.square(radii), axis=1)
    return np.asarray(scaled * (scaled - 1) / np.maximum(slope, 1e-9))


def limb(p: Array, points: ArrayLike, radii: ArrayLike) -> Array:
    """A chain of rods with round ends through `points` (m, 3); its radius goes from one of `radii` (m,) to the next."""
    path, thickness = np.asarray(points, np.float64), np.asarray(radii, np.float64)
    nearest = np.full(len(p), np.inf)
    for a, b, ra, rb in zip(path[:-1], path[1:], thickness[:-1], thickness[1:], strict=True):
        along = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        nearest = np.minimum(nearest, np.linalg.norm(p - a - along[:, None] * (b - a), axis=1) - ra - along * (rb - ra))
    return nearest


def block(p: Array, center: ArrayLike, half: ArrayLike) -> Array:
    """A box along the axes."""
    q = np.abs(p - np.asarray(center)) - np.asarray(half)
    return np.asarray(np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0))


def drum(p: Array, low: float, high: float, radius_low: float, radius_high: float) -> Array:
    """A cylinder about the y axis from y = low to high, or a cone where the radii differ."""
    share = np.clip((p[:, 1] - low) / (high - low), 0, 1)
    slant = (radius_high - radius_low) / (high - low)
    wall = (np.hypot(p[:, 0], p[:, 2]) - radius_low - share * (radius_high - radius_low)) / np.hypot(1, slant)
    ends = np.abs(p[:, 1] - (low + high) / 2) - (high - low) / 2
    return np.asarray(np.maximum(wall, ends))


def blend(width: float, *fields: Array) -> Array:
    """The union of bodies, their seams filled over about `width` mm."""
    total = fields[0]
    for field in fields[1:]:
        share = np.clip(0.5 + 0.5 * (field - total) / width, 0, 1)
        total = field + share * (total - field) - width * share * (1 - share)
    return total


def mirrored(p: Array) -> Array:
    """The points with |x| for x: what a field adds on one side, it adds on both."""
    return np.column_stack([np.abs(p[:, 0]), p[:, 1:]])
