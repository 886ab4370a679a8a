"""From the numbers of a sensor to a clean image: scale, saturation, devignetting, demosaicing, luminance."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.blas import single_blas_thread
from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.io.image_formats import StoredImage, read_images
from plenodepth.io.image_formats.video_colors import GAMMA
from plenodepth.raw.align import white_onto_grid
from plenodepth.raw.demosaicing import color_filters, demosaic, spread
from plenodepth.raw.devignette import chosen_method, divided_by_profile, divided_by_white, luminance
from plenodepth.raw.filter_check import said_of_filters
from plenodepth.raw.focus_check import WhiteSpread, better_known, measured_spread
from plenodepth.raw.grid_check import check_grid, require_grid
from plenodepth.raw.image import OTHER_FOCUS, Devignetting, PitchCheck, RawImage
from plenodepth.raw.levels import (
    Levels,
    checked_numbers,
    checked_white,
    chosen_black_level,
    number_levels,
    saturated_pixels,
    without_dark,
)
from plenodepth.raw.noise import noise_level
from plenodepth.raw.reading import files_read, read_white
from plenodepth.raw.rims import (
    MOST_SATURATED_FLAT,
    beside_optics,
    rims_by_camera,
    shown_rims,
    shows_no_vignetting,
)
from plenodepth.raw.white_repair import averaged, restored
from plenodepth.timing import Seconds, StageClock

Method = Literal["auto", "white", "model", "self", "none"]

VIGNETTED = 0.85  # light at the rims over that at the centres, of an image that clearly has vignetting
NEGLIGIBLE_SHARE = 0.0005  # of the white image: so many saturated pixels go without saying


def load_raw(
    path: Path | str,
    camera: PlenopticCamera | GridCamera,
    *,
    white: Path | str | Sequence[Path | str] | None = None,
    dark: Path | str | None = None,
    bayer: str | None = None,
    black_level: float | None = None,
    devignetting: Method = "auto",
    full_scale: float | None = None,
    check_camera: bool = True,
    crop: tuple[int, int] | None = None,
) -> RawImage:
    """A clean image from a file of 8 or 16 bits: gray, RGB, or a mosaic of colour filters.

    `white` is the file of a white image taken with the same camera and aperture, or several; `dark` that of a dark
    frame. The rest is as in `clean_image`.

    >>> image = plenodepth.load_raw("raw.png", plenodepth.load_camera("camera.yaml"), white="white.png")
    >>> image.gray.shape, str(image.devignetting)
    ((404, 560), 'white image')
    """
    clock, began = StageClock(), time.perf_counter()
    whites = _paths(white)
    reads = files_read(path, whites)
    clock.add("read", Seconds(time.perf_counter() - began, sum(read.seconds for read in reads)))
    dark_image = None if dark is None else read_white(Path(dark))
    source = _Source(str(path), ", ".join(map(str, whites)) or "white image", str(dark))
    stored, *white_images = (read.image for read in reads)
    given = _given(stored, bayer, black_level, devignetting, full_scale, check_camera, crop)
    with clock.stage("clean"):
        cleaned = _clean(
            stored.pixels, camera, [white.pixels for white in white_images], dark_image, given, source, WhiteSpread()
        )
    return _finished(cleaned, stored, clock)


def load_frames(
    path: Path | str,
    camera: PlenopticCamera | GridCamera,
    *,
    frames: slice | None = None,
    size: tuple[int, int] | None = None,
    bits: int | None = None,
    white: Path | str | Sequence[Path | str] | None = None,
    dark: Path | str | None = None,
    bayer: str | None = None,
    black_level: float | None = None,
    devignetting: Method = "auto",
    full_scale: float | None = None,
    check_camera: bool = True,
    crop: tuple[int, int] | None = None,
    stored: Iterator[StoredImage] | None = None,
) -> Iterator[RawImage]:
    """Clean images of the frames of a video, a TIFF of several pages or a YUV file, one at a time; or of one image.

    `frames` chooses, counted from 0. `size` (width, height) and `bits` are for YUV files whose name does not tell them.
    The rest is as in `load_raw`. `stored`: the images, if they have been read already.

    >>> images = plenodepth.load_frames("raw.png", plenodepth.load_camera("camera.yaml"), white="white.png")
    >>> [image.name for image in images]
    ['raw']
    """
    whites = _paths(white)
    white_images = [read_white(file) for file in whites]
    dark_image = None if dark is None else read_white(Path(dark))
    source = _Source(str(path), ", ".join(map(str, whites)) or "white image", str(dark))
    sequence, white_spread = stored or read_images(path, frames=frames, size=size, bits=bits), WhiteSpread()
    while True:
        clock = StageClock()
        with clock.stage("read"):
            taken = next(sequence, None)
        if taken is None:
            return
        given = _given(taken, bayer, black_level, devignetting, full_scale, check_camera, crop)
        with clock.stage("clean"):
            cleaned = _clean(taken.pixels, camera, white_images, dark_image, given, source, white_spread)
        yield _finished(cleaned, taken, clock)


def _given(
    stored: StoredImage,
    bayer: str | None,
    black_level: float | None,
    devignetting: str,
    full_scale: float | None,
    check_camera: bool,
    crop: tuple[int, int] | None,
) -> _Given:
    """What the caller says about the numbers of an image, or else its file."""
    return _Given(
        stored.bayer if bayer is None else bayer,
        stored.black_level if black_level is None else black_level,
        devignetting,
        stored.full_scale if full_scale is None else full_scale,
        check_camera,
        crop,
    )


def _finished(cleaned: RawImage, stored: StoredImage, clock: StageClock) -> RawImage:
    """The image with its name, the times and what its file says to beware of."""
    warnings = (f"the file {stored.warning}",) if stored.warning else ()
    encoded = stored.warning == GAMMA
    return replace(cleaned, name=stored.name, notes=(*warnings, *cleaned.notes), encoded=encoded, clock=clock)


def _paths(files: Path | str | Sequence[Path | str] | None) -> list[Path]:
    """Some files, one or none, as a list."""
    if files is None or isinstance(files, Path | str):
        return [] if files is None else [Path(files)]
    return list(dict.fromkeys(Path(file) for file in files))  # one that is named twice counts once


def clean_image(
    image: NDArray[Any],
    camera: PlenopticCamera | GridCamera,
    *,
    white: NDArray[Any] | Sequence[NDArray[Any]] | None = None,
    dark: NDArray[Any] | None = None,
    bayer: str | None = None,
    black_level: float | None = None,
    devignetting: Method = "auto",
    full_scale: float | None = None,
    check_camera: bool = True,
    crop: tuple[int, int] | None = None,
    name: str = "image",
) -> RawImage:
    """A clean image from an array (h, w) or (h, w, 3) of uint8, uint16 or floats.

    Scale: `full_scale` is 1. Unless given it is 255 for uint8; for uint16 the least of 1023, 4095, 65535 that image
    and white image stay within (so give it for an underexposed image without a white one); for floats 1, and then no
    number counts as saturated. With a white image, 1 is what the white image shows at each pixel.

    Black: `black_level`, unless given that of the camera's sensor, is what the sensor counts without light, as a part
    of full scale. It is taken off the image and the white image before anything else; noise about it becomes negative
    light. Full scale stays 1. An image whose black is off already, as of a vendor's program, has the black level 0.

    Colour: `bayer` ("GRBG"), unless given that of the camera's sensor, names the colour filters of an image (h, w). An
    image (h, w, 3) has been through its filters: the sensor's are left aside, given ones are an error.

    Devignetting: "white" divides by the white image, pixel by pixel and channel by channel, which also evens out
    lenses, pixels and the colour of the light. It is not smoothed, since pixels differ and rims are steep: give several
    white images against noise. "model" divides by the vignetting that the camera's optics and f-number predict, "self"
    by an estimate from the image (by nothing, and `devignetting` says so, where the image is too dark or too bright to
    tell), "none" by nothing. "auto" looks: an image whose rims are as bright as its centres, though the optics say
    otherwise, is left alone (`flat`); else it is the first of white, model, self that has what it needs.

    White images: several are averaged. Saturated pixels are restored from the shape of the micro-images, and an image
    of another day is moved onto the camera's grid; `notes` says so. A `dark` frame is taken off the image and the white
    image, pixel by pixel, in place of the black level.

    Camera: an image whose micro-images clearly are not where the camera's are is an `InputError`, unless `check_camera`
    is False.

    Crop: where the image is a part of the sensor's frame (and the camera by `camera.cropped_camera`), `crop` = x, y is
    the pixel of the whole frame that is its first. White images and dark frames of the whole frame are cut to it.

    `gray` is NaN where a number is saturated or not finite, or less than 5 % of a centre's light falls. `color` is NaN
    where no light falls; a saturated pixel keeps its colour.

    `rims` says whether white image or image show the aperture of the camera's f-number.

    >>> import numpy as np
    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> flat = np.full((404, 560), 0.5, np.float32)
    >>> image = plenodepth.clean_image(flat, camera, devignetting="none")
    >>> float(np.nanmax(image.gray))
    0.5
    """
    given = _Given(bayer, black_level, devignetting, full_scale, check_camera, crop)
    clock = StageClock()
    whites = [] if white is None else [white] if isinstance(white, np.ndarray) else list(white)
    with clock.stage("clean"):
        source = _Source(name, "white image", "dark frame")
        cleaned = _clean(image, camera, whites, dark, given, source, WhiteSpread())
    return replace(cleaned, name=name, clock=clock)


@dataclass(frozen=True)
class _Given:
    """What the caller says about the numbers of the image; None leaves it to the camera or to the numbers."""

    bayer: str | None
    black_level: float | None
    devignetting: str
    full_scale: float | None
    check_camera: bool
    crop: tuple[int, int] | None


@dataclass(frozen=True)
class _Source:
    """How errors call the image, the white images and the dark frame."""

    image: str
    white: str
    dark: str


@contextmanager
def _naming(file: str) -> Iterator[None]:
    """Errors inside the block are about this file."""
    try:
        yield
    except InputError as error:
        raise error.in_file(file) from None


@single_blas_thread()
def _clean(
    image: NDArray[Any],
    camera: PlenopticCamera | GridCamera,
    whites: Sequence[NDArray[Any]],
    dark: NDArray[Any] | None,
    given: _Given,
    source: _Source,
    white_spread: WhiteSpread,
) -> RawImage:
    with _naming(source.image):
        numbers = checked_numbers(image, camera)
        filters = color_filters(numbers, camera, given.bayer)
        black = chosen_black_level(camera, given.black_level)
        method = chosen_method(given.devignetting, camera, bool(whites))
        focus = _checked_spread(numbers, camera) if given.check_camera else None
    with _naming(source.white):
        white_numbers = [checked_white(white, numbers, given.crop) for white in whites]
    with _naming(source.image):
        levels = number_levels(numbers, white_numbers, given.full_scale, black)
    full = saturated_pixels(numbers, levels[0])
    notes = said_of_filters(numbers, filters.pattern, levels[0])
    with _naming(source.white):
        white = _white(white_numbers, camera, filters.pattern, levels[1], notes) if whites else None
    if whites and focus is not None and isinstance(camera, PlenopticCamera) and focus.least_told > OTHER_FOCUS:
        focus = better_known(focus, white_spread.of(white_numbers[0], camera))
    if focus is not None and focus.odd:
        notes.insert(0, f"{focus}: the focus may have moved")
    if dark is not None:
        with _naming(source.dark):
            numbers, white, levels = without_dark(numbers, white, checked_white(dark, numbers, given.crop), levels)
    flat = False
    if given.devignetting == "auto" and white is None:
        flat = shows_no_vignetting(beside_optics(numbers, camera, levels[0], MOST_SATURATED_FLAT), camera)
        method = Devignetting.NONE if flat else method
    if given.devignetting == "none":
        rim = shown_rims(beside_optics(numbers, camera, levels[0]), camera)
        if rim is not None and rim < VIGNETTED:
            notes.append(f"the image has vignetting, {rim:.2f} of the light at the rims, which was left in as asked")
    with _naming(source.white):
        if white is not None:
            light = divided_by_white(numbers, white, camera, filters.pattern, levels)
    # An image that is not to be devignetted may have no vignetting any more.
    undivided = method is Devignetting.NONE and not flat
    shown, its_levels = (numbers, levels[0]) if white is None else (white, levels[1])
    rims = None if undivided else rims_by_camera(shown, camera, its_levels)
    if white is None:
        light, method = divided_by_profile(numbers, full, camera, method, levels[0])
    pattern = filters.pattern
    color = demosaic(light, pattern) if pattern is not None else light if light.ndim == 3 else None
    gray = light if color is None else luminance(color)
    if pattern is not None:
        full = spread(full)  # a saturated pixel is in the colours of its neighbours
    gray[full] = np.nan
    demosaiced = pattern is not None or filters.demosaiced_before
    noise = noise_level(gray, camera, demosaiced=demosaiced)
    return RawImage(gray, color, noise, method, rims=rims, spread=focus, mosaic=pattern, flat=flat, notes=tuple(notes))


def _checked_spread(image: NDArray[Any], camera: PlenopticCamera | GridCamera) -> PitchCheck | None:
    """Refuse an image of another camera. The spread of its micro-images, where a focus matters."""
    check = check_grid(image, camera)
    require_grid(check, camera)
    return measured_spread(image, camera, check.offset) if isinstance(camera, PlenopticCamera) else None


def _white(
    whites: Sequence[NDArray[Any]],
    camera: PlenopticCamera | GridCamera,
    pattern: str | None,
    levels: Levels,
    notes: list[str],
) -> NDArray[Any]:
    """One white image of all: averaged, on the camera's grid, saturated pixels restored; what was done is noted."""
    white = averaged(whites, levels)
    if white.dtype != np.float32 or len(whites) > 1:
        light = restored(white, camera, pattern, levels)
        if light.restored > NEGLIGIBLE_SHARE:
            notes.append(f"{100 * light.restored:.1f} % of the white image is saturated, and was restored")
        white = light.numbers
    moved, note = white_onto_grid(white, camera, pattern)
    notes += [note] if note else []
    return moved
