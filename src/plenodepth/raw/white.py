"""What a white image must be before it may divide another image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.raw.demosaic import sites
from plenodepth.raw.offsets import patches, sampled_micro_images
from plenodepth.raw.scale import Levels
from plenodepth.raw.vignetting import falling_profile

Array = NDArray[np.float64]

LENSES_SAMPLED = 1500
# Image and white image of one aperture agree within 3 % in how dark the rims are in the mean; one stop between f/2 and
# f/11 changes that at least 1.35-fold.
APERTURE_TOLERANCE = 1.3
INNER, OUTER = 0.3, 0.5  # parts of the radius: where the centre ends and where the rim begins
LEAST_RIM = 0.1  # of the light at the centre: farther out, haze and neighbours would tell instead of the aperture
CERTAINTY = 4.0  # standard errors; a scene of few bright spots says little
LEAST_SIGNAL = 0.005  # of the white image, in the mean: a darker image shows no rim


@dataclass(frozen=True, eq=False)
class Samples:
    """Luminance or raw value (n, p) of pixels in n micro-images, with the distance (n, p) from their centres, px."""

    values: Array
    distance: Array


def sampled(image: NDArray[Any], camera: PlenopticCamera | GridCamera) -> Samples | None:
    """Pixels of some thousand micro-images, mean of the channels; None where the image holds no whole micro-image."""
    reach = camera.micro_images.radius
    k, l = sampled_micro_images(camera, LENSES_SAMPLED, reach)
    if not len(k):
        return None
    values, distance = patches(image, camera.micro_images, k, l, reach)
    numbers = np.asarray(values, dtype=np.float64)
    return Samples(numbers.mean(axis=2) if numbers.ndim == 3 else numbers, distance)


def center_levels(white: NDArray[Any], camera: PlenopticCamera | GridCamera, pattern: str | None) -> Array:
    """What the white image holds at the centres: per channel (3,), per site (2, 2) of a Bayer pattern, or ().

    The median over micro-images of the 95th percentile within each: neither dust nor dark lenses move it.
    """
    if white.ndim == 3:
        return np.stack([center_levels(white[..., channel], camera, None) for channel in range(3)])
    if pattern is not None:
        levels = np.empty((2, 2))
        for row, column, _ in sites(pattern):
            plane = white[row::2, column::2]
            # Half the pixels in each direction; percentiles over tiles of about a micro-image instead of its disc.
            levels[row, column] = _tile_level(plane, max(2, int(camera.micro_images.radius)))
        return levels
    samples = sampled(white, camera)
    values = np.nan_to_num(white.reshape(1, -1) if samples is None else samples.values)
    return np.asarray(np.median(np.percentile(values, 95, axis=1)), dtype=np.float64)


def _tile_level(plane: NDArray[Any], side: int) -> float:
    rows, columns = (max(1, size // side) for size in plane.shape)
    tiles = plane[: rows * side, : columns * side]
    height, width = tiles.shape[0] // rows, tiles.shape[1] // columns
    tiles = tiles[: rows * height, : columns * width].reshape(rows, height, columns, width)
    return float(np.median(np.percentile(np.nan_to_num(tiles), 95, axis=(1, 3))))


def require_same_aperture(
    image: NDArray[Any], white: NDArray[Any], camera: PlenopticCamera | GridCamera, levels: tuple[Levels, Levels]
) -> None:
    """Refuse a white image whose micro-images are clearly narrower or wider than those of the image.

    `levels` are those of image and white image.
    """
    found = rim_brightness(image, white, camera, levels)
    if found is None:
        return
    ratio, error = found
    if max(ratio, 1 / max(ratio, 1e-6)) > APERTURE_TOLERANCE and abs(ratio - 1) > CERTAINTY * error:
        other = "narrower" if ratio > 1 else "wider"
        # A black level that is wrong or not told lifts or lowers rims more than centres, too.
        raise InputError(
            f"has a {other} aperture than the image, whose rims are {ratio:.2g} times as bright as it predicts",
            fix="take the white image at the f-number of the image; if it was, check the black level",
        )


def rim_brightness(
    image: NDArray[Any], white: NDArray[Any], camera: PlenopticCamera | GridCamera, levels: tuple[Levels, Levels]
) -> tuple[float, float] | None:
    """How bright the image's rims are, over what its centres and the white image predict; and the standard error.

    About 1 for images of one aperture, whatever the scene. None where the image is too dark, or the white image's discs
    are too narrow, to tell.
    """
    one, two = sampled(image, camera), sampled(white, camera)
    if one is None or two is None:
        return None
    ours, theirs = levels
    light = (one.values - ours.black) / ours.span
    reference = np.nan_to_num((two.values - theirs.black) / theirs.span)
    level, distance, radius = np.percentile(reference, 95), one.distance, camera.micro_images.radius
    usable = np.isfinite(light) & (distance <= _lit_radius(reference, distance))
    for numbers, values, own in ((image, one.values, ours), (white, two.values, theirs)):
        if numbers.dtype != np.float32:
            usable &= values < own.saturated
    inner, outer = usable & (distance < INNER * radius), usable & (distance > OUTER * radius)
    # Per micro-image: the light at the rim against what centre and white image together predict for it.
    rim = _totals(light, outer)
    with np.errstate(invalid="ignore", divide="ignore"):
        predicted = _totals(light, inner) * _totals(reference, outer) / _totals(reference, inner)
    known = np.isfinite(predicted) & outer.any(axis=1)
    rim, predicted = rim[known], predicted[known]
    if not known.any() or predicted.sum() <= 0 or light[inner].mean() < LEAST_SIGNAL * level:
        return None
    ratio = rim.sum() / predicted.sum()
    error = np.sqrt(((rim - ratio * predicted) ** 2).sum()) / predicted.sum()
    return float(ratio), float(error)


def _lit_radius(reference: Array, distance: Array) -> float:
    """Distance from the centres, px, at which the white image (n, p) falls below LEAST_RIM of its centres.

    From the mean over micro-images: chosen one by one, the pixels at the rim would be those that noise has brightened.
    """
    at, profile = falling_profile(reference.ravel(), distance.ravel())
    return float(at[profile >= LEAST_RIM * profile[0]].max())


def _totals(values: Array, where: NDArray[np.bool_]) -> Array:
    """Sum (n,) over those pixels (n, p) of each micro-image."""
    return np.asarray(np.where(where, values, 0).sum(axis=1))
