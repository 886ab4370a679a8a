"""DNG and the raw files of cameras, through rawpy: the mosaic of the sensor, before anything is done to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import extra_package, quiet_stderr, size_of
from plenodepth.io.image_formats.stored import TRUNCATED, StoredImage, Wanted, check_size, tidy

RGBG_OF_16_BITS = 8  # bytes of a pixel, as LibRaw unpacks those without a mosaic
CAMERA_RAW_SUFFIXES = (
    *(".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dcr", ".dng", ".erf", ".fff", ".gpr", ".iiq", ".kdc", ".mef", ".mos"),
    *(".nef", ".nrw", ".orf", ".pef", ".raf", ".rw2", ".rwl", ".sr2", ".srf", ".srw"),
)


def read_camera_raw(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The part of the sensor that sees light: a mosaic (h, w) uint16 with its filters, or (h, w, 3) without.

    The black level is the mean of those of the colours.
    """
    wanted.numbers(1, path)
    with _opened(file, path, wanted) as raw:
        with _decodable(path):
            raw.unpack()
            pixels = np.array(raw.raw_image_visible)
            full_scale = float(raw.white_level)
            black = float(np.mean(raw.black_level_per_channel))
            colors = None if pixels.ndim == 3 or raw.num_colors == 1 else np.array(raw.raw_colors_visible)
            letters = raw.color_desc.decode("ascii")
        bayer = None if colors is None else _bayer(colors, letters, path)
        if not 0 <= black < full_scale:
            raise InputError(f"says that black is {black:g}, white {full_scale:g}", file=path, fix=TRUNCATED)
        yield StoredImage(tidy(pixels, path), Path(path).stem, bayer, black / full_scale, full_scale)


def camera_raw_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) of the part of the sensor that sees light, from the header."""
    with _opened(file, path, wanted) as raw:
        return int(raw.sizes.width), int(raw.sizes.height)


@contextmanager
def _opened(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[Any]:
    rawpy = extra_package("rawpy", "raw", path)
    stored = size_of(file)
    with rawpy.RawPy() as raw:
        with _decodable(path):
            raw.open_buffer(file)
        sizes = raw.sizes
        check_size(sizes.raw_width, sizes.raw_height, path, stored=stored, pixel_bytes=RGBG_OF_16_BITS)
        yield raw


@contextmanager
def _decodable(path: Path | str) -> Iterator[None]:
    """What LibRaw says inside the block about a file becomes an `InputError`."""
    try:
        with quiet_stderr():
            yield
    except Exception as error:  # what rawpy raises for a damaged file is not a closed list
        reason = error.args[0] if error.args else type(error).__name__
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InputError(f"is no readable camera raw: {words}", file=path, fix=TRUNCATED) from None


def _bayer(colors: np.ndarray[Any, np.dtype[np.uint8]], letters: str, path: Path | str) -> str:
    """The filters of the first two rows and columns, which must repeat all over the sensor."""
    tile = colors[:2, :2]
    repeated = np.tile(tile, (colors.shape[0] // 2 + 1, colors.shape[1] // 2 + 1))
    pattern = "".join(letters[number] for number in tile.ravel())
    if sorted(pattern) != ["B", "G", "G", "R"] or not np.array_equal(
        repeated[: len(colors), : colors.shape[1]], colors
    ):
        message = "has colour filters in another pattern than Bayer's"
        raise InputError(message, file=path, field="filters", fix="develop it, and give the RGB image as a TIFF")
    return pattern
