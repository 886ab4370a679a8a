"""Surfaces that a curve sweeps: a profile turned on a lathe, a tube, and a ball."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

Array = NDArray[np.float64]
Triangles = NDArray[np.int32]
Ripple = Callable[[Array, Array], Array]  # (angle, height) → factor of the radius


class Surface(NamedTuple):
    """Triangles: `faces` (f, 3) over `vertices` (n, 3) mm."""

    vertices: Array
    faces: Triangles


def lathe(profile: Sequence[tuple[float, float]], triangles: int, ripple: Ripple | None = None) -> Surface:
    """A profile of (radius, height) mm turned about the y axis: a closed surface of about `triangles` triangles.

    The profile starts and ends on the axis (radius 0) and runs from the bottom up along the outside. `ripple` changes
    the radius with angle and height.
    """
    points = np.array(profile, np.float64)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    total = float(lengths.sum())
    mean_radius = float(((points[1:, 0] + points[:-1, 0]) / 2 * lengths).sum()) / total
    rings = max(8, round(np.sqrt(triangles / 2 * total / (2 * np.pi * mean_radius))))
    spokes = max(8, round(triangles / 2 / rings))
    # No overshoot between the points, so that close pairs of them make the sharp edges of turned work.
    along = np.linspace(0, total, rings + 2)
    radius, height = PchipInterpolator(np.r_[0, np.cumsum(lengths)], points, axis=0)(along).T
    r, h, a = radius[1:-1, None], height[1:-1, None], angles(spokes)[None, :]
    if ripple is not None:
        r = r * ripple(a, h)
    body = np.stack(np.broadcast_arrays(r * np.cos(a), h, r * np.sin(a)), axis=-1).reshape(-1, 3)
    vertices = np.concatenate([body, [[0, height[0], 0], [0, height[-1], 0]]])
    here = np.arange(spokes)
    after, last = (here + 1) % spokes, len(body) - spokes
    bottom = np.stack([np.full(spokes, len(body)), here, after], axis=1)
    top = np.stack([np.full(spokes, len(body) + 1), last + after, last + here], axis=1)
    return Surface(vertices, np.concatenate([grid_faces(rings, spokes), bottom, top]).astype(np.int32))


def ball(triangles: int) -> Surface:
    """A ball of radius 1 made of triangles almost alike: the faces of an octahedron, each divided n times a side."""
    n = max(2, round(np.sqrt(triangles / 8)))
    i, j = np.nonzero(np.add.outer(np.arange(n + 1), np.arange(n + 1)) <= n)
    number = np.full((n + 2, n + 2), -1)
    number[i, j] = np.arange(len(i))
    upright = np.stack([number[i, j], number[i + 1, j], number[i, j + 1]], axis=1)[i + j < n]
    hanging = np.stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]], axis=1)[i + j < n - 1]
    face = np.concatenate([upright, hanging])
    corner = np.stack([i, j, n - i - j], axis=1)
    points, faces = [], []
    for octant in range(8):
        signs = np.array([1 - 2 * (octant >> bit & 1) for bit in range(3)])
        faces.append((face if signs.prod() > 0 else face[:, ::-1]) + octant * len(corner))
        points.append(corner * signs)
    # Octants share the points of their edges, exactly, since these are whole numbers.
    shared, index = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    # The angle, not the sine, is divided evenly: otherwise triangles in the middle of a face are thrice the others.
    even = np.sin(shared / n * (np.pi / 2))
    vertices = even / np.linalg.norm(even, axis=1, keepdims=True)
    return Surface(vertices, index.ravel()[np.concatenate(faces)].astype(np.int32))


def tube(center: Array, side: Array, up: Array, radius: float, spokes: int) -> Surface:
    """A closed tube about the closed curve `center` (n, 3) mm; `side` and `up` (n, 3) are unit, across the curve.

    Faces are turned outwards where side, up and the curve's direction make a right-handed frame.
    """
    angle = angles(spokes)
    around = np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * up[:, None]
    vertices = (center[:, None] + radius * around).reshape(-1, 3)
    return Surface(vertices, grid_faces(len(center), spokes, close=True)[:, ::-1])


def angles(count: int) -> Array:
    """Angles (count,) in rad, evenly around a circle from 0 on."""
    return np.asarray(np.arange(count) * (2 * np.pi / count), np.float64)


def grid_faces(rows: int, columns: int, *, close: bool = False) -> Triangles:
    """Triangles (n, 3) over a grid of points whose rows are rings; with `close` the last row joins the first."""
    i, j = (index.ravel() for index in np.indices((rows if close else rows - 1, columns)))
    below, beside = (i + 1) % rows, (j + 1) % columns
    a, b, c, d = i * columns + j, below * columns + j, below * columns + beside, i * columns + beside
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]).astype(np.int32)
