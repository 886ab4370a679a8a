"""Chief rays of the pixels of features through the main lens' aperture, and their derivatives by the camera.

The light of a pixel x (mm from where its lens shows the pupil's middle) passes the lens about the centroid ȳ(x) of the
open part (`aperture.clipping`). So the pixel shows what the thin-lens model puts at x + ȳ(x) (1/v − 1/v0), and a point
appears at the pixel whose chief ray meets it (`aperture.chief_ray`). The blur radius gives 1/v − 1/v0 = 2 s ρ/B.

Derivatives are exact. F, D and the boards' distances are nearly interchangeable, so that an adjustment with approximate
derivatives stops short of the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plenodepth.calib.bundle.kernels import chief_rays as kernel
from plenodepth.camera.aperture.clipping import aperture_diameter
from plenodepth.camera.micro_lenses import focal_length, lens_distances, predicted_center, to_pupil
from plenodepth.camera.model import Array, Indices, PlenopticCamera

VARIABLES = ("pupil", "sensor", "focal", "diameter", "aperture")  # P, d, f, B and the pupil's diameter


class LightCentroids(NamedTuple):
    """The centroid ȳ of the open part of the lens for each of n pixels, and its derivatives."""

    offset: Array  # (n, 2) mm: the pixel's place, from where its lens shows the pupil's middle
    shift: Array  # (n, 2) mm on the lens: ȳ, in the image's u and v
    by_offset: Array  # (n, 2, 2): its derivative by the pixel's place, mm/mm
    by_variable: Array  # (n, 5, 2): by `VARIABLES`, mm/mm


def light_centroids(uv: Array, k: Indices, l: Indices, camera: PlenopticCamera) -> LightCentroids:
    """Centroids for pixels (n, 2) of micro-images (k, l), at the camera's own f-number."""
    away = _offset(uv, k, l, camera)
    distance = np.hypot(away[:, 0], away[:, 1])
    values = np.empty((len(distance), 2 + len(VARIABLES)))
    kernel.light_centroids(distance, *_optics(k, l, camera), values)
    direction = away / np.maximum(distance, 1e-12)[:, None]
    length, slope = values[:, 0], values[:, 1]
    along = direction[:, :, None] * direction[:, None, :]
    around = np.where(distance > 1e-9, length / np.maximum(distance, 1e-9), slope)
    return LightCentroids(
        offset=away,
        shift=length[:, None] * direction,
        by_offset=slope[:, None, None] * along + around[:, None, None] * (np.eye(2) - along),
        by_variable=values[:, 2:, None] * direction[:, None, :],
    )


def apparent_pixels(uv: Array, k: Indices, l: Indices, gap: Array, camera: PlenopticCamera) -> Array:
    """Pixels (n, 2) that show what the thin-lens model puts at `uv`, where 1/v − 1/v0 = gap (n,).

    As `camera.apparent_position`, but without an end: beyond the last open pixel ȳ stays as it is, so that a rough
    camera's prediction still says in which direction it is wrong.
    """
    away = _offset(uv, k, l, camera)
    target = np.hypot(away[:, 0], away[:, 1])
    place = np.empty(len(target))
    kernel.apparent_pixels(target, gap, *_optics(k, l, camera), place)
    stretch = np.where(target > 0, place / np.maximum(target, 1e-12), 1)
    return np.asarray(uv + away * (stretch - 1)[:, None] / camera.sensor.pixel_size)


def _offset(uv: Array, k: Indices, l: Indices, camera: PlenopticCamera) -> Array:
    """Offsets (n, 2) mm, along u and v, of pixels from where their lenses show the pupil's middle."""
    pixel = camera.sensor.pixel_size
    return np.asarray((uv - predicted_center(k, l, camera)) * pixel)


def _optics(k: Indices, l: Indices, camera: PlenopticCamera) -> tuple[Array, Array, Array, float, float]:
    """Distance to the pupil, d and f of each lens (n,), and the diameters of lens and pupil, mm."""
    distances = lens_distances(camera, k, l)
    return (
        np.ascontiguousarray(to_pupil(camera, distances)),
        np.ascontiguousarray(distances.to_sensor),
        np.ascontiguousarray(focal_length(k, l, camera)),
        camera.micro_lenses.lens_diameter,
        aperture_diameter(camera),
    )
