"""What of a micro-lens a pixel looks through: the main lens' aperture clips each pixel's cone of light.

All lengths in mm, lateral positions relative to the ray from the middle of the exit pupil through the micro-lens'
centre, which meets the sensor at the micro-image's centre. The ray from the pixel at x through the point y of the
micro-lens (diameter B, focal length f, d from the sensor) crosses the plane of the exit pupil, at P from the
micro-lens, at
    Y = g y − x P/d,     g = 1 + P (1/d − 1/f),
and passes if |Y| ≤ A/2, where A is the pupil's diameter. So a pixel is open over the intersection of two discs,
disc(0, B/2) and disc(c, R) with c = x P/(d g) and R = A/(2 |g|).

Its area is the vignetting. Its centroid ȳ is why depth comes out scaled: at virtual depth v the ray through y sees
what an open pixel would show at x + y (1/v − 1/v0), where v0 = f/(f − d) is the lens' focus; on average that is
    x_eff = x + ȳ(x) (1/v − 1/v0).
Its second moments, times (1/v − 1/v0)², are those of the blur.

By default the pupil is the thin main lens itself, P = D. A pupil that lies e behind it (`ExitPupil.distance`) has
P = D − e. The micro-images' centres are images of its middle (`predicted_center`), so that nothing else changes.

Pinholes have no width, so nothing shifts and nothing blurs. Only their area is that of a hole as wide as a lens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.micro_lenses import LensDistances, lens_distances, to_pupil
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry.discs import common_area, common_area_and_first, common_moments, common_slopes

LEAST_GAIN = 1e-6  # of |g|: below it the lens images the pixel onto the pupil, and all of the lens is open, or nothing


class PupilOnLens(NamedTuple):
    """The exit pupil as a pixel x sees it on its micro-lens: disc(ratio · x, radius)."""

    ratio: Array  # (...) P/(d g): how fast the disc moves with the pixel
    radius: Array  # (...) R, mm


def pupil_on_lens(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera, f_number: float | None = None) -> PupilOnLens:
    """For the lenses behind micro-images (k, l), which broadcast; D and d are each lens' own."""
    types = camera.micro_images.lens_type(k, l)
    return disc_of_pupil(*lens_distances(camera, k, l), types, camera, f_number)


def disc_of_pupil(
    main: Array, sensor: Array, lens_type: int | Indices, camera: PlenopticCamera, f_number: float | None = None
) -> PupilOnLens:
    """The pupil on lenses at D = main and d = sensor, mm; all broadcast."""
    inverse_focal = 1 / camera.micro_lenses.focal_lengths[lens_type] if camera.type_count else 0.0
    distance = to_pupil(camera, LensDistances(main, sensor))
    return disc_on_lens(distance, sensor, inverse_focal, aperture_diameter(camera, f_number))


def disc_on_lens(distance: ArrayLike, sensor: ArrayLike, inverse_focal: ArrayLike, aperture: ArrayLike) -> PupilOnLens:
    """The pupil on a lens for P = distance, d = sensor, 1/f and A, mm; all broadcast."""
    to_lens, to_sensor = np.asarray(distance, dtype=np.float64), np.asarray(sensor, dtype=np.float64)
    gain = 1 + to_lens * (1 / to_sensor - np.asarray(inverse_focal))
    gain = np.copysign(np.maximum(np.abs(gain), LEAST_GAIN), gain)
    return PupilOnLens(to_lens / (to_sensor * gain), np.asarray(aperture) / 2 / np.abs(gain))


class OpenLens(NamedTuple):
    """The open part of a micro-lens, per pixel; along and across refer to the direction from the lens' centre."""

    area: Array  # of the lens' own area, in [0, 1]
    centroid: Array  # mm, along
    variance_along: Array  # mm², about the centroid
    variance_across: Array  # mm²
    skewness: Array  # mm³: mean cube of the distance from the centroid, along


def open_lens(
    offset: ArrayLike,
    lens_type: int,
    camera: PlenopticCamera,
    f_number: float | None = None,
    distances: LensDistances | None = None,
) -> OpenLens:
    """What is open for pixels `offset` mm (≥ 0) from their micro-image's centre.

    Default: the camera's own f-number, and D and d at the array's centre. NaN for all but the area where
    nothing is open.
    """
    main, sensor = distances or lens_distances(camera)
    ratio, radius = disc_of_pupil(main, sensor, lens_type, camera, f_number)
    return open_part(ratio, radius, np.asarray(offset, dtype=np.float64), camera)


def open_part(ratio: Array, radius: Array, offset: Array, camera: PlenopticCamera) -> OpenLens:
    """`open_lens` for a pupil on the lens of any `PupilOnLens`; all broadcast."""
    half = camera.micro_lenses.lens_diameter / 2
    moments = common_moments(half, radius, np.abs(ratio) * offset)
    with np.errstate(divide="ignore", invalid="ignore"):
        centroid = moments.first / moments.area
        along = np.maximum(moments.along / moments.area - centroid**2, 0)
        across = moments.across / moments.area
        third = moments.third / moments.area - centroid * (3 * along + centroid**2)
    width, side = (1.0 if camera.type_count else 0.0), np.sign(ratio)
    area = moments.area / (np.pi * half**2)
    return OpenLens(area, width * side * centroid, width * along, width * across, width * side * third)


def open_area(ratio: Array, radius: Array, offset: Array, camera: PlenopticCamera) -> Array:
    """`open_part(...).area` alone, in a fraction of the time."""
    half = camera.micro_lenses.lens_diameter / 2
    return np.asarray(common_area(half, radius, np.abs(ratio) * offset) / (np.pi * half**2))


def open_centroid(ratio: Array, radius: Array, offset: Array, camera: PlenopticCamera) -> Array:
    """`open_part(...).centroid` alone, in a fraction of the time."""
    area, first = common_area_and_first(camera.micro_lenses.lens_diameter / 2, radius, np.abs(ratio) * offset)
    with np.errstate(divide="ignore", invalid="ignore"):
        centroid = first / area
    return np.asarray((1.0 if camera.type_count else 0.0) * np.sign(ratio) * centroid)


def open_part_slope(ratio: Array, radius: Array, offset: Array, camera: PlenopticCamera) -> Array:
    """d(centroid)/d(offset) of `open_part`, along; across it is centroid/offset. NaN where nothing is open."""
    half, distance = camera.micro_lenses.lens_diameter / 2, np.abs(ratio) * offset
    (area, first), slopes = common_area_and_first(half, radius, distance), common_slopes(half, radius, distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_distance = (slopes.first_by_distance - first / area * slopes.area_by_distance) / area
    return (1.0 if camera.type_count else 0.0) * ratio * by_distance


def aperture_diameter(camera: PlenopticCamera, f_number: float | None = None) -> float:
    """A, mm, of the exit pupil, by default at the camera's own f-number: (F − e)/N, or as that pupil says."""
    lens = camera.main_lens
    number = lens.f_number if f_number is None else f_number
    if number is None:
        raise InputError(
            f"camera '{camera.name}' has no f-number", field="main_lens.f_number", fix="add it to the camera file"
        )
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"is {number:g}, needs a number > 0", field="f_number")
    pupil = lens.exit_pupil
    if pupil is None or pupil.diameter is None or lens.f_number is None:
        return (lens.focal_length - lens.pupil_distance) / number
    return pupil.diameter * lens.f_number / number


def focus_inverse_depth(camera: PlenopticCamera, distances: LensDistances | None = None) -> Array:
    """1/v0 = 1 − d/f of each lens type (I,): where the lens is in focus; 1 for pinholes. Default: d at the centre."""
    if not camera.type_count:
        return np.ones(1)
    to_sensor = (distances or lens_distances(camera)).to_sensor
    return np.asarray(1 - float(to_sensor) / camera.micro_lenses.focal_lengths)


@dataclass(frozen=True, eq=False)
class ApertureTable:
    """`open_lens` of every lens type over the distance from the micro-image's centre, px, for kernels and plots."""

    radius: Array  # (n,) px from 0, evenly spaced
    area: Array  # (I, n)
    centroid: Array  # (I, n) px
    variance_along: Array  # (I, n) px²
    variance_across: Array  # (I, n) px²
    skewness: Array  # (I, n) px³
    focus: Array  # (I,) 1/v0

    def effective_radius(self, lens_type: int, inverse_depth: ArrayLike) -> Array:
        """|x_eff| (..., n), px, at the table's radii and 1/v (...)."""
        shift = np.asarray(inverse_depth, dtype=np.float64)[..., None] - self.focus[lens_type]
        return np.asarray(self.radius + shift * self.centroid[lens_type])


def aperture_table(
    camera: PlenopticCamera,
    f_number: float | None = None,
    distances: LensDistances | None = None,
    count: int = 241,
) -> ApertureTable:
    """The table up to the micro-image's own radius, by default for D and d at the array's centre.

    Beyond the last open radius the last values go on.
    """
    pixel = camera.sensor.pixel_size
    radius = np.linspace(0, camera.micro_images.radius, count)
    focus = focus_inverse_depth(camera, distances)
    rows = [open_lens(radius * pixel, i, camera, f_number, distances) for i in range(len(focus))]

    def in_px(name: str, power: int) -> Array:
        return np.array([_continued(getattr(row, name)) for row in rows]) / pixel**power

    return ApertureTable(
        radius=radius,
        area=np.array([row.area for row in rows]),
        centroid=in_px("centroid", 1),
        variance_along=in_px("variance_along", 2),
        variance_across=in_px("variance_across", 2),
        skewness=in_px("skewness", 3),
        focus=focus,
    )


def _continued(values: Array) -> Array:
    """The last number goes on where nothing is open."""
    there = np.flatnonzero(np.isfinite(values))
    return np.asarray(values[np.minimum(np.arange(len(values)), there[-1])])
