"""The nearest point of a cloud, or the nearest triangle of a mesh, to each of millions of points: exact, by a box tree.

SciPy and trimesh give the same distances, but slower. For 2 million points 10 mm beside a cloud of 2 million, the whole
of `evaluate cloud` takes 5 times as long with SciPy's cKDTree at its best leaf size; for 200,000 points beside 200,000
triangles, trimesh.proximity takes 55 times as long as this module (benchmarks/bench_evaluate_cloud.py).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.kernels.nearest import nearest
from plenodepth.evaluate.clouds.kernels.tree import median_order, node_boxes
from plenodepth.progress import Progress, no_progress

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

POINTS_AT_A_TIME = 1 << 15  # of a thread; fixed, so that the result does not depend on the number of threads
POINTS_OF_A_LEAF = 16
TRIANGLES_OF_A_LEAF = 4


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest of some items to each of n points; ∞ and −1 where none is nearer than the cap."""

    distance: Float64  # (n,) mm
    index: Int64  # (n,) of the point or of the triangle


def nearest_points(
    points: ArrayLike,
    others: ArrayLike,
    *,
    cap: float = np.inf,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Nearest:
    """The nearest of `others` (m, 3) to each of `points` (n, 3), mm, if it is nearer than `cap`.

    A cap makes it faster where clouds are far apart. Points in the order of an image are faster than shuffled ones.
    """
    queries, cloud = checked_points(points, "points"), checked_points(others, "others")
    levels, items = _levels(len(cloud), POINTS_OF_A_LEAF), cloud.copy()
    order = median_order(items, levels)
    boxes = node_boxes(items, items, levels)
    return _search(queries, items, boxes, levels, order, cap, threads, progress)


def nearest_triangles(
    points: ArrayLike,
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    cap: float = np.inf,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Nearest:
    """The nearest triangle of a mesh (vertices (v, 3) mm, faces (f, 3)) to each of `points` (n, 3), mm.

    The distance is to the nearest place of the triangle, inside, on an edge or at a corner.
    """
    queries, corners = checked_points(points, "points"), mesh_corners(vertices, faces)
    levels, middle = _levels(len(corners), TRIANGLES_OF_A_LEAF), corners.mean(axis=1)
    order = median_order(middle, levels)
    corners = corners[order]
    boxes = node_boxes(corners.min(axis=1), corners.max(axis=1), levels)
    first = corners[:, 0]
    items = np.concatenate([first, corners[:, 1] - first, corners[:, 2] - first], axis=1)
    return _search(queries, items, boxes, levels, order, cap, threads, progress)


def checked_points(points: ArrayLike, field: str) -> Float64:
    """Points as (n, 3) float64; refuses an empty cloud and what is not finite."""
    cloud = np.require(points, np.float64, ["C", "W"])  # one kind of array, so that kernels are compiled once
    if cloud.ndim != 2 or cloud.shape[1] != 3:
        raise InputError(f"has shape {cloud.shape}, needs (n, 3)", field=field)
    if not len(cloud):
        raise InputError("has no point", field=field)
    if not np.isfinite(cloud).all():
        raise InputError("holds a coordinate that is not finite", field=field, fix="leave points without depth out")
    return cloud


def mesh_corners(vertices: ArrayLike, faces: ArrayLike) -> Float64:
    """The corners (f, 3, 3) of the triangles of a mesh, mm."""
    points, triangles = checked_points(vertices, "vertices"), np.asarray(faces)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise InputError(f"has shape {triangles.shape}, needs triangles (f, 3)", field="faces")
    if not np.issubdtype(triangles.dtype, np.integer) or triangles.min() < 0 or triangles.max() >= len(points):
        raise InputError("a triangle names a vertex that is not there", field="faces")
    return np.asarray(points[triangles])


def _levels(items: int, of_a_leaf: int) -> int:
    return max(0, int(np.ceil(np.log2(items / of_a_leaf))))


def _search(
    queries: Float64,
    items: Float64,
    boxes: Float64,
    levels: int,
    order: Int64,
    cap: float,
    threads: int | None,
    progress: Progress,
) -> Nearest:
    if not cap > 0:
        raise InputError(f"is {cap:g} mm, needs a number > 0", field="cap")
    squared, index = np.empty(len(queries)), np.empty(len(queries), np.int64)
    starts = range(0, len(queries), POINTS_AT_A_TIME)

    def part(start: int) -> Any:
        rows = slice(start, start + POINTS_AT_A_TIME)
        nearest(queries[rows], items, boxes, levels, float(cap) ** 2, squared[rows], index[rows])

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for start, _ in zip(starts, pool.map(part, starts), strict=True):
            progress(min(start + POINTS_AT_A_TIME, len(queries)), len(queries), "distances")
    found = index >= 0
    index[found] = order[index[found]]
    return Nearest(np.sqrt(squared, out=squared), index)
