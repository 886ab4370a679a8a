"""Whitened residuals of features and micro-image centres with their derivatives, a row each, in one pass.

The formulas are those of `calib.bundle.residuals`, which says what they mean and is the oracle of these loops. A row is
[by the camera's p intrinsics | by the six of the board's pose | residual]; that of a centre holds only the intrinsics
that move it, those of the lens array and of the sensor.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.calib.bundle.kernels.chief_rays import CONVERGED, ITERATIONS, LEAST_PACE, light_centroid
from plenodepth.compiling import compiled

# Places in the vector of the optics, see `calib.bundle.rows.packed`.
FOCAL, DISTORTION, ROTATION, TRANSLATION, PITCH, POSITION, PIXEL = 0, 1, 6, 15, 18, 20, 23
CORNER, APERTURE, F_NUMBER, PUPIL, CLEAR, FOCALS = 24, 26, 27, 28, 31, 32
# Places among the intrinsics, see `camera.parameters.intrinsic_names`; the focal lengths come next, then the sensor.
BY_FOCAL, BY_DISTORTION, BY_ROTATION, BY_TRANSLATION, BY_PITCH, BY_FOCALS = 0, 1, 6, 9, 12, 14
EMPTY = 1e-15  # of a column's square: what is left of one that depends on others
CENTER_COLUMNS = 15  # pose of the lens array, pitch, sensor, and distance and offset of the exit pupil
# Places in the list of parameters that not every camera has, see `calib.bundle.rows.optional_places`.
OF_DISTANCE, OF_OFFSET, OF_DIAMETER, OF_CLEAR = 0, 1, 3, 4


@compiled
def lens_place(unit, optics, center, by_turn):
    """Fill the lens centre (3,) mm, and its derivatives (3, 5) by the array's turn and by its pitch."""
    x, y = unit[0] * optics[PITCH], unit[1] * optics[PITCH + 1]
    for axis in range(3):
        first, second, third = (
            optics[ROTATION + 3 * axis],
            optics[ROTATION + 3 * axis + 1],
            optics[ROTATION + 3 * axis + 2],
        )
        center[axis] = first * x + second * y + optics[TRANSLATION + axis]
        by_turn[axis, 0], by_turn[axis, 1], by_turn[axis, 2] = third * y, -third * x, second * x - first * y
        by_turn[axis, 3], by_turn[axis, 4] = first * unit[0], second * unit[1]


@compiled
def center_slopes(center, by_turn, optics, out):
    """Fill the derivatives (2, 15) of a predicted centre, px, by what `CENTER_COLUMNS` lists."""
    pixel, far = optics[PIXEL], center[2] - optics[PUPIL + 2]
    stretch = (optics[POSITION + 2] - optics[PUPIL + 2]) / far
    for axis in range(2):
        aside = center[axis] - optics[PUPIL + axis]
        lateral = -stretch / pixel
        depth = aside * stretch / far / pixel
        for i in range(3):
            out[axis, i] = lateral * by_turn[axis, i] + depth * by_turn[2, i]
            out[axis, 3 + i] = 0.0
            out[axis, 8 + i] = 0.0
            out[axis, 12 + i] = 0.0
        out[axis, 3 + axis], out[axis, 5] = lateral, depth
        for i in range(2):
            out[axis, 6 + i] = lateral * by_turn[axis, 3 + i] + depth * by_turn[2, 3 + i]
        out[axis, 8 + axis], out[axis, 10] = 1 / pixel, -aside / far / pixel
        out[axis, 11] = (aside * stretch + optics[PUPIL + axis] - optics[POSITION + axis]) / pixel**2
        out[axis, 12], out[axis, 13 + axis] = aside * (stretch - 1) / far / pixel, (stretch - 1) / pixel


@compiled
def predicted_center(center, optics, axis):
    """Where the optics put the centre of a micro-image, px."""
    aside, pupil = center[axis] - optics[PUPIL + axis], optics[PUPIL + 2]
    on_sensor = aside * (optics[POSITION + 2] - pupil) / (center[2] - pupil) + optics[PUPIL + axis]
    return optics[CORNER + axis] - (on_sensor - optics[POSITION + axis]) / optics[PIXEL]


@compiled
def center_rows(unit, uv, root, optics, derivatives, rows):
    """Fill the whitened rows (n, 2, c + 1) of centres; only the residuals, the last column, without `derivatives`.

    c is 15, or 12 for a camera without an exit pupil of its own.
    """
    columns = rows.shape[2] - 1
    center, by_turn, slopes = np.empty(3), np.empty((3, 5)), np.empty((2, CENTER_COLUMNS))
    for n in range(len(unit)):
        lens_place(unit[n], optics, center, by_turn)
        first, second = (
            predicted_center(center, optics, 0) - uv[n, 0],
            predicted_center(center, optics, 1) - uv[n, 1],
        )
        for i in range(2):
            rows[n, i, columns] = root[n, i, 0] * first + root[n, i, 1] * second
        if derivatives:
            center_slopes(center, by_turn, optics, slopes)
            for i in range(2):
                for j in range(columns):
                    rows[n, i, j] = root[n, i, 0] * slopes[0, j] + root[n, i, 1] * slopes[1, j]


@compiled
def lens_diameter(optics):
    """B, mm."""
    return optics[CLEAR] * ((optics[PITCH] + optics[PITCH + 1]) / 2)


@compiled
def apparent(uv, gap, center, focal, optics, light, place):
    """Where a thin-lens position `uv` (2,) px appears: `uv` is moved there.

    Fills `light` (7,), see `chief_rays.light_centroid`, at that pixel, and `place` (3,): its distance, mm, from where
    the lens shows the pupil's middle, and the direction there.
    """
    pixel, diameter = optics[PIXEL], lens_diameter(optics)
    pupil, sensor = optics[PUPIL + 2] - center[2], center[2] - optics[POSITION + 2]
    x = (uv[0] - predicted_center(center, optics, 0)) * pixel
    y = (uv[1] - predicted_center(center, optics, 1)) * pixel
    target = math.sqrt(x * x + y * y)
    away = target
    for _ in range(ITERATIONS):
        light_centroid(away, pupil, sensor, focal, diameter, optics[APERTURE], light)
        excess = away + gap * light[0] - target
        if abs(excess) < CONVERGED:
            break
        away = max(away - excess / max(1 + gap * light[1], LEAST_PACE), 0.0)
    light_centroid(away, pupil, sensor, focal, diameter, optics[APERTURE], light)
    stretch = away / target if target > 0 else 1.0
    uv[0] += x * (stretch - 1) / pixel
    uv[1] += y * (stretch - 1) / pixel
    place[0] = away
    place[1], place[2] = x / max(target, 1e-12), y / max(target, 1e-12)


@compiled
def appearing_slopes(own, light, place, gap, by_turn, slopes, lens_type, types, optics, places):
    """Turn derivatives (3, p + 6) of the thin-lens position and ρ, `own`, into those of the apparent position.

    `slopes` (2, 15) are those of the predicted centre. See `residuals._appearing_derivatives`.
    """
    pixel, diameter, pitch = optics[PIXEL], lens_diameter(optics), (optics[PITCH] + optics[PITCH + 1]) / 2
    last = BY_FOCALS + types
    columns = own.shape[1]
    scale, strength = 2 * pixel / diameter, gap / pixel
    length, slope = light[0], light[1]
    around = length / place[0] if place[0] > 1e-9 else slope
    dx, dy = place[1], place[2]
    xx, xy, yy = slope * dx * dx + around * dy * dy, (slope - around) * dx * dy, slope * dy * dy + around * dx * dx
    for axis in range(2):
        direction = place[1 + axis]
        shift = length * direction / pixel
        for j in range(columns):
            if j != places[OF_CLEAR]:
                own[axis, j] -= shift * scale * own[2, j]
        for j in range(BY_PITCH, BY_PITCH + 2):
            own[axis, j] += shift * gap / (2 * pitch) - strength * light[5] * (optics[CLEAR] / 2) * direction
        own[axis, last + 3] -= shift * gap / pixel
        own[axis, BY_FOCAL] -= strength * light[6] * direction / optics[F_NUMBER]
        of_depth = strength * (light[3] - light[2]) * direction
        for j in range(3):
            own[axis, BY_ROTATION + j] -= of_depth * by_turn[2, j]
        own[axis, BY_TRANSLATION + 2] -= of_depth
        for j in range(2):
            own[axis, BY_PITCH + j] -= of_depth * by_turn[2, 3 + j]
        own[axis, last + 2] += strength * light[3] * direction
        own[axis, BY_FOCALS + lens_type] -= strength * light[4] * direction
        # The centroid goes along the direction: by_offset · offset = slope · offset.
        own[axis, last + 3] += strength * (length - slope * place[0]) * direction / pixel
        along, across = (xx, xy) if axis == 0 else (xy, yy)
        for j in range(8):
            own[axis, BY_ROTATION + j] += gap * (along * slopes[0, j] + across * slopes[1, j])
        for j in range(4):
            own[axis, last + j] += gap * (along * slopes[0, 8 + j] + across * slopes[1, 8 + j])
        if places[OF_DISTANCE] >= 0:
            own[axis, places[OF_DISTANCE]] += strength * (light[2] + light[6] / optics[F_NUMBER]) * direction
            for j in range(3):
                own[axis, places[OF_DISTANCE + j]] += gap * (along * slopes[0, 12 + j] + across * slopes[1, 12 + j])
        if places[OF_DIAMETER] >= 0:
            own[axis, places[OF_DIAMETER]] -= strength * light[6] * direction
        if places[OF_CLEAR] >= 0:
            own[axis, places[OF_CLEAR]] -= strength * light[5] * pitch * direction
    a, b, d = 1 + gap * xx, gap * xy, 1 + gap * yy
    determinant = a * d - b * b
    for j in range(columns):
        u, v = own[0, j], own[1, j]
        own[0, j], own[1, j] = (d * u - b * v) / determinant, (a * v - b * u) / determinant


@compiled
def feature_rows(
    points, unit, lens_type, uv, rho, root, rotation, translation, optics, places, aperture, derivatives, rows
):
    """Fill the whitened rows (n, 3, p + 7) of the features of one board in one frame; False where one is not finite.

    `points` (n, 3) mm, board frame; `unit` (n, 2): lens centres for unit pitches; `root` (n, 3, 3); `rotation` (3, 3)
    and `translation` (3,) take the board to the camera; `places` (5,): see `calib.bundle.rows.optional_places`. Without
    `derivatives` only the residuals, the last column.
    """
    types, count = len(optics) - FOCALS, rows.shape[2] - 7
    last = BY_FOCALS + types
    focal_length, pixel = optics[FOCAL], optics[PIXEL]
    q1, q2, q3 = optics[DISTORTION], optics[DISTORTION + 1], optics[DISTORTION + 2]
    p1, p2 = optics[DISTORTION + 3], optics[DISTORTION + 4]
    diameter, pitch = lens_diameter(optics), (optics[PITCH] + optics[PITCH + 1]) / 2
    center, by_turn, slopes = np.empty(3), np.empty((3, 5)), np.empty((2, CENTER_COLUMNS))
    point, shown, light, place = np.empty(3), np.empty(2), np.zeros(7), np.zeros(3)
    by_virtual, by_center, by_image, by_point = np.zeros((3, 3)), np.zeros((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    basis, own = np.empty((2, 5)), np.zeros((3, count + 6))
    for n in range(len(points)):
        for i in range(3):
            point[i] = translation[i]
            for j in range(3):
                point[i] += rotation[i, j] * points[n, j]
        beyond = point[2] - focal_length
        if not beyond > 0:
            return False
        magnification = -focal_length / beyond
        x, y, z = magnification * point[0], magnification * point[1], magnification * point[2]
        s = x * x + y * y
        radial = s * (q1 + s * (q2 + s * q3))
        virtual_x = x + x * radial + p1 * (s + 2 * x * x) + 2 * p2 * x * y
        virtual_y = y + y * radial + p2 * (s + 2 * y * y) + 2 * p1 * x * y
        lens_place(unit[n], optics, center, by_turn)
        distance, to_sensor = z - center[2], center[2] - optics[POSITION + 2]
        ratio = to_sensor / distance
        lateral_x, lateral_y = virtual_x - center[0], virtual_y - center[1]
        on_x, on_y = center[0] - ratio * lateral_x, center[1] - ratio * lateral_y
        shown[0] = optics[CORNER] - (on_x - optics[POSITION]) / pixel
        shown[1] = optics[CORNER + 1] - (on_y - optics[POSITION + 1]) / pixel
        focal = optics[FOCALS + lens_type[n]] if types else np.inf
        blur = (to_sensor * (1 / focal - 1 / distance) - 1) / 2  # over B
        radius = diameter * blur / pixel
        gap = 2 * radius * pixel / diameter
        if aperture:
            apparent(shown, gap, center, focal, optics, light, place)
        known = math.isfinite(rho[n])
        first, second = shown[0] - uv[n, 0], shown[1] - uv[n, 1]
        third = radius - rho[n] if known else 0.0
        if not (math.isfinite(first) and math.isfinite(second) and math.isfinite(third)):
            return False
        for i in range(3):
            rows[n, i, count + 6] = root[n, i, 0] * first + root[n, i, 1] * second + root[n, i, 2] * third
        if not derivatives:
            continue
        by_virtual[0, 0] = by_virtual[1, 1] = ratio / pixel
        by_virtual[0, 2], by_virtual[1, 2] = (
            -lateral_x * ratio / distance / pixel,
            -lateral_y * ratio / distance / pixel,
        )
        by_virtual[2, 2] = diameter * to_sensor / (2 * distance * distance) / pixel
        by_center[0, 0] = by_center[1, 1] = -(1 + ratio) / pixel
        by_center[0, 2] = lateral_x * (1 + ratio) / distance / pixel
        by_center[1, 2] = lateral_y * (1 + ratio) / distance / pixel
        by_to_sensor = diameter / 2 * (1 / focal - 1 / distance) / pixel
        by_center[2, 2] = by_to_sensor - by_virtual[2, 2]
        straight = 1 + radial + 2 * p1 * x + 2 * p2 * y
        bend = 2 * (q1 + s * (2 * q2 + s * 3 * q3))
        bend_xx, bend_yy = straight + bend * x * x + 4 * p1 * x, straight + bend * y * y + 4 * p2 * y
        bend_xy = bend * x * y + 2 * p1 * y + 2 * p2 * x
        basis[0, 0], basis[0, 1], basis[0, 2], basis[0, 3], basis[0, 4] = (
            x * s,
            x * s * s,
            x * s**3,
            s + 2 * x * x,
            2 * x * y,
        )
        basis[1, 0], basis[1, 1], basis[1, 2], basis[1, 3], basis[1, 4] = (
            y * s,
            y * s * s,
            y * s**3,
            2 * x * y,
            s + 2 * y * y,
        )
        pull = focal_length / (beyond * beyond)
        for i in range(3):
            by_image[i, 0] = by_virtual[i, 0] * bend_xx + by_virtual[i, 1] * bend_xy
            by_image[i, 1] = by_virtual[i, 0] * bend_xy + by_virtual[i, 1] * bend_yy
            by_image[i, 2] = by_virtual[i, 2]
            towards = by_image[i, 0] * point[0] + by_image[i, 1] * point[1] + by_image[i, 2] * point[2]
            by_point[i, 0], by_point[i, 1] = magnification * by_image[i, 0], magnification * by_image[i, 1]
            by_point[i, 2] = magnification * by_image[i, 2] + pull * towards
            own[i, BY_FOCAL] = -point[2] / (beyond * beyond) * towards
            for j in range(5):
                own[i, BY_DISTORTION + j] = by_virtual[i, 0] * basis[0, j] + by_virtual[i, 1] * basis[1, j]
            for j in range(3):
                own[i, BY_ROTATION + j] = (
                    by_center[i, 0] * by_turn[0, j] + by_center[i, 1] * by_turn[1, j] + by_center[i, 2] * by_turn[2, j]
                )
                own[i, BY_TRANSLATION + j] = by_center[i, j]
            for j in range(2):
                own[i, BY_PITCH + j] = (
                    by_center[i, 0] * by_turn[0, 3 + j]
                    + by_center[i, 1] * by_turn[1, 3 + j]
                    + by_center[i, 2] * by_turn[2, 3 + j]
                )
            for j in range(BY_FOCALS, count):
                own[i, j] = 0.0
            # The pose: rotation · exp([step]x), so −R [p]x of the board's own point.
            for j in range(3):
                turned = 0.0
                after, before = (j + 1) % 3, (j + 2) % 3
                for t in range(3):
                    turned += by_point[i, t] * (
                        rotation[t, before] * points[n, after] - rotation[t, after] * points[n, before]
                    )
                own[i, count + j] = turned
                own[i, count + 3 + j] = by_point[i, j]
        own[0, last] = own[1, last + 1] = 1 / pixel
        own[0, last + 2], own[1, last + 2] = -lateral_x / distance / pixel, -lateral_y / distance / pixel
        own[0, last + 3] = (on_x - optics[POSITION]) / pixel**2
        own[1, last + 3] = (on_y - optics[POSITION + 1]) / pixel**2
        if types:
            own[2, BY_PITCH] += blur * (optics[CLEAR] / 2) / pixel
            own[2, BY_PITCH + 1] += blur * (optics[CLEAR] / 2) / pixel
            if places[OF_CLEAR] >= 0:
                own[2, places[OF_CLEAR]] = blur * pitch / pixel
            own[2, BY_FOCALS + lens_type[n]] = -diameter * to_sensor / (2 * focal * focal) / pixel
            own[2, last + 2], own[2, last + 3] = -by_to_sensor, -radius / pixel
        if aperture:
            center_slopes(center, by_turn, optics, slopes)
            appearing_slopes(own, light, place, gap, by_turn, slopes, lens_type[n], types, optics, places)
        third = 1.0 if known else 0.0
        for i in range(3):
            for j in range(count + 6):
                rows[n, i, j] = (
                    root[n, i, 0] * own[0, j] + root[n, i, 1] * own[1, j] + root[n, i, 2] * third * own[2, j]
                )
    return True


@compiled
def take_common(rows, first, end, group, share, pull, totals, column):
    """Take off rows (n, 3, c) what those of a group have in common: lines `first` … `end` − 1, columns from `column`.

    `group` (n,), `share` (n,) and `pull` (m,): see `weights.CommonErrors`; `totals` (m, c) is for the sums.
    """
    for i in range(first, end):
        totals[:] = 0.0
        for n in range(len(rows)):
            for j in range(column, rows.shape[2]):
                totals[group[n], j] += share[n] * rows[n, i, j]
        for n in range(len(rows)):
            factor = share[n] * pull[group[n]]
            for j in range(column, rows.shape[2]):
                rows[n, i, j] -= factor * totals[group[n], j]


@compiled
def product_root(products, root):
    """Fill the matrix (n, n) whose products of columns are these (n, n): Cholesky's method, the largest pivot first.

    Columns may depend on others: once nothing is left of any, the remaining lines are zero.
    """
    size = len(products)
    rest, scale = np.empty((size, size)), np.empty(size)
    for i in range(size):
        scale[i] = math.sqrt(max(products[i, i], 1e-300))
    for i in range(size):
        for j in range(size):
            rest[i, j] = products[i, j] / (scale[i] * scale[j])
    root[:] = 0.0
    for line in range(size):
        best = 0
        for i in range(1, size):
            if rest[i, i] > rest[best, best]:
                best = i
        pivot = rest[best, best]
        if not pivot > EMPTY:
            break
        for j in range(size):
            root[line, j] = rest[best, j] / math.sqrt(pivot)
        for i in range(size):
            for j in range(size):
                rest[i, j] -= root[line, i] * root[line, j]
        for i in range(size):  # what rounding leaves of the column
            rest[i, best] = rest[best, i] = 0.0
    for i in range(size):
        for j in range(size):
            root[i, j] *= scale[j]
