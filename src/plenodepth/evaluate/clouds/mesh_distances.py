"""Distances from a cloud to a triangle mesh, exactly, and points on a mesh for the way back.

Against a mesh there is no spacing of the reference's points to limit the accuracy, as there is against a cloud. For
completeness, take points of the mesh by `sample_mesh`, keep those that the camera can see, and look for each in the
cloud with `nearest_points`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.distances import DirectedDistances, directed_distances
from plenodepth.evaluate.clouds.nearest import mesh_corners, nearest_triangles
from plenodepth.progress import Progress, no_progress

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeshDistances:
    """Distances of n points to a mesh, mm."""

    distance: Float64  # (n,) to the nearest place of any triangle; ∞ beyond the cap
    face: NDArray[np.int64]  # (n,) that triangle; −1 beyond the cap
    accuracy: DirectedDistances


def compare_to_mesh(
    reading: ArrayLike,
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    cap: float = np.inf,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> MeshDistances:
    """Distances of points (n, 3) to a mesh of vertices (v, 3) and faces (f, 3), all in one frame, mm.

    Distances beyond `cap` count as the cap in the figures.

    >>> corners = [[0.0, 0.0, 900.0], [10.0, 0.0, 900.0], [0.0, 10.0, 900.0]]
    >>> plenodepth.compare_to_mesh([[1.0, 1.0, 902.0], [2.0, 2.0, 901.0]], corners, [[0, 1, 2]]).accuracy.mean
    1.5
    """
    found = nearest_triangles(reading, vertices, faces, cap=cap, threads=threads, progress=progress)
    return MeshDistances(found.distance, found.index, directed_distances(found.distance, cap))


def sample_mesh(vertices: ArrayLike, faces: ArrayLike, count: int, seed: int = 0) -> Float64:
    """Points (count, 3) on a mesh, mm, uniformly by area."""
    corners = mesh_corners(vertices, faces)
    one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.cumsum(np.linalg.norm(np.cross(one, other), axis=1))
    if not area[-1] > 0:
        raise InputError("the mesh has no area", field="faces")
    generator = np.random.default_rng(seed)
    face = np.searchsorted(area, generator.uniform(0, area[-1], count), side="right").clip(max=len(area) - 1)
    along = generator.uniform(size=(count, 2))
    along[along.sum(axis=1) > 1] = 1 - along[along.sum(axis=1) > 1]  # the other half of the parallelogram, folded back
    return np.asarray(corners[face, 0] + along[:, :1] * one[face] + along[:, 1:] * other[face])
