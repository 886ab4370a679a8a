"""The surface that a view sees, as triangles between neighbouring pixels, cut where depth jumps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.render.exports.pixels import MetricView

CUT = 0.01  # of the depth from one pixel to the next: steeper than 87° in a view of 2000 px focal length
MOST_VERTICES = 800_000


class ViewMesh(NamedTuple):
    """Triangles (f, 3) over vertices (n, 3) mm, camera frame, seen from the pinhole, with linear light (n, 3)."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    light: NDArray[np.float32]


def step_for(view: MetricView, most: int = MOST_VERTICES) -> int:
    """Every how many pixels a vertex may stand so that there are at most so many."""
    return max(1, int(np.ceil(np.sqrt(view.depth.size / most))))


def surface_of(view: MetricView, *, step: int = 1, cut: float = CUT) -> ViewMesh:
    """The surface with a vertex at every `step`-th pixel of a row and column.

    Two triangles stand between four neighbours. One is left out where a corner has no depth, or where two corners'
    depths differ by more than `cut` per pixel between them, as a part of the nearer one. A vertex without a triangle is
    left out, too.
    """
    rows, columns = (slice(step // 2, None, step) for _ in range(2))
    depth, light = view.depth[rows, columns], view.view.light[rows, columns]
    points = view.pinhole.points(view.depth)[rows, columns]
    number = np.arange(depth.size, dtype=np.int32).reshape(depth.shape)
    a, b, c, d = (part for part in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    flat = depth.ravel()
    # Of a quad's two diagonals the one between the more alike depths: it follows an edge better.
    with np.errstate(invalid="ignore"):
        rising, falling = np.abs(flat[b] - flat[c]), np.abs(flat[a] - flat[d])
        other = (falling < rising) | np.isnan(rising)
    first = np.where(other[..., None], np.stack([a, c, d], axis=-1), np.stack([a, c, b], axis=-1))
    second = np.where(other[..., None], np.stack([a, d, b], axis=-1), np.stack([b, c, d], axis=-1))
    faces = np.stack([first, second], axis=2).reshape(-1, 3)
    corners = flat[faces]
    with np.errstate(invalid="ignore"):
        low, high = corners.min(axis=1), corners.max(axis=1)
        faces = faces[high - low <= cut * step * low]  # NaN is not
    used, faces = np.unique(faces, return_inverse=True)
    colors = np.broadcast_to(light, (*depth.shape, 3)).reshape(-1, 3)[used]
    return ViewMesh(points.reshape(-1, 3)[used], faces.reshape(-1, 3).astype(np.int32), np.asarray(colors, np.float32))
