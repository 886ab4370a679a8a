"""The numbers of a raw image: which shape and type they may have, what is black, full scale and saturated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.camera.raw_format import require_black_level
from plenodepth.errors import InputError
from plenodepth.threads import each_band

SATURATION = 0.998  # of full scale; from there on a number says only "at least"
MOST_DARK = 0.3  # of full scale: a brighter dark frame is none
UNCROPPED = "give the raw image of this camera; of a cropped one say by --crop X,Y which pixel is its first"
RANGES_OF_16_BITS = (1023, 4095, 65535)  # sensors of 10 and 12 bits fill the low end of uint16


@dataclass(frozen=True)
class Levels:
    """The numbers that stand for no light and for full scale. Light is counted from black: 0 … 1 between the two."""

    black: float
    full: float

    @property
    def span(self) -> float:
        """The difference between full scale and black."""
        return self.full - self.black

    @property
    def saturated(self) -> float:
        """The number from which on a pixel says only "at least"."""
        return SATURATION * self.full


def checked_numbers(image: NDArray[Any], camera: PlenopticCamera | GridCamera) -> NDArray[Any]:
    """The image as an array of uint8, uint16 or float32, (h, w) or (h, w, 3), of the camera's size."""
    numbers = _numbers(image)
    width, height = image_size(camera)
    if numbers.shape[:2] != (height, width):
        raise InputError(
            f"is {numbers.shape[1]} × {numbers.shape[0]} px, the camera '{camera.name}' has {width} × {height} px",
            fix=UNCROPPED,
        )
    return numbers


def checked_white(white: NDArray[Any], image: NDArray[Any], crop: tuple[int, int] | None = None) -> NDArray[Any]:
    """The white image as such an array, of the size and the channels of the image.

    A larger one is cut to the image, whose first pixel is pixel `crop` = x, y of it.
    """
    numbers = _numbers(white)
    if crop is not None and numbers.shape[:2] != image.shape[:2]:
        numbers = numbers[crop[1] : crop[1] + image.shape[0], crop[0] : crop[0] + image.shape[1]]
    if numbers.shape[:2] != image.shape[:2]:
        (height, width), (rows, columns) = image.shape[:2], numbers.shape[:2]
        raise InputError(
            f"is {columns} × {rows} px, the image {width} × {height} px", fix="give a white image of the same camera"
        )
    if numbers.ndim != image.ndim:
        mine, other = ("gray" if one.ndim == 2 else "RGB" for one in (numbers, image))
        raise InputError(f"is {mine}, the image {other}", fix="give a white image of the same kind")
    return numbers


def chosen_black_level(camera: PlenopticCamera | GridCamera, given: float | None) -> float:
    """The given black level, else the camera's, as a part of full scale; a vendor's grid knows none."""
    if given is not None:
        return require_black_level(given)
    return camera.sensor.black_level if isinstance(camera, PlenopticCamera) else 0.0


def number_levels(
    image: NDArray[Any], whites: Sequence[NDArray[Any]], full_scale: float | None, black: float
) -> tuple[Levels, Levels]:
    """Levels of the image and of the white image, which have the same black level as a part of full scale."""
    image_scale, white_scale = full_scales(image, whites, full_scale)
    return Levels(black * image_scale, image_scale), Levels(black * white_scale, white_scale)


def full_scales(image: NDArray[Any], whites: Sequence[NDArray[Any]], given: float | None) -> tuple[float, float]:
    """Full scale of the image and of the white image; 16 bits of both share one, told from their largest number."""
    if given is not None:
        if not (np.isfinite(given) and given > 0):
            raise InputError(f"is {given}, needs a number > 0", field="full_scale")
        return float(given), float(given)
    largest = max((int(one.max()) for one in (image, *whites) if one.dtype == np.uint16), default=0)
    of_16_bits = next(limit for limit in RANGES_OF_16_BITS if largest <= limit)
    known = {"uint8": 255.0, "uint16": float(of_16_bits), "float32": 1.0}
    return known[image.dtype.name], known[whites[0].dtype.name if whites else image.dtype.name]


def without_dark(
    image: NDArray[Any], white: NDArray[Any] | None, dark: NDArray[Any], levels: tuple[Levels, Levels]
) -> tuple[NDArray[Any], NDArray[Any] | None, tuple[Levels, Levels]]:
    """Image and white image without what a dark frame shows, float32, and their levels: black is 0 then."""
    less = dark.astype(np.float32)
    ours, theirs = (Levels(0.0, one.full) for one in levels)
    if float(np.median(less)) > MOST_DARK * ours.full:
        raise InputError(
            f"is bright: its median is {float(np.median(less)):g} of {ours.full:g}",
            fix="take it with the cap on the lens",
        )
    scale = np.float32(theirs.full / ours.full)  # the white image may be of another depth in bits
    return image - less, None if white is None else white - scale * less, (ours, theirs)


def saturated_pixels(image: NDArray[Any], levels: Levels) -> NDArray[np.bool_]:
    """Where any channel is saturated, (h, w). Floats with the scale 1 are light already, and never are."""
    saturated = np.zeros(image.shape[:2], np.bool_)
    if image.dtype == np.float32 and levels.full == 1:
        return saturated
    limit = image.dtype.type(levels.saturated if image.dtype == np.float32 else np.ceil(levels.saturated))

    def fill(rows: slice) -> None:
        full = image[rows] >= limit
        saturated[rows] = full if full.ndim == 2 else full[..., 0] | full[..., 1] | full[..., 2]

    each_band(len(image), fill)
    return saturated


def _numbers(image: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)) or not array.size:
        raise InputError(f"has the shape {array.shape}", fix="give (h, w), or (h, w, 3) in RGB")
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float32, copy=False)
    if array.dtype not in (np.uint8, np.uint16):
        raise InputError(f"holds {array.dtype}", fix="give 8 or 16 bits without sign, or floats")
    return array
