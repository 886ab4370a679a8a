"""Rays against simple shapes."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import inlined

f4 = np.float32

RECTANGLE, CHECKERBOARD, SPHERE, BOX, MESH = range(5)

# Columns of the numbers of an object (`PackedScene.objects`); the first 12 are the rows of local_from_cam (3 × 4).
SIZE = 12  # 4: half sizes, or square, margin, columns, rows of a board
# Column of the integers of an object (`PackedScene.kinds`); the others are in `colors.py`.
SHAPE = 0


@inlined
def to_local(objects, i, ox, oy, sx, sy):
    """Origin and direction of a ray in an object's frame."""
    return (
        objects[i, 0] * ox + objects[i, 1] * oy + objects[i, 3],
        objects[i, 4] * ox + objects[i, 5] * oy + objects[i, 7],
        objects[i, 8] * ox + objects[i, 9] * oy + objects[i, 11],
        objects[i, 0] * sx + objects[i, 1] * sy + objects[i, 2],
        objects[i, 4] * sx + objects[i, 5] * sy + objects[i, 6],
        objects[i, 8] * sx + objects[i, 9] * sy + objects[i, 10],
    )


@inlined
def hit_depth(objects, i, shape, ox, oy, sx, sy):
    """Depth at which a ray enters an object, infinite where it misses."""
    px, py, pz, dx, dy, dz = to_local(objects, i, ox, oy, sx, sy)
    miss = f4(np.inf)
    if shape in (RECTANGLE, CHECKERBOARD):
        t = -pz / dz
        x, y = px + t * dx, py + t * dy
        if shape == RECTANGLE:
            inside = abs(x) <= objects[i, SIZE] and abs(y) <= objects[i, SIZE + 1]
        else:
            low = -objects[i, SIZE] - objects[i, SIZE + 1]
            inside = (
                x >= low
                and y >= low
                and x <= objects[i, SIZE + 2] * objects[i, SIZE] + objects[i, SIZE + 1]
                and y <= objects[i, SIZE + 3] * objects[i, SIZE] + objects[i, SIZE + 1]
            )
        return t if inside and t > 0 else miss
    if shape == SPHERE:
        a = dx * dx + dy * dy + dz * dz
        b = px * dx + py * dy + pz * dz
        # The distance of the line from the centre, from the nearest point: stable far away from a small ball.
        t = -b / a
        x, y, z = px + t * dx, py + t * dy, pz + t * dz
        square = objects[i, SIZE] * objects[i, SIZE] - (x * x + y * y + z * z)
        if square < 0:
            return miss
        half = math.sqrt(square / a)
        return t - half if t > half else (t + half if t + half > 0 else miss)
    if shape == BOX:
        first, last = f4(0), miss
        for axis in range(3):
            p, d = (px, dx) if axis == 0 else ((py, dy) if axis == 1 else (pz, dz))
            half = objects[i, SIZE + axis]
            if d == 0:
                if abs(p) > half:
                    return miss
            else:
                t0, t1 = (-half - p) / d, (half - p) / d
                first, last = max(first, min(t0, t1)), min(last, max(t0, t1))
        if first >= last or last <= 0:
            return miss
        return first if first > 0 else last  # from inside, the far wall
    return miss


@inlined
def nearest_object(objects, kinds, ox, oy, sx, sy):
    """Depth and index of the first simple shape that a ray meets; infinite and −1 where it meets none."""
    best, index = f4(np.inf), -1
    for i in range(objects.shape[0]):
        depth = hit_depth(objects, i, kinds[i, SHAPE], ox, oy, sx, sy)
        if depth < best:
            best, index = depth, i
    return best, index
