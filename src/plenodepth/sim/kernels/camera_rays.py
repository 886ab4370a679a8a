"""Rays from pixels through the lenses into the scene."""

from __future__ import annotations

import numpy as np

from plenodepth.compiling import compiled, inlined

f4 = np.float32
u4 = np.uint32

# Columns of a lens (`RaySetup.lens`). D goes to the exit pupil, and the centre is relative to the pupil's middle.
OFFSET_X, OFFSET_Y, INVERSE_D, INVERSE_F, NEAR_STEP, FAR_STEP, D, SLOPE_X, SLOPE_Y, CENTER_X, CENTER_Y = range(11)


@inlined
def polynomial(chord, j, row, x, y):
    """c0 + c1 x + c2 y + c3 x² + c4 xy + c5 y² with the coefficients of one row of a lens."""
    return (
        chord[j, row, 0]
        + x * (chord[j, row, 1] + x * chord[j, row, 3] + y * chord[j, row, 4])
        + y * (chord[j, row, 2] + y * chord[j, row, 5])
    )


@compiled
def pixel_hash(u, v, seed):
    """A number that looks random, the same for the same pixel and seed."""
    h = u4(u) * u4(0x9E3779B1) ^ u4(v) * u4(0x85EBCA6B) ^ u4(seed) * u4(0xC2B2AE35)
    h ^= h >> u4(15)
    h *= u4(0x2C1B3C6D)
    h ^= h >> u4(12)
    h *= u4(0x297A2D39)
    return h ^ (h >> u4(15))


@inlined
def scene_ray(lens, chord, j, x, y, lens_x, lens_y, near, far):
    """The ray from the pixel point (x, y), relative to the lens centre, through (lens_x, lens_y) on the lens.

    Returns (qx, qy, ox, oy, sx, sy): where it meets the plane of the exit pupil, relative to the pupil's middle, and
    the ray in the scene.
    """
    slope_x = (lens_x - x) * lens[j, INVERSE_D] - lens_x * lens[j, INVERSE_F]
    slope_y = (lens_y - y) * lens[j, INVERSE_D] - lens_y * lens[j, INVERSE_F]
    qx = lens[j, CENTER_X] + lens_x + slope_x * lens[j, D]
    qy = lens[j, CENTER_Y] + lens_y + slope_y * lens[j, D]
    bend_x, bend_y = slope_x - lens[j, SLOPE_X], slope_y - lens[j, SLOPE_Y]
    ex, ey = lens_x + bend_x * lens[j, NEAR_STEP], lens_y + bend_y * lens[j, NEAR_STEP]
    near_x, near_y = polynomial(chord, j, 0, ex, ey), polynomial(chord, j, 1, ex, ey)
    ex, ey = lens_x + bend_x * lens[j, FAR_STEP], lens_y + bend_y * lens[j, FAR_STEP]
    inverse = f4(1) / (far - near)
    sx, sy = (polynomial(chord, j, 2, ex, ey) - near_x) * inverse, (polynomial(chord, j, 3, ex, ey) - near_y) * inverse
    return qx, qy, near_x - near * sx, near_y - near * sy, sx, sy


@compiled
def chief_rays(u, v, j, width, height, lens, chord, pixel_size, near, far, aperture, origins, directions, passes):
    """Rays from image positions (u, v) through the centres of lenses j (−1: straight ahead, not passing).

    Fills origins and directions (n, 3), and passes (n,): whether a ray gets through the main lens' aperture.
    """
    for n in range(len(u)):
        origins[n, 0] = origins[n, 1] = origins[n, 2] = f4(0)
        directions[n, 0], directions[n, 1], directions[n, 2] = f4(0), f4(0), f4(1)
        passes[n] = False
        if j[n] >= 0:
            x = f4(width - 1 - u[n]) * pixel_size + lens[j[n], OFFSET_X]
            y = f4(height - 1 - v[n]) * pixel_size + lens[j[n], OFFSET_Y]
            qx, qy, ox, oy, sx, sy = scene_ray(lens, chord, j[n], x, y, f4(0), f4(0), near, far)
            origins[n, 0], origins[n, 1] = ox, oy
            directions[n, 0], directions[n, 1] = sx, sy
            passes[n] = qx * qx + qy * qy <= aperture * aperture
