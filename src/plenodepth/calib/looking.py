"""Where the pixels of features look through the main lens' aperture, and how that changes with the camera.

A pixel x (mm from where its lens shows the pupil's middle) shows what an open one would show at x + ȳ(x) (1/v − 1/v0)
(`camera.aperture`). Bundle adjustment compares there: the observed pixel is moved to where it looks, which is closed
form, rather than the predicted one to where it appears. The blur line gives 1/v − 1/v0 = 2 s ρ/B for free.

ȳ depends on the distance |x|, on D, d, the lens' focal length, its diameter and the pupil's: a table over |x| with its
derivatives, made anew for each camera, serves all features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plenodepth.camera.aperture import disc_of_pupil, opened, pupil_image_offset
from plenodepth.camera.micro_lenses import lens_distances, predicted_center
from plenodepth.camera.model import Array, Indices, PlenopticCamera

PLACES = 160  # of the table, over 1.3 micro-image radii
BEYOND = 1.3
STEP = 1e-5  # relative, of the table's derivatives
VARIABLES = ("main", "sensor", "focal", "diameter", "aperture")


class Looks(NamedTuple):
    """Per feature: the open part's centroid ȳ as a vector, and what it depends on."""

    offset: Array  # (n, 2) mm: the pixel's place, from where its lens shows the pupil's middle
    shift: Array  # (n, 2) mm on the lens: ȳ, in the image's u and v
    by_offset: Array  # (n, 2, 2): its derivative by the pixel's place, mm/mm
    by_variable: Array  # (n, 5, 2): by D, d, f, B and the pupil's diameter, mm/mm


def looks(camera: PlenopticCamera, uv: Array, k: Indices, l: Indices) -> Looks:
    """For observed pixels (n, 2) of micro-images (k, l), at the camera's own f-number."""
    pixel = camera.sensor.pixel_size
    middle = predicted_center(camera, k, l) - pupil_image_offset(camera, k, l) / pixel
    away = (uv - middle) * pixel
    distance = np.hypot(away[:, 0], away[:, 1])
    direction = away / np.maximum(distance, 1e-12)[:, None]
    types = camera.micro_images.lens_type(k, l)
    table = _tables(camera)
    places = _places(camera)
    place = distance / (places[1] - places[0])
    low = np.clip(place.astype(np.int64), 0, PLACES - 2)
    part = np.clip(place - low, 0, 1)[:, None]
    values = table[types, low] * (1 - part) + table[types, low + 1] * part  # (n, 1 + 5)
    slope = (table[types, low + 1, 0] - table[types, low, 0]) / (places[1] - places[0])
    # The table holds for the array's centre; elsewhere a tilted array has other D and d.
    main, sensor = lens_distances(camera, k, l)
    main0, sensor0 = lens_distances(camera)
    length = values[:, 0] + values[:, 1] * (main - main0) + values[:, 2] * (sensor - sensor0)
    along = direction[:, :, None] * direction[:, None, :]
    across = np.eye(2) - along
    around = np.where(distance > 1e-9, length / np.maximum(distance, 1e-9), slope)
    return Looks(
        offset=away,
        shift=length[:, None] * direction,
        by_offset=slope[:, None, None] * along + around[:, None, None] * across,
        by_variable=values[:, 1:, None] * direction[:, None, :],
    )


def _places(camera: PlenopticCamera) -> Array:
    """(places,) mm from the pupil's image."""
    return np.linspace(0, BEYOND * camera.micro_images.radius * camera.sensor.pixel_size, PLACES)


def _tables(camera: PlenopticCamera) -> Array:
    """(I, places, 1 + 5): ȳ, mm, and its derivatives by `VARIABLES`, amid the array."""
    offset = _places(camera)
    main, sensor = (float(value) for value in lens_distances(camera))
    result = np.empty((camera.type_count, PLACES, 1 + len(VARIABLES)))
    for lens_type in range(camera.type_count):
        result[lens_type, :, 0] = _centroid(camera, lens_type, main, sensor, offset, None)
        for column, variable in enumerate(VARIABLES, start=1):
            moved = _centroid(camera, lens_type, main, sensor, offset, variable)
            step = STEP * _size(camera, lens_type, main, sensor, variable)
            result[lens_type, :, column] = (moved - result[lens_type, :, 0]) / step
    return result


def _size(camera: PlenopticCamera, lens_type: int, main: float, sensor: float, variable: str) -> float:
    f_number = camera.main_lens.f_number
    assert f_number is not None
    return {
        "main": main,
        "sensor": sensor,
        "focal": float(camera.micro_lenses.focal_lengths[lens_type]),
        "diameter": camera.micro_lenses.lens_diameter,
        "aperture": camera.main_lens.focal_length / f_number,
    }[variable]


def _centroid(
    camera: PlenopticCamera, lens_type: int, main: float, sensor: float, offset: Array, moved: str | None
) -> Array:
    """ȳ (places,) mm, with one variable moved by the relative STEP; the last value goes on where nothing is open."""
    factor = {name: 1 + STEP if name == moved else 1.0 for name in VARIABLES}
    lenses = camera.micro_lenses
    focal = lenses.focal_lengths.copy()
    focal[lens_type] *= factor["focal"]
    changed = replace(
        camera, micro_lenses=replace(lenses, focal_lengths=focal, pitch=lenses.pitch * factor["diameter"])
    )
    ratio, radius = disc_of_pupil(
        changed, np.asarray(main * factor["main"]), np.asarray(sensor * factor["sensor"]), lens_type
    )
    values = opened(changed, ratio, radius * factor["aperture"], offset).centroid
    there = np.flatnonzero(np.isfinite(values))
    return np.asarray(values[np.minimum(np.arange(len(values)), there[-1])])
