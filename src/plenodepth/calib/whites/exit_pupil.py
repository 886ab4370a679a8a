"""The exit pupil of the main lens from white images: where the stop stands that clips the light, and how wide it is.

A white image shows the open area of each micro-lens (`aperture.clipping`). How fast the light falls off towards the rim
of a micro-image tells the pupil's diameter over its distance from the lens array. Where a lens shows the pupil's middle
tells its distance alone: for a pupil e mm behind the thin lens that is e d/(D (D − e)) times the lens' place C farther
out than for a thin lens, a quarter of a pixel for each mm of e and 10 mm of C in an R12.

So the estimate is as good as the camera's own prediction of the centres: an error of the lens pitch or of D shows as a
distance, and a calibration that took the centres of white images for those of the thin lens has hidden it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from plenodepth.camera import ExitPupil, PlenopticCamera, predicted_center
from plenodepth.camera.aperture.clipping import aperture_diameter, pupil_on_lens
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError
from plenodepth.geometry.discs import common_area
from plenodepth.raw.offsets import patch_pixels, sampled_micro_images

LENSES_SAMPLED = 150
REACH = 0.95  # of a micro-image's radius: farther out there may be light of the neighbours
SUBPIXELS = np.array([-0.5, 0.5]) / np.sqrt(3)  # Gauss–Legendre over a pixel's width
NEAREST = 0.8  # of D: the farthest from the thin lens that a pupil is looked for
BRIGHT = 0.98  # quantile of the light that counts as 1
LEAST_CLIPPED = 0.02  # of the light, in the mean: with less there is no rim to measure


@dataclass(frozen=True, eq=False)
class ExitPupilFit:
    """An estimated exit pupil; its diameter is that at the camera's f-number."""

    pupil: ExitPupil
    standard_errors: tuple[float, float]  # mm, of distance and diameter
    rms: float  # of measured minus fitted light, 1 = the brightest pixels of an image
    f_numbers: tuple[float, ...]


def estimate_exit_pupil(whites: Mapping[float, NDArray[Any]], camera: PlenopticCamera) -> ExitPupilFit:
    """Distance and diameter by least squares over micro-images across the field.

    `whites`: linear light without black level, (height, width) or (height, width, 3), by f-number. Diameters are
    taken to go as 1/N. The brightness of each image and lens type is free. A pupil that the camera has already is
    taken for a start only.
    """
    if not whites:
        raise InputError("are missing", field="whites", fix="give a white image at one aperture or more")
    start = np.array([camera.main_lens.pupil_distance, aperture_diameter(camera)])
    samples = sample_whites(whites, camera)
    limit = NEAREST * float(lens_distances(camera).to_main_lens)

    def residuals(parameters: Array) -> Array:
        return np.concatenate([_residual(camera, parameters, sample) for sample in samples])

    clipped = 1 - np.mean([_open_area(camera, start, sample).mean() for sample in samples])
    if clipped < LEAST_CLIPPED:
        raise InputError("show no rim: every lens is fully open", field="whites", fix="stop the lens down")
    fit = least_squares(
        residuals, start, bounds=([-10 * limit, 0.01 * start[1]], [limit, 10 * start[1]]), x_scale=start[1]
    )
    variance = 2 * fit.cost / max(len(fit.fun) - 2, 1)
    slopes = np.asarray(fit.jac, dtype=np.float64)
    errors = np.sqrt(np.diag(np.linalg.pinv(slopes.T @ slopes)) * variance)
    return ExitPupilFit(
        ExitPupil(float(fit.x[0]), float(fit.x[1])),
        (float(errors[0]), float(errors[1])),
        float(np.sqrt(np.mean(fit.fun**2))),
        tuple(sample.f_number for sample in samples),
    )


def with_exit_pupil(camera: PlenopticCamera, fit: ExitPupilFit) -> PlenopticCamera:
    """The camera with the estimated pupil."""
    return replace(camera, main_lens=replace(camera.main_lens, exit_pupil=fit.pupil))


@dataclass(frozen=True, eq=False)
class WhiteSample:
    """Pixels (n, p) of n micro-images of one white image."""

    f_number: float
    light: Array  # (n, p)
    place: Array  # (n, p, 2) mm on the sensor, camera frame
    middle: Array  # (n, 2) mm on the sensor: where the camera has the pupil's middle
    k: Indices  # (n,)
    l: Indices  # (n,)
    lens_type: Indices  # (n,)


def sample_whites(
    whites: Mapping[float, NDArray[Any]],
    camera: PlenopticCamera,
    lenses: int = LENSES_SAMPLED,
    pixels: int | None = None,
) -> list[WhiteSample]:
    """Light of some micro-images across the field, 1 = bright; of each at most so many pixels, evenly taken."""
    micro_images, sensor = camera.micro_images, camera.sensor
    reach = REACH * micro_images.radius
    k, l = sampled_micro_images(camera, lenses, reach)
    if not len(k):
        raise InputError("hold no whole micro-image", field="whites")
    u, v, _ = patch_pixels(micro_images, k, l, reach)
    if pixels is not None and u.shape[1] > pixels:
        chosen = np.linspace(0, u.shape[1] - 1, pixels).astype(np.int64)
        u, v = u[:, chosen], v[:, chosen]
    place = sensor.metric_from_image(np.stack([u, v], axis=-1))
    middle = sensor.metric_from_image(predicted_center(k, l, camera))
    types = np.maximum(micro_images.lens_type(k, l), 0)
    samples = []
    for f_number, image in whites.items():
        if image.shape[:2] != (sensor.height, sensor.width):
            raise InputError(
                f"at f/{f_number:g} is {image.shape[1]} × {image.shape[0]} px, the camera's images are "
                f"{sensor.width} × {sensor.height}",
                field="whites",
            )
        light = image[v, u].astype(np.float64)
        light = light.mean(axis=-1) if light.ndim == 3 else light
        if not (np.isfinite(light).all() and light.max() > 0):
            raise InputError(f"at f/{f_number:g} is dark or holds numbers that are not finite", field="whites")
        light /= np.quantile(light, BRIGHT)
        samples.append(WhiteSample(float(f_number), light, place, middle, k, l, types))
    return samples


def _residual(camera: PlenopticCamera, parameters: Array, sample: WhiteSample) -> Array:
    """Measured minus fitted light, with the best brightness for each lens type."""
    area = _open_area(camera, parameters, sample)
    for lens_type in np.unique(sample.lens_type):
        mine = sample.lens_type == lens_type
        area[mine] *= np.sum(sample.light[mine] * area[mine]) / max(np.sum(area[mine] ** 2), np.finfo(float).tiny)
    return (sample.light - area).ravel()


def _open_area(camera: PlenopticCamera, parameters: Array, sample: WhiteSample) -> Array:
    """Open part (n, p) of the lenses, averaged over each pixel, with a pupil of distance and diameter `parameters`."""
    lens = replace(camera.main_lens, exit_pupil=ExitPupil(float(parameters[0]), float(parameters[1])))
    camera = replace(camera, main_lens=lens)
    seen = pupil_on_lens(sample.k, sample.l, camera, sample.f_number)
    middle = camera.sensor.metric_from_image(predicted_center(sample.k, sample.l, camera))
    half = camera.micro_lenses.lens_diameter / 2
    total = np.zeros(sample.light.shape)
    for du in SUBPIXELS:
        for dv in SUBPIXELS:
            away = sample.place + np.array([du, dv]) * camera.sensor.pixel_size - middle[:, None]
            distance = np.abs(seen.ratio)[:, None] * np.hypot(away[..., 0], away[..., 1])
            total += common_area(half, seen.radius[:, None], distance)
    return np.asarray(total / (len(SUBPIXELS) ** 2 * np.pi * half**2))
