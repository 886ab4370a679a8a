"""How bright the rims of micro-images are: the aperture that an image was taken with shows there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.raw.image import RimCheck
from plenodepth.raw.levels import Levels
from plenodepth.raw.offsets import enough_lenses, patch_pixels, sampled_micro_images
from plenodepth.raw.vignetting import falling_profile, predicted_vignetting

Array = NDArray[np.float64]

LENSES_SAMPLED = 1500
INNER, OUTER = 0.3, 0.5  # parts of the radius: where the centre ends and where the rim begins
LEAST_RIM = 0.1  # of the light at the centre: farther out, haze and neighbours would tell instead of the aperture
LEAST_SIGNAL = 0.005  # of the white image, in the mean: a darker image shows no rim
MOST_SATURATED = 0.05  # of the pixels: they are the centres' rather than the rims', which look 1.2 times as bright then
MOST_SATURATED_FLAT = 0.3  # of the pixels: medians tell in spite of it whether rims are as bright as centres
FLAT = 0.08  # from 1: light at the rims over that at the centres of an image without vignetting
MOST_EXPECTED = 0.85  # of the light at the centres: brighter rims would look flat in any case
LEAST_PIXELS = 100
DARK_PART = (0.05, 0.3)  # of the light at the centres, by the optics: pixels that are nearly dark
DARK_DIFFERENCE = 0.2  # from 1: their light over that at the centres, in an image without vignetting
LEAST_LIGHT = 0.05  # of full scale, at the centres: in a darker image, noise that is cut at 0 looks like light
CERTAINTY = 4.0  # standard errors; a scene of few bright spots says little
# One stop between f/2 and f/8 changes the rims of an R12 at least 1.45-fold; at f/4 this is 0.4 of a stop, and from
# half a stop on undoing the wrong aperture's effect on depth is worse than undoing none. Engraved f-numbers are good to
# a fifth of a stop.
CAMERA_TOLERANCE = 1.4


class RimLight(NamedTuple):
    """How bright the rims of an image's micro-images are."""

    ratio: float  # over what its centres and a white image, or the optics, predict
    error: float  # standard error of the ratio
    expected: float  # what these predict: light at the rim over that at the centre


@dataclass(frozen=True, eq=False)
class Samples:
    """Luminance or raw value (n, p) of pixels in n micro-images, with the distance (n, p) from their centres, px."""

    values: Array
    peak: Array  # (n, p): the largest of a pixel's channels, which saturates first
    distance: Array
    lens_type: NDArray[np.int64]  # (n,), 0 for pinholes


def sampled(image: NDArray[Any], camera: PlenopticCamera | GridCamera) -> Samples | None:
    """Pixels of some thousand micro-images, mean of the channels; None where the image holds no whole micro-image."""
    u, v, distance, types = _sampled_pixels(camera)
    if not len(types):
        return None
    numbers = np.asarray(image[v, u], dtype=np.float64)
    mean = peak = numbers
    if numbers.ndim == 3:  # NumPy is slow along an axis of three
        red, green, blue = (np.ascontiguousarray(numbers[..., channel]) for channel in range(3))
        mean, peak = (red + green + blue) / 3, np.maximum(np.maximum(red, green), blue)
    return Samples(mean, peak, distance, types)


@lru_cache(maxsize=1)  # image and white image are sampled alike, several times
def _sampled_pixels(
    camera: PlenopticCamera | GridCamera,
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, NDArray[np.int64]]:
    """Columns and rows, each (n, p), of pixels in n micro-images; their distances (n, p) from centres; types (n,)."""
    micro_images, reach = camera.micro_images, camera.micro_images.radius
    k, l = sampled_micro_images(camera, enough_lenses(LENSES_SAMPLED, reach), reach)
    u, v, distance = patch_pixels(micro_images, k, l, reach)
    return u, v, distance, np.maximum(micro_images.lens_type(k, l), 0)


def rim_brightness(
    image: NDArray[Any], white: NDArray[Any], camera: PlenopticCamera | GridCamera, levels: tuple[Levels, Levels]
) -> RimLight | None:
    """How bright the image's rims are, over what its centres and the white image predict.

    About 1 for images of one aperture, whatever the scene. None where the image is too dark, or the white image's discs
    are too narrow, to tell.
    """
    return rims_of(beside_white(image, white, camera, levels), camera)


def rims_of(samples: RimSamples | None, camera: PlenopticCamera | GridCamera) -> RimLight | None:
    """`rim_brightness` of samples; None without any."""
    return None if samples is None else _over_prediction(samples, camera)


def shows_no_vignetting(samples: RimSamples | None, camera: PlenopticCamera | GridCamera) -> bool:
    """Whether the rims of an image are as bright as its centres, where the reference says that they would be darker.

    Such an image is devignetted already, or was taken with a wide aperture: that cannot be told from its light.
    """
    rims = rims_of(samples, camera)
    if samples is None or rims is None or rims.expected > MOST_EXPECTED:
        return False
    light, radius = samples.light, camera.micro_images.radius
    usable = samples.usable & np.isfinite(light)
    inner = usable & (samples.distance < INNER * radius)
    rim = usable & (samples.distance > OUTER * radius)
    rim &= samples.distance <= _lit_radius(samples.reference, samples.distance)
    part = samples.reference / np.percentile(samples.reference, 95)
    dark = usable & (part > DARK_PART[0]) & (part < DARK_PART[1])  # by a narrow aperture
    level = _totals(light, inner) / np.maximum(inner.sum(axis=1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = light / level[:, None]  # micro-image by micro-image
    relative[~(level > 0)] = np.nan
    # Medians: where an image was divided by next to nothing, a few pixels are very bright.
    return _is_one(relative[rim], FLAT) and (dark.sum() < LEAST_PIXELS or _is_one(relative[dark], DARK_DIFFERENCE))


def _is_one(values: Array, tolerance: float) -> bool:
    """Whether the median of what is there is 1, to within the tolerance and its own error."""
    known = values[np.isfinite(values)]
    if len(known) < LEAST_PIXELS:
        return False
    error = np.subtract(*np.quantile(known, [0.75, 0.25])) / np.sqrt(len(known))
    return bool(abs(np.median(known) - 1) <= tolerance + 2 * min(error, tolerance))


def shown_rims(samples: RimSamples | None, camera: PlenopticCamera | GridCamera) -> float | None:
    """Light at the rims of an image over that at its centres; None where that cannot be told."""
    rims = rims_of(samples, camera)
    return None if rims is None else rims.ratio * rims.expected


def light_in_the_gaps(light: RimSamples | None, camera: PlenopticCamera | GridCamera) -> float:
    """Light of an image over that at its centres, where the white image has next to none; 0 where it has some."""
    if light is None:
        return 0.0
    usable = light.usable & np.isfinite(light.light)
    gap = usable & (light.distance > _lit_radius(light.reference, light.distance))
    inner = usable & (light.distance < INNER * camera.micro_images.radius)
    dark = light.light[inner].mean() if inner.any() else 0.0
    if gap.sum() < LEAST_PIXELS or dark < LEAST_LIGHT:
        return 0.0
    return float(light.light[gap].mean() / dark)


class RimSamples(NamedTuple):
    """Light of an image and what a white image, or the optics, predict for it, at the same pixels, (n, p) each."""

    light: Array
    reference: Array
    distance: Array  # px from the centres of n micro-images
    usable: NDArray[np.bool_]


def beside_white(
    image: NDArray[Any], white: NDArray[Any], camera: PlenopticCamera | GridCamera, levels: tuple[Levels, Levels]
) -> RimSamples | None:
    """Samples of an image and of a white image; `levels` are those of both. None without a whole micro-image."""
    one, two = sampled(image, camera), sampled(white, camera)
    if one is None or two is None:
        return None
    ours, theirs = levels
    reference = np.nan_to_num((two.values - theirs.black) / theirs.span)
    usable = _unsaturated(image, one, ours) & _unsaturated(white, two, theirs)
    return RimSamples((one.values - ours.black) / ours.span, reference, one.distance, usable)


def beside_optics(
    image: NDArray[Any],
    camera: PlenopticCamera | GridCamera,
    levels: Levels,
    most_saturated: float = MOST_SATURATED,
) -> RimSamples | None:
    """Samples of an image, and what the optics predict at the camera's f-number; None where it has none."""
    if not isinstance(camera, PlenopticCamera) or camera.main_lens.f_number is None:
        return None
    samples = sampled(image, camera)
    if samples is None:
        return None
    squared = (samples.distance**2).astype(np.float32)
    types = np.broadcast_to(samples.lens_type[:, None], squared.shape)
    reference = predicted_vignetting(camera).at(squared, types).astype(np.float64)
    light = (samples.values - levels.black) / levels.span
    usable = _unsaturated(image, samples, levels)
    return None if usable.mean() < 1 - most_saturated else RimSamples(light, reference, samples.distance, usable)


def rims_by_camera(image: NDArray[Any], camera: PlenopticCamera | GridCamera, levels: Levels) -> RimCheck | None:
    """The same against what the optics predict at the camera's f-number; None also where the camera does not know it.

    `image` is the white image where there is one: it has no texture that could mislead.
    """
    found = rims_of(beside_optics(image, camera, levels), camera)
    if found is None or not isinstance(camera, PlenopticCamera) or camera.main_lens.f_number is None:
        return None
    agrees = not rims_differ(found.ratio, found.error, CAMERA_TOLERANCE)
    return RimCheck(camera.main_lens.f_number, found.ratio, found.error, agrees, found.ratio * found.expected)


def rims_differ(ratio: float, error: float, tolerance: float) -> bool:
    """Whether rims that are `ratio` ± `error` times as bright as predicted clearly show another aperture."""
    return max(ratio, 1 / max(ratio, 1e-6)) > tolerance and abs(ratio - 1) > CERTAINTY * error


def _unsaturated(image: NDArray[Any], samples: Samples, levels: Levels) -> NDArray[np.bool_]:
    """Which of the samples are below saturation, (n, p)."""
    if image.dtype == np.float32:
        return np.ones(samples.values.shape, np.bool_)
    return np.asarray(samples.peak < levels.saturated)


def _over_prediction(samples: RimSamples, camera: PlenopticCamera | GridCamera) -> RimLight | None:
    """`rim_brightness` of samples."""
    light, reference, distance, usable = samples
    level, radius = np.percentile(reference, 95), camera.micro_images.radius
    usable = usable & np.isfinite(light) & (distance <= _lit_radius(reference, distance))
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
    expected = reference[outer].mean() / reference[inner].mean()
    return RimLight(float(ratio), float(error), float(expected))


def _lit_radius(reference: Array, distance: Array) -> float:
    """Distance from the centres, px, at which the white image (n, p) falls below LEAST_RIM of its centres.

    From the mean over micro-images: chosen one by one, the pixels at the rim would be those that noise has brightened.
    """
    at, profile = falling_profile(reference.ravel(), distance.ravel())
    return float(at[profile >= LEAST_RIM * profile[0]].max())


def _totals(values: Array, where: NDArray[np.bool_]) -> Array:
    """Sum (n,) over those pixels (n, p) of each micro-image."""
    return np.asarray(np.where(where, values, 0).sum(axis=1))
