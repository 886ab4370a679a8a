"""From the numbers of a sensor to a clean image: scale, saturation, devignetting, demosaicing, luminance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.io import read_image
from plenodepth.io.images import Image
from plenodepth.raw.demosaic import color_filters, demosaic, spread
from plenodepth.raw.devignette import chosen_method, divided_by_profile, divided_by_white, luminance
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.levels import checked_numbers, checked_white, chosen_black_level, number_levels, saturated_pixels
from plenodepth.raw.noise import noise_level
from plenodepth.raw.rims import rims_by_camera
from plenodepth.threads import thread_count
from plenodepth.timing import Seconds, StageClock

Method = Literal["auto", "white", "model", "self", "none"]


def load_raw(
    path: Path | str,
    camera: PlenopticCamera | GridCamera,
    *,
    white: Path | str | None = None,
    bayer: str | None = None,
    black_level: float | None = None,
    devignetting: Method = "auto",
    full_scale: float | None = None,
) -> RawImage:
    """A clean image from a file of 8 or 16 bits: gray, RGB, or a mosaic of colour filters.

    `white` is the file of a white image taken with the same camera and aperture. The rest is as in `clean_image`.

    >>> image = plenodepth.load_raw("raw.png", plenodepth.load_camera("camera.yaml"), white="white.png")
    >>> image.gray.shape, str(image.devignetting)
    ((404, 560), 'white image')
    """
    clock, began = StageClock(), time.perf_counter()
    read_ahead(path, white)
    image, taken = _ahead.pop(("image", Path(path)))()
    white_image, white_taken = (None, 0.0) if white is None else _ahead.pop(("white", Path(white)))()
    clock.add("read", Seconds(time.perf_counter() - began, taken + white_taken))
    source = _Source(str(path), "white image" if white is None else str(white))
    given = _Given(bayer, black_level, devignetting, full_scale)
    with clock.stage("clean"):
        cleaned = _clean(image, camera, white_image, given, Path(path).stem, source)
    return replace(cleaned, clock=clock)


class _Read(NamedTuple):
    """An image from a file, and the CPU-seconds that it took."""

    image: Image
    seconds: float


# What `read_ahead` has begun to read and nobody has asked for, by its role and path.
_ahead = dict[tuple[str, Path], Callable[[], _Read]]()


def read_ahead(path: Path | str, white: Path | str | None) -> None:
    """Begin to read the files that `load_raw` is going to need, unless that is under way.

    Each is read by a thread of its own; with one thread, when it is asked for. Errors come from `load_raw`.
    """
    for role, file, read in (("image", path, read_image), ("white", white, read_white)):
        if file is not None and (role, Path(file)) not in _ahead:
            _ahead[role, Path(file)] = _begin(_timed, read, Path(file))


def _begin(work: Callable[..., _Read], *arguments: Any) -> Callable[[], _Read]:
    """Do work on a thread of its own, if there may be several; what is returned waits for the result."""
    if thread_count() == 1:
        return partial(work, *arguments)
    pool = ThreadPoolExecutor(1)
    result = pool.submit(work, *arguments).result
    pool.shutdown(wait=False)
    return result


def _timed(read: Callable[[Path], Image], path: Path) -> _Read:
    began = time.thread_time()
    return _Read(read(path), time.thread_time() - began)


def forget_white() -> None:
    """Free the white image that `load_raw` keeps for the next frame."""
    _read_unchanged.cache_clear()


def read_white(path: Path) -> Image:
    """A white image from a file, which is kept for the next frame unless the file changes."""
    try:
        state = path.stat()
    except OSError:
        return read_image(path)  # which says what is wrong
    return _read_unchanged(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1)
def _read_unchanged(path: Path, *_: int) -> Image:
    image = read_image(path)
    image.flags.writeable = False
    return image


def clean_image(
    image: NDArray[Any],
    camera: PlenopticCamera | GridCamera,
    *,
    white: NDArray[Any] | None = None,
    bayer: str | None = None,
    black_level: float | None = None,
    devignetting: Method = "auto",
    full_scale: float | None = None,
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
    lenses, pixels and the colour of the light. It is not smoothed, since pixels differ and rims are steep: average
    several white images against noise. "model" divides by the vignetting that the camera's optics and f-number
    predict, "self" by an estimate from the image (by nothing, and `devignetting` says so, where the image is too dark
    or too bright to tell), "none" by nothing. "auto" is the first of white, model, self that has what it needs.

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
    given = _Given(bayer, black_level, devignetting, full_scale)
    clock = StageClock()
    with clock.stage("clean"):
        cleaned = _clean(image, camera, white, given, name, _Source(name, "white image"))
    return replace(cleaned, clock=clock)


@dataclass(frozen=True)
class _Given:
    """What the caller says about the numbers of the image; None leaves it to the camera or to the numbers."""

    bayer: str | None
    black_level: float | None
    devignetting: str
    full_scale: float | None


@dataclass(frozen=True)
class _Source:
    """How errors call the image and the white image."""

    image: str
    white: str


@contextmanager
def _naming(file: str) -> Iterator[None]:
    """Errors inside the block are about this file."""
    try:
        yield
    except InputError as error:
        raise error.in_file(file) from None


def _clean(
    image: NDArray[Any],
    camera: PlenopticCamera | GridCamera,
    white: NDArray[Any] | None,
    given: _Given,
    name: str,
    source: _Source,
) -> RawImage:
    with _naming(source.image):
        numbers = checked_numbers(image, camera)
        filters = color_filters(numbers, camera, given.bayer)
        black = chosen_black_level(camera, given.black_level)
        method = chosen_method(given.devignetting, camera, white is not None)
    with _naming(source.white):
        white_numbers = None if white is None else checked_white(white, numbers)
    with _naming(source.image):
        levels = number_levels(numbers, white_numbers, given.full_scale, black)
    with _naming(source.white):
        if white_numbers is not None:
            light = divided_by_white(numbers, white_numbers, camera, filters.pattern, levels)
    # An image that is not to be devignetted may have no vignetting any more.
    undivided = method is Devignetting.NONE
    shown, its_levels = (numbers, levels[0]) if white_numbers is None else (white_numbers, levels[1])
    rims = None if undivided else rims_by_camera(shown, camera, its_levels)
    full = saturated_pixels(numbers, levels[0])
    if white_numbers is None:
        light, method = divided_by_profile(numbers, full, camera, method, levels[0])
    pattern = filters.pattern
    color = demosaic(light, pattern) if pattern is not None else light if light.ndim == 3 else None
    gray = light if color is None else luminance(color)
    if pattern is not None:
        full = spread(full)  # a saturated pixel is in the colours of its neighbours
    gray[full] = np.nan
    demosaiced = pattern is not None or filters.demosaiced_before
    return RawImage(gray, color, noise_level(gray, camera, demosaiced=demosaiced), method, name, rims)
