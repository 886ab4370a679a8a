"""Where the pixels of features look through the main lens' aperture, and how that changes with the camera.

A pixel x (mm from where its lens shows the pupil's middle) shows what an open one would show at x + ȳ(x) (1/v − 1/v0)
(`camera.aperture`): a point appears at the pixel that looks at it (`camera.apparent`). The blur line gives
1/v − 1/v0 = 2 s ρ/B for free.

ȳ depends on the distance |x|, on D, d, the lens' focal length, its diameter and the pupil's: a table over |x| with its
derivatives, made anew for each camera, serves all features.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plenodepth.camera.aperture import aperture_diameter, common_moments, disc_on_lens, pupil_image_offset
from plenodepth.camera.micro_lenses import lens_distances, predicted_center
from plenodepth.camera.model import Array, Indices, PlenopticCamera

PLACES = 160  # of the table, over 1.3 micro-image radii
BEYOND = 1.3
STEP = 1e-5  # relative, of the table's derivatives
ITERATIONS = 12  # Newton's
CONVERGED = 1e-10  # mm
LEAST_PACE = 0.2  # of Newton's slopes: a rough camera may have looks that do not advance with the pixels


class _Optics(NamedTuple):
    """What the centroid depends on besides |x|, mm; in the order of `VARIABLES`."""

    main: float  # D, or to the exit pupil where there is one: it moves with D
    sensor: float  # d
    focal: float
    diameter: float
    aperture: float


VARIABLES = _Optics._fields


class Looks(NamedTuple):
    """Per feature: the open part's centroid ȳ as a vector, and what it depends on."""

    offset: Array  # (n, 2) mm: the pixel's place, from where its lens shows the pupil's middle
    shift: Array  # (n, 2) mm on the lens: ȳ, in the image's u and v
    by_offset: Array  # (n, 2, 2): its derivative by the pixel's place, mm/mm
    by_variable: Array  # (n, 5, 2): by D, d, f, B and the pupil's diameter, mm/mm


class _Table(NamedTuple):
    """Over the distance from the pupil's image: ȳ, mm, and its derivatives by `VARIABLES`."""

    values: Array  # (I, places, 1 + 5)
    step: float  # mm


def looks(camera: PlenopticCamera, uv: Array, k: Indices, l: Indices) -> Looks:
    """For observed pixels (n, 2) of micro-images (k, l), at the camera's own f-number."""
    away, types = _offset(camera, uv, k, l), camera.micro_images.lens_type(k, l)
    distance = np.hypot(away[:, 0], away[:, 1])
    direction = away / np.maximum(distance, 1e-12)[:, None]
    table = _tables(camera)
    values, slope = _interpolated(table, types, distance)
    length = values[:, 0] + _beside_middle(camera, values, k, l)
    along = direction[:, :, None] * direction[:, None, :]
    across = np.eye(2) - along
    around = np.where(distance > 1e-9, length / np.maximum(distance, 1e-9), slope)
    return Looks(
        offset=away,
        shift=length[:, None] * direction,
        by_offset=slope[:, None, None] * along + around[:, None, None] * across,
        by_variable=values[:, 1:, None] * direction[:, None, :],
    )


def appearing(camera: PlenopticCamera, uv: Array, k: Indices, l: Indices, gap: Array) -> Array:
    """Pixels (n, 2) that show what the thin-lens model puts at `uv`, where 1/v − 1/v0 = gap (n,).

    As `camera.apparent_position`, from the table and without an end: beyond the last open pixel ȳ stays as it is, so
    that a rough camera's prediction still says in which direction it is wrong.
    """
    away, types = _offset(camera, uv, k, l), camera.micro_images.lens_type(k, l)
    target = np.hypot(away[:, 0], away[:, 1])
    table = _tables(camera)
    wanted = target - gap * _beside_middle(camera, _interpolated(table, types, target)[0], k, l)
    narrow = table._replace(values=np.ascontiguousarray(table.values[:, :, :1]))
    place = target.copy()
    for _ in range(ITERATIONS):
        values, slope = _interpolated(narrow, types, place)
        excess = place + gap * values[:, 0] - wanted
        if np.abs(excess).max(initial=0) < CONVERGED:
            break
        place = np.maximum(place - excess / np.maximum(1 + gap * slope, LEAST_PACE), 0)
    stretch = np.where(target > 0, place / np.maximum(target, 1e-12), 1)
    return np.asarray(uv + away * (stretch - 1)[:, None] / camera.sensor.pixel_size)


def _offset(camera: PlenopticCamera, uv: Array, k: Indices, l: Indices) -> Array:
    """mm (n, 2), in the image's u and v, from where each pixel's lens shows the pupil's middle."""
    pixel = camera.sensor.pixel_size
    return np.asarray((uv - predicted_center(camera, k, l)) * pixel + pupil_image_offset(camera, k, l))


def _interpolated(table: _Table, types: Indices, distance: Array) -> tuple[Array, Array]:
    """Rows of the table (n, …) at distances (n,) mm, and the slope of ȳ over the distance."""
    place = distance / table.step
    low = np.clip(place.astype(np.int64), 0, PLACES - 2)
    part = np.clip(place - low, 0, 1)[:, None]
    first, second = table.values[types, low], table.values[types, low + 1]
    slope = np.where(place < PLACES - 1, (second[:, 0] - first[:, 0]) / table.step, 0)
    return first + (second - first) * part, slope


def _beside_middle(camera: PlenopticCamera, values: Array, k: Indices, l: Indices) -> Array:
    """What ȳ (n,) has more than in the table, which holds for D and d amid the array: a tilted one has others."""
    main, sensor = lens_distances(camera, k, l)
    main0, sensor0 = lens_distances(camera)
    return np.asarray(values[:, 1] * (main - main0) + values[:, 2] * (sensor - sensor0))


def _tables(camera: PlenopticCamera) -> _Table:
    """Amid the array, of every lens type."""
    main, sensor = (float(value) for value in lens_distances(camera))
    to_pupil = main - camera.main_lens.pupil_distance
    rest = (camera.micro_lenses.lens_diameter, aperture_diameter(camera))
    farthest = BEYOND * camera.micro_images.radius * camera.sensor.pixel_size
    focals = camera.micro_lenses.focal_lengths.tolist()
    rows = [_table(_Optics(to_pupil, sensor, focal, *rest), farthest) for focal in focals]
    return _Table(np.stack(rows), farthest / (PLACES - 1))


@lru_cache(maxsize=64)  # all frames of one step of the adjustment ask for the same
def _table(optics: _Optics, farthest: float) -> Array:
    """(places, 1 + 5) of one lens type."""
    offset = np.linspace(0, farthest, PLACES)
    columns = [_centroid(optics, offset)]
    for name, value in zip(VARIABLES, optics, strict=True):
        moved = _centroid(optics._replace(**{name: value * (1 + STEP)}), offset)
        columns.append((moved - columns[0]) / (STEP * value))
    return np.stack(columns, axis=1)


def _centroid(optics: _Optics, offset: Array) -> Array:
    """ȳ (places,) mm; the last value goes on where nothing is open."""
    ratio, radius = disc_on_lens(optics.main, optics.sensor, 1 / optics.focal, optics.aperture)
    moments = common_moments(optics.diameter / 2, radius, np.abs(ratio) * offset)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.sign(ratio) * moments.first / moments.area
    there = np.flatnonzero(np.isfinite(values))
    return np.asarray(values[np.minimum(np.arange(len(values)), there[-1])])
