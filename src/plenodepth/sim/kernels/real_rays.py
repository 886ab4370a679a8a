"""A ray through real lenses: rims, aberrations, diffraction, walls between lenses, and how a pixel answers to it."""

from __future__ import annotations

import math

from plenodepth.compiling import compiled, inlined
from plenodepth.sim.kernels.camera_rays import (
    CENTER_X,
    CENTER_Y,
    FAR_STEP,
    INVERSE_D,
    INVERSE_F,
    NEAR_STEP,
    SLOPE_X,
    SLOPE_Y,
    D,
    f4,
    polynomial,
)  # fmt: skip

# Places in the constants of real lenses (`RaySetup.real`); mm. The lens' column D goes to the exit pupil, and its
# centre is relative to the pupil's middle.
(
    RIM_STEP, RIM_X, RIM_Y, RIM_LIMIT,  # from the pupil's plane to the rim's, middle relative to the pupil's, radius²
    CUBIC,  # spherical aberration over half a pitch squared
    WAVELENGTH, LENS_RADIUS,
    WALL_LIMIT,  # squared radius that walls leave of a micro-image
    HALF_EXPONENT,  # n/2 of a pixel's response cosⁿ
    CURVATURE, PUPIL_X, PUPIL_Y,  # 1/radius of the main lens' image; the pupil's middle
) = range(12)  # fmt: skip
CONSTANTS = 12

LEAST_OPEN = 0.25  # of a micro-lens' diameter: a pixel that sees less of it is dark, and its light is from others


@compiled
def diffraction_axes(lens, j, x, y, aperture, real):
    """λ d over the width of the open part of lens j for the pixel (x, y): (direction x, y, along it, across it), mm.

    The open part is that of two discs, the lens' and the exit pupil's as the pixel sees it through the lens.
    """
    radius, d = real[LENS_RADIUS], f4(1) / lens[j, INVERSE_D]
    gain = f4(1) + lens[j, D] * (lens[j, INVERSE_D] - lens[j, INVERSE_F])
    gain = gain if abs(gain) > f4(1e-6) else f4(1e-6)
    ahead = lens[j, D] * lens[j, INVERSE_D]
    cx, cy = (x * ahead - lens[j, CENTER_X]) / gain, (y * ahead - lens[j, CENTER_Y]) / gain
    cx += f4(1e-9)  # so that there is always a direction
    away, other = math.sqrt(cx * cx + cy * cy), aperture / abs(gain)
    along = min(radius, away + other) - max(-radius, away - other)
    # Widest across is the common chord, or the middle of either disc where that is in the open part.
    chord = (away * away + radius * radius - other * other) / (f4(2) * away)
    if chord >= away:
        across = f4(2) * other
    elif chord <= 0:
        across = f4(2) * radius
    else:
        across = f4(2) * math.sqrt(max(radius * radius - chord * chord, f4(0)))
    least = f4(2 * LEAST_OPEN) * radius
    scale = real[WAVELENGTH] * d
    return f4(cx / away), f4(cy / away), f4(scale / max(along, least)), f4(scale / max(across, least))


@inlined
def real_slope(lens, real, j, x, y, shift_x, shift_y, lens_x, lens_y, limit):
    """The ray from the pixel point (x, y), relative to the lens centre, through (lens_x, lens_y) on the lens.

    `shift` mm: from where on the sensor diffraction has brought the ray to its place. Returns (weight, slope x, y): how
    much the ray counts, 0 where it is blocked, and its slope between the lens and the main lens.
    """
    angle_x, angle_y = (lens_x - x) * lens[j, INVERSE_D], (lens_y - y) * lens[j, INVERSE_D]
    bends = lens[j, INVERSE_F] * (f4(1) + real[CUBIC] * (lens_x * lens_x + lens_y * lens_y))
    slope_x = angle_x - shift_x * lens[j, INVERSE_D] - lens_x * bends
    slope_y = angle_y - shift_y * lens[j, INVERSE_D] - lens_y * bends
    qx = lens[j, CENTER_X] + lens_x + slope_x * lens[j, D]
    qy = lens[j, CENTER_Y] + lens_y + slope_y * lens[j, D]
    rim_x, rim_y = qx + slope_x * real[RIM_STEP] - real[RIM_X], qy + slope_y * real[RIM_STEP] - real[RIM_Y]
    # The micro-image's centre: there the ray through the lens' centre comes from the pupil's middle.
    behind = f4(1) / (lens[j, D] * lens[j, INVERSE_D])
    wall_x, wall_y = x - lens[j, CENTER_X] * behind, y - lens[j, CENTER_Y] * behind
    in_pupil, in_rim = qx * qx + qy * qy <= limit, rim_x * rim_x + rim_y * rim_y <= real[RIM_LIMIT]
    weight = f4(1)
    if not (in_pupil and in_rim and wall_x * wall_x + wall_y * wall_y <= real[WALL_LIMIT]):
        weight = f4(0)
    elif real[HALF_EXPONENT] > 0:
        weight = f4(math.exp(-real[HALF_EXPONENT] * math.log(f4(1) + angle_x * angle_x + angle_y * angle_y)))
    return weight, slope_x, slope_y


@inlined
def real_scene_ray(lens, chord, real, j, slope_x, slope_y, lens_x, lens_y, near, far):
    """The ray (ox, oy, sx, sy) in the scene that leaves a lens at (lens_x, lens_y) with a slope."""
    bend_x, bend_y = slope_x - lens[j, SLOPE_X], slope_y - lens[j, SLOPE_Y]
    ex, ey = curved_place(lens, real, j, lens[j, NEAR_STEP], lens_x, lens_y, bend_x, bend_y)
    near_x, near_y = polynomial(chord, j, 0, ex, ey), polynomial(chord, j, 1, ex, ey)
    ex, ey = curved_place(lens, real, j, lens[j, FAR_STEP], lens_x, lens_y, bend_x, bend_y)
    inverse = f4(1) / (far - near)
    sx, sy = (polynomial(chord, j, 2, ex, ey) - near_x) * inverse, (polynomial(chord, j, 3, ex, ey) - near_y) * inverse
    return near_x - near * sx, near_y - near * sy, sx, sy


@inlined
def curved_place(lens, real, j, step, lens_x, lens_y, bend_x, bend_y):
    """Where a ray meets the curved image of a plane of the scene, relative to the lens' central ray.

    The image has been placed where the central ray meets it; h from there it lies h (h0 + h/2)/R nearer to the lens.
    """
    ex, ey = lens_x + bend_x * step, lens_y + bend_y * step
    px = lens[j, CENTER_X] + real[PUPIL_X] + lens[j, SLOPE_X] * step
    py = lens[j, CENTER_Y] + real[PUPIL_Y] + lens[j, SLOPE_Y] * step
    nearer = real[CURVATURE] * (ex * (px + f4(0.5) * ex) + ey * (py + f4(0.5) * ey))
    return ex + bend_x * nearer, ey + bend_y * nearer
