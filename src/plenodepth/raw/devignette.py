"""Dividing the vignetting out: by a white image, or by a profile of each lens type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.errors import InputError
from plenodepth.raw.image import Devignetting
from plenodepth.raw.levels import Levels
from plenodepth.raw.vignetting import (
    RadialVignetting,
    estimated_vignetting,
    predicted_vignetting,
    require_aperture,
)
from plenodepth.raw.white import center_levels, require_same_aperture
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]

METHODS = {
    "white": Devignetting.WHITE,
    "model": Devignetting.MODEL,
    "self": Devignetting.SELF,
    "none": Devignetting.NONE,
}
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
LEAST_LIGHT = 0.05  # of the light at a micro-image's centre: below, dividing would only magnify noise
ROWS_IN_CACHE = 16  # even, for Bayer patterns; what is computed of so many rows stays in the processor's cache
DARK_WHITE = 0.01  # of full scale at the centres: a white image with less is no white image


def chosen_method(name: str, camera: PlenopticCamera | GridCamera, has_white: bool) -> Devignetting:
    """What "auto" and the other names mean for this camera; an `InputError` where something is lacking."""
    if name == "auto":
        if has_white:
            return Devignetting.WHITE
        predictable = isinstance(camera, PlenopticCamera) and camera.main_lens.f_number is not None
        return Devignetting.MODEL if predictable else Devignetting.SELF
    if name not in METHODS:
        raise InputError(f"is {name!r}", field="devignetting", fix=f"give one of auto, {', '.join(METHODS)}")
    if (name == "white") != has_white:
        missing = "is 'white', but there is no white image" if not has_white else f"is '{name}' with a white image"
        fix = "give the white image" if not has_white else "leave the white image out, or use 'white'"
        raise InputError(missing, field="devignetting", fix=fix)
    if name == "model":
        require_aperture(camera)
    return METHODS[name]


def divided_by_white(
    image: NDArray[Any],
    white: NDArray[Any],
    camera: PlenopticCamera | GridCamera,
    pattern: str | None,
    levels: tuple[Levels, Levels],
) -> Float32:
    """Image over white image, each from its black level on, float32 of the image's shape; NaN where white is dark.

    `levels` are those of the image and of the white image. Errors are about the white image.
    """
    ours, theirs = levels
    centers = _bright_centers(white, camera, pattern, theirs)
    require_same_aperture(image, white, camera, levels)
    ratio = np.float32(theirs.span / ours.span)
    black, white_black = np.float32(ours.black), np.float32(theirs.black)
    # Per pixel and channel: below the first the white image is too dark, from the second on it is saturated.
    least = (LEAST_LIGHT * centers).astype(np.float32)
    most = np.float32(np.inf if white.dtype == np.float32 else theirs.saturated)
    light = np.empty(image.shape, np.float32)

    numbers, reference_numbers, lines = _lines(image), _lines(white), _lines(light)
    # A row of limits, or two for a Bayer pattern: NumPy is slow along an axis of three or two.
    limits = np.tile(least, (1, image.shape[1]) if pattern is None else (1, image.shape[1] // 2 + 1))
    limits = limits[:, : lines.shape[1]]

    def fill(rows: slice) -> None:
        reference = np.subtract(reference_numbers[rows], white_black, dtype=np.float32)
        usable = reference_numbers[rows] < most
        for row in range(len(limits)):
            # The limit is > 0, and so is what the image is divided by.
            usable[row :: len(limits)] &= reference[row :: len(limits)] >= limits[row]
        result = np.subtract(numbers[rows], black, out=lines[rows], dtype=np.float32)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            result /= reference
            result *= ratio
        if image.dtype == np.float32:
            result[~np.isfinite(result)] = np.nan
        channels = usable.reshape(*usable.shape[:1], image.shape[1], -1)
        missing = ~np.logical_and.reduce([channels[..., channel] for channel in range(channels.shape[2])])
        for channel in range(channels.shape[2]):
            light_of_channel = result.reshape(channels.shape)[..., channel]
            np.copyto(light_of_channel, np.float32(np.nan), where=missing)

    each_band(len(image), fill, rows=ROWS_IN_CACHE)
    return light


def _lines(image: NDArray[Any]) -> NDArray[Any]:
    """An image (h, w) or (h, w, 3) as rows of numbers."""
    return image.reshape(len(image), -1)


def _bright_centers(
    white: NDArray[Any], camera: PlenopticCamera | GridCamera, pattern: str | None, levels: Levels
) -> NDArray[np.float64]:
    """What the white image holds at the centres above black, in the shape of `center_levels`; > 0, not saturated."""
    numbers = center_levels(white, camera, pattern)
    if levels.black > 0 and numbers.min() <= levels.black:
        raise InputError(
            f"holds {numbers.min():g} at the centres of its micro-images, the black level is {levels.black:g}",
            fix="expose it to about 80 %, or correct the black level",
        )
    if not np.isfinite(numbers).all() or numbers.min() - levels.black < DARK_WHITE * levels.span:
        raise InputError("is dark or not a number where micro-images should be bright", fix="expose it to about 80 %")
    if white.dtype != np.float32 and numbers.max() >= levels.saturated:
        raise InputError("is saturated at the centres of its micro-images", fix="expose it to about 80 %")
    return numbers - levels.black


def divided_by_profile(
    image: NDArray[Any],
    saturated: NDArray[np.bool_],
    camera: PlenopticCamera | GridCamera,
    method: Devignetting,
    levels: Levels,
) -> tuple[Float32, Devignetting]:
    """The image over what the camera model or the image itself says, float32 of the image's shape.

    Before the division 0 is black, 1 full scale. With it what was divided by: nothing where the image does not show its
    vignetting.
    """
    light = np.empty(image.shape, np.float32)

    def fill(rows: slice) -> None:
        band = np.subtract(image[rows], np.float32(levels.black), out=light[rows])
        band /= np.float32(levels.span)
        band[~np.isfinite(band)] = np.nan

    each_band(len(image), fill)
    profile: RadialVignetting | None = None
    if method is Devignetting.MODEL:
        profile = predicted_vignetting(require_aperture(camera))
    elif method is Devignetting.SELF:
        profile = estimated_vignetting(luminance(light), saturated, camera)
    if profile is None:
        return light, Devignetting.NONE
    width, _ = image_size(camera)

    def divide(rows: slice) -> None:
        reference = profile.band(camera.micro_images, rows, width)
        reference[reference < LEAST_LIGHT] = np.nan
        band = light[rows]
        with np.errstate(over="ignore"):
            band /= reference if light.ndim == 2 else reference[..., None]
        band[np.isinf(band)] = np.nan

    each_band(len(image), divide)
    return light, method


def luminance(light: Float32) -> Float32:
    """0.299 R + 0.587 G + 0.114 B of linear light; gray light as it is."""
    if light.ndim == 2:
        return light
    gray: Float32 = np.empty(light.shape[:2], np.float32)

    def fill(rows: slice) -> None:
        np.matmul(light[rows], LUMINANCE, out=gray[rows])

    each_band(len(light), fill)
    return gray
