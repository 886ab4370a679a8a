"""Centroid of the open part of a micro-lens, with exact derivatives, and the pixel whose chief ray meets a point.

The open part is the intersection of disc(0, a), the lens, and disc(δ, b), the pupil as the pixel sees it. With half the
chord h and the angle β under which the second disc's centre sees it, the second disc's part has the area
    S_b = b² (β − sin β cos β),
the first disc's likewise, and the centroid is δ S_b/(S_a + S_b): the first moments of both parts about their own
centres are 2/3 h³ and cancel. See `camera.aperture.clipping`, whose formulas these are.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, inlined

LAST = 0.98  # of a + b: farther out hardly a sliver of the lens is open, and the centroid stays as it is there
CONVERGED = 1e-11  # mm
ITERATIONS = 25
LEAST_PACE = 0.2  # of Newton's slopes: with a rough camera chief rays may not advance with the pixels


@inlined
def centroid(a, b, distance):
    """Centroid of the intersection along the line of the centres, and its derivatives by distance, a and b."""
    last = LAST * (a + b)
    delta = min(distance, last)
    if delta <= abs(a - b):
        if b >= a:
            return 0.0, 0.0, 0.0, 0.0
        return delta, 1.0, 0.0, 0.0
    x = (delta * delta + a * a - b * b) / (2 * delta)
    h = math.sqrt(max(a * a - x * x, 0.0))
    alpha, beta = math.atan2(h, x), math.atan2(h, delta - x)
    first = delta * b * b * (beta - math.sin(2 * beta) / 2)
    area = a * a * (alpha - math.sin(2 * alpha) / 2) + first / delta
    c = first / area
    by_distance = (b * b * (beta + math.sin(2 * beta) / 2) - 2 * h * delta + 2 * h * c) / area
    by_b = 2 * b * (delta * beta - h - c * beta) / area
    by_a = (c - b * by_b - delta * by_distance) / a  # c scales with all three lengths
    if distance > last:
        by_a, by_b, by_distance = by_a + LAST * by_distance, by_b + LAST * by_distance, 0.0
    return c, by_distance, by_a, by_b


@inlined
def light_centroid(offset, pupil, sensor, focal, diameter, aperture, out):
    """Fill `out` (7,): ȳ mm of the pixel `offset` mm out, and its derivatives by offset, P, d, f, B and A."""
    gain = 1 + pupil * (1 / sensor - 1 / focal)
    if abs(gain) < 1e-6:
        gain = 1e-6
    side = 1.0 if gain > 0 else -1.0
    ratio, radius = pupil / (sensor * gain), aperture / 2 / abs(gain)
    c, by_distance, by_a, by_b = centroid(diameter / 2, radius, abs(ratio) * offset)
    # How ratio and radius change with P, d and f, relative to themselves: through the gain, and directly.
    gain_by_pupil, gain_by_sensor, gain_by_focal = 1 / sensor - 1 / focal, -pupil / sensor**2, pupil / focal**2
    moved, widened = by_distance * abs(ratio) * offset, by_b * radius
    through_gain = -(moved + widened) / gain
    out[0] = side * c
    out[1] = side * by_distance * abs(ratio)
    out[2] = side * (through_gain * gain_by_pupil + moved / pupil)
    out[3] = side * (through_gain * gain_by_sensor - moved / sensor)
    out[4] = side * through_gain * gain_by_focal
    out[5] = side * by_a / 2
    out[6] = side * widened / aperture


@compiled
def light_centroids(offset, pupil, sensor, focal, diameter, aperture, out):
    """`light_centroid` of n pixels: offset, pupil, sensor, focal (n,); out (n, 7)."""
    for n in range(len(offset)):
        light_centroid(offset[n], pupil[n], sensor[n], focal[n], diameter, aperture, out[n])


@compiled
def apparent_pixels(target, gap, pupil, sensor, focal, diameter, aperture, out):
    """Offsets `out` (n,) mm of the pixels whose chief rays meet thin-lens places `target` (n,) mm; gap = 1/v − 1/v0."""
    row = np.empty(7)
    for n in range(len(target)):
        place = target[n]
        for _ in range(ITERATIONS):
            light_centroid(place, pupil[n], sensor[n], focal[n], diameter, aperture, row)
            excess = place + gap[n] * row[0] - target[n]
            if abs(excess) < CONVERGED:
                break
            place = max(place - excess / max(1 + gap[n] * row[1], LEAST_PACE), 0.0)
        out[n] = place
