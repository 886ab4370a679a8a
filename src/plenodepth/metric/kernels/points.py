"""Where pixels look: from a pixel and its virtual depth to the point in the scene, row by row of the image."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import formula, inlined, inner

f8 = np.float64
i4 = np.int32

Float64 = NDArray[np.float64]

NEWTON_STEPS = 30
NEWTON_TOLERANCE = 1e-10  # mm: a ten-thousandth of what matters
FOLDED = 1e-6  # mm: a point whose distortion is this far from undone lies beyond a fold of it


class RowBuffers(NamedTuple):
    """What the pixels of a row see, (width,) each, mm: virtual points, and x and y of them without distortion."""

    x: Float64
    y: Float64
    z: Float64
    straight_x: Float64
    straight_y: Float64


def empty_row(width: int) -> RowBuffers:
    """Room for the pixels of a row."""
    return RowBuffers(*(np.empty(width) for _ in range(5)))


class LensOptics(NamedTuple):
    """What `PixelOptics` says of one lens. If nothing is clipped its light never ends and its centroid is 0."""

    x: float  # C, camera frame, mm
    y: float
    z: float
    pupil_u: float  # where the lens shows the middle of the pupil, px
    pupil_v: float
    inverse_focus: float  # 1/v0
    per_pixel: float  # 1/px: what a distance from the pupil's image is multiplied by; at 1 the light ends
    part: float  # how much of the second table is in the centroid
    table: np.int32  # the first of its two tables


@inner
def of_lens(optics, lens):
    """The optics of one lens: looked up once, they stay in registers for all its pixels."""
    x, y, z = optics.lens_center[lens, 0], optics.lens_center[lens, 1], optics.lens_center[lens, 2]
    if not optics.clipped:
        return LensOptics(x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, i4(0))
    return LensOptics(
        x,
        y,
        z,
        optics.pupil_image[lens, 0],
        optics.pupil_image[lens, 1],
        optics.inverse_focus[lens],
        optics.per_pixel[lens],
        optics.part[lens],
        optics.table[lens],
    )


@formula
def centroid_at(tables, lens, distance):
    """Centroid, px, of the open part of a lens for a pixel `distance` px from the pupil's image.

    `tables` are those of the optics. `lens` is of `of_lens`, here and below.
    """
    last = tables.shape[1] - 1
    at = min(distance * lens.per_pixel * last, f8(last))
    entry = min(i4(at), i4(last - 1))
    rest = at - entry
    one, other = tables[lens.table, entry], tables[lens.table + 1, entry]
    one += rest * (tables[lens.table, entry + 1] - one)
    other += rest * (tables[lens.table + 1, entry + 1] - other)
    return one + lens.part * (other - one)


@formula
def from_pupil(lens, u, v):
    """Distance, px, of a pixel (u, v) from where its lens shows the middle of the pupil."""
    x, y = u - lens.pupil_u, v - lens.pupil_v
    return math.sqrt(x * x + y * y)


@formula
def has_light(lens, distance):
    """Whether a pixel `distance` px from the pupil's image gets any light."""
    return distance * lens.per_pixel <= 1


@formula
def virtual_point(lens, sensor, u, v, depth, distance, centroid):
    """The (distorted) point behind the main lens, mm, that a pixel (u, v) with light sees at virtual depth.

    C + depth (X − C), where X is the place on the sensor at which an unclipped pixel would show the same: the clipped
    one stands at `distance` px (`from_pupil`) from the pupil's image, its centroid is that of `centroid_at`.
    """
    shift = (1 / depth - lens.inverse_focus) * centroid
    stretch = 1 + shift / max(distance, 1e-12)
    u, v = lens.pupil_u + (u - lens.pupil_u) * stretch, lens.pupil_v + (v - lens.pupil_v) * stretch
    on_sensor_x, on_sensor_y = sensor[0] - sensor[3] * u, sensor[1] - sensor[3] * v
    x, y, z = lens.x, lens.y, lens.z
    return x + depth * (on_sensor_x - x), y + depth * (on_sensor_y - y), z + depth * (sensor[2] - z)


@inner
def follow_row(row, owner, depth, refined, optics, x, y, z):
    """The virtual points that all pixels of a row see, into x, y, z (width,) mm; 0, 0, 0 for those that see none.

    A pixel needs a lens, a virtual depth (`depth` is the flat map) and light. All pixels of a lens are computed alike,
    in loops of their own around what is looked up, so that the others become vector instructions.
    """
    width = owner.shape[1]
    sensor = (optics.sensor[0], optics.sensor[1], optics.sensor[2], optics.sensor[3])
    end, v = 0, f8(row)
    while end < width:
        start, lens = end, owner[row, end]
        while end < width and owner[row, end] == lens:
            end += 1
        if lens < 0:
            # Element by element, here and below: a slice that is assigned to takes Numba a second to compile.
            for column in range(start, end):
                x[column] = y[column] = z[column] = 0.0
            continue
        for column in range(start, end):
            z[column] = depth[entry_of(refined, lens, row, column, width)]
        look = of_lens(optics, lens)
        distance, centroid = x, y  # until the points are known
        for column in range(start, end):
            distance[column] = from_pupil(look, f8(column), v)
        for column in range(start, end):
            centroid[column] = centroid_at(optics.centroid, look, distance[column])
        for column in range(start, end):
            value, away = z[column], distance[column]
            # NaN and infinite depths fail the comparison.
            sees = has_light(look, away) & (abs(value) > 0) & (abs(value) < math.inf)
            at_x, at_y, at_z = virtual_point(look, sensor, f8(column), v, value, away, centroid[column])
            x[column] = at_x if sees else 0.0
            y[column] = at_y if sees else 0.0
            z[column] = at_z if sees else 0.0


@inner
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


@formula
def entry_of(refined, lens, row, column, width):
    """Where a pixel's depth stands in a flat map: at the pixel itself if refined, else at its lens."""
    return row * width + column if refined else lens
