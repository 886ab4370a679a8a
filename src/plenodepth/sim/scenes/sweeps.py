"""Surfaces that a curve sweeps: turned on a lathe, pulled along a path, or a ball pushed in and out."""

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
    """A profile of (radius, height) mm turned about the y axis; it starts and ends on the axis (radius 0).

    It runs from the bottom up along the outside; `ripple` makes the body other than round. Vertices (n, 3), faces
    (f, 3) turned outwards.
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
    angle = np.arange(spokes) * (2 * np.pi / spokes)
    r, h, a = radius[1:-1, None], height[1:-1, None], angle[None, :]
    if ripple is not None:
        r = r * ripple(a, h)
    body = np.stack(np.broadcast_arrays(r * np.cos(a), h, r * np.sin(a)), axis=-1).reshape(-1, 3)
    vertices = np.concatenate([body, [[0, height[0], 0], [0, height[-1], 0]]])
    bottom, top = len(body), len(body) + 1
    here = np.arange(spokes)
    after = (here + 1) % spokes
    last = (rings - 1) * spokes
    caps = [
        np.stack([np.full(spokes, bottom), here, after], axis=1),
        np.stack([np.full(spokes, top), last + after, last + here], axis=1),
    ]
    return Surface(vertices, np.concatenate([_grid_faces(rings, spokes, wrap=False), *caps]).astype(np.int32))


def tube(center: Array, side: Array, up: Array, radius: float, spokes: int) -> Surface:
    """A closed tube about the closed curve `center` (n, 3) mm; `side` and `up` (n, 3) are unit, across the curve."""
    angle = np.arange(spokes) * (2 * np.pi / spokes)
    around = np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * up[:, None]
    vertices = (center[:, None] + radius * around).reshape(-1, 3)
    return outwards(Surface(vertices, _grid_faces(len(center), spokes, wrap=True)))


def ball(triangles: int) -> Surface:
    """A ball of radius 1 made of triangles almost alike: the faces of an octahedron, each divided n times a side."""
    n = max(2, round(np.sqrt(triangles / 8)))
    i, j = (index.ravel() for index in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    i, j = i[i + j <= n], j[i + j <= n]
    number = np.full((n + 2, n + 2), -1)
    number[i, j] = np.arange(len(i))
    low = i + j < n
    high = i + j < n - 1
    upright = np.stack([number[i, j], number[i + 1, j], number[i, j + 1]], axis=1)[low]
    hanging = np.stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]], axis=1)[high]
    face = np.concatenate([upright, hanging])
    corner = np.stack([i, j, n - i - j], axis=1)
    points, faces = [], []
    for octant in range(8):
        signs = np.array([1 - 2 * (octant >> bit & 1) for bit in range(3)])
        faces.append((face if signs.prod() > 0 else face[:, ::-1]) + octant * len(corner))
        points.append(corner * signs)
    # Octants share the points of their edges, exactly since they are whole numbers.
    whole, index = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    # The angle, not the sine, is divided evenly: triangles in the middle of a face would else be thrice the others.
    even = np.sin(whole / n * (np.pi / 2))
    points_on_ball = even / np.linalg.norm(even, axis=1, keepdims=True)
    return Surface(points_on_ball, index.ravel()[np.concatenate(faces)].astype(np.int32))


def joined(*parts: Surface) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
    return Surface(np.concatenate([part.vertices for part in parts]), np.concatenate(faces).astype(np.int32))


def outwards(surface: Surface) -> Surface:
    """The same closed surface, its faces turned so that the volume within is positive."""
    if volume(surface) > 0:
        return surface
    return Surface(surface.vertices, np.ascontiguousarray(surface.faces[:, ::-1]))


def volume(surface: Surface) -> float:
    """Volume within a closed surface, mm³; negative where its faces are turned inwards."""
    a, b, c = surface.vertices[surface.faces].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


def _grid_faces(rows: int, columns: int, *, wrap: bool) -> Triangles:
    """Triangles (n, 3) over a grid of points whose columns, and with `wrap` also rows, close into rings."""
    i, j = (index.ravel() for index in np.meshgrid(np.arange(rows - (not wrap)), np.arange(columns), indexing="ij"))
    below, beside = (i + 1) % rows, (j + 1) % columns
    a, b, c, d = i * columns + j, below * columns + j, below * columns + beside, i * columns + beside
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]).astype(np.int32)
