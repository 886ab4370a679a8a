"""Where pixels look: from a pixel and its virtual depth to the point in the scene, row by row of the image."""

from __future__ import annotations

import math

from plenodepth.compiling import compiled, inlined

NEWTON_STEPS = 30
NEWTON_TOLERANCE = 1e-10  # mm: a ten-thousandth of what matters
FOLDED = 1e-6  # mm: a point whose distortion is this far from undone lies beyond a fold of it


@inlined
def centroid_at(optics, lens, distance):
    """Centroid, px, of the open part of the lens for a pixel `distance` px from the pupil's image, which has light."""
    at = distance * optics.per_pixel[lens] * (optics.centroid.shape[1] - 1)
    entry = min(int(at), optics.centroid.shape[1] - 2)
    rest, part, table = at - entry, optics.part[lens], optics.table[lens]
    one = optics.centroid[table, entry] + rest * (optics.centroid[table, entry + 1] - optics.centroid[table, entry])
    other = optics.centroid[table + 1, entry]
    other += rest * (optics.centroid[table + 1, entry + 1] - other)
    return one + part * (other - one)


@inlined
def is_dark(optics, lens, u, v):
    """Whether a pixel (u, v) of a lens' micro-image gets no light."""
    if not optics.clipped:
        return False
    x, y = u - optics.pupil_image[lens, 0], v - optics.pupil_image[lens, 1]
    return (x * x + y * y) * optics.per_pixel[lens] ** 2 > 1


@inlined
def chief_ray(optics, lens, u, v, inverse_depth):
    """Where an unclipped pixel would show what the pixel (u, v) shows at 1/v, px. The pixel gets light."""
    if not optics.clipped:
        return u, v
    middle_u, middle_v = optics.pupil_image[lens, 0], optics.pupil_image[lens, 1]
    x, y = u - middle_u, v - middle_v
    distance = math.sqrt(x * x + y * y)
    shift = (inverse_depth - optics.inverse_focus[lens]) * centroid_at(optics, lens, distance)
    stretch = 1 + shift / max(distance, 1e-12)
    return middle_u + x * stretch, middle_v + y * stretch


@inlined
def virtual_point(optics, lens, u, v, depth):
    """The (distorted) point behind the main lens, mm, that a pixel sees at virtual depth: C + depth (X − C)."""
    u, v = chief_ray(optics, lens, u, v, 1 / depth)
    x, y, z = optics.lens_center[lens, 0], optics.lens_center[lens, 1], optics.lens_center[lens, 2]
    on_sensor_x, on_sensor_y = optics.sensor[0] - optics.sensor[3] * u, optics.sensor[1] - optics.sensor[3] * v
    return x + depth * (on_sensor_x - x), y + depth * (on_sensor_y - y), z + depth * (optics.sensor[2] - z)


@compiled
def undistort(x, y, count, coefficients, guess_x, guess_y):
    """φ⁻¹ of the first `count` points x, y (n,) mm by Newton's method, into guess_x and guess_y; NaN beyond a fold.

    All points take a step at a time, so that the loop becomes vector instructions.
    """
    q1, q2, q3 = coefficients[0], coefficients[1], coefficients[2]
    p1, p2 = coefficients[3], coefficients[4]
    for n in range(count):
        guess_x[n], guess_y[n] = x[n], y[n]
    if q1 == 0 and q2 == 0 and q3 == 0 and p1 == 0 and p2 == 0:
        return
    for _ in range(NEWTON_STEPS):
        total = 0.0
        for n in range(count):
            a, b = guess_x[n], guess_y[n]
            s = a * a + b * b
            radial, slope = s * (q1 + s * (q2 + s * q3)), 2 * (q1 + s * (2 * q2 + s * 3 * q3))
            error_x = a + a * radial + p1 * (s + 2 * a * a) + 2 * p2 * a * b - x[n]
            error_y = b + b * radial + p2 * (s + 2 * b * b) + 2 * p1 * a * b - y[n]
            straight = 1 + radial + 2 * p1 * a + 2 * p2 * b
            xx, yy = straight + slope * a * a + 4 * p1 * a, straight + slope * b * b + 4 * p2 * b
            xy = slope * a * b + 2 * p1 * b + 2 * p2 * a
            per_determinant = 1 / (xx * yy - xy * xy)
            guess_x[n] = a - (yy * error_x - xy * error_y) * per_determinant
            guess_y[n] = b - (xx * error_y - xy * error_x) * per_determinant
            total += error_x * error_x + error_y * error_y  # before this step; after it, less than its square is left
        if total < NEWTON_TOLERANCE:
            return
    for n in range(count):
        a, b = guess_x[n], guess_y[n]
        s = a * a + b * b
        radial = s * (q1 + s * (q2 + s * q3))
        error_x = a + a * radial + p1 * (s + 2 * a * a) + 2 * p2 * a * b - x[n]
        error_y = b + b * radial + p2 * (s + 2 * b * b) + 2 * p1 * a * b - y[n]
        if not abs(error_x) + abs(error_y) <= FOLDED:
            guess_x[n] = guess_y[n] = math.nan


@inlined
def object_scale(optics, z):
    """What a point behind the main lens (z < 0, mm) is multiplied by to give the scene's point, Γ included.

    NaN at or beyond infinity.
    """
    if not z < -optics.focal:
        return math.nan
    magnification = optics.focal / (z + optics.focal)
    depth = magnification * z
    scaled = optics.depth_scale[0] + depth * (optics.depth_scale[1] + depth * optics.depth_scale[2])
    return magnification * scaled / depth


@inlined
def entry_of(refined, lens, row, column, width):
    """Where a pixel's depth stands in a flat map: at the pixel itself if refined, else at its lens."""
    return row * width + column if refined else lens
