"""TIFF and BigTIFF: 8 to 16 bits or floats, strips or tiles; several pages of one size are a sequence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.budget import require_memory
from plenodepth.io.image_formats.files import part, size_of, whole
from plenodepth.io.image_formats.still import LOSSY, opencv_image
from plenodepth.io.image_formats.stored import (
    LARGEST_PACKING,
    TRUNCATED,
    StoredImage,
    Wanted,
    check_size,
    frame_name,
    tidy,
)
from plenodepth.io.image_formats.tiff_segments import deflated_pixels
from plenodepth.io.inflating import inflated

# tifffile is imported where it is used: a program that touches no image need not wait for it.

TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_JPEG_INSIDE = (6, 7, 34892)  # compressions
_REDUCED_OR_MASK = 0b101  # of the tag NewSubfileType
_ROWS = 256  # unpacked at once: a bit takes a byte meanwhile


def read_tiff(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The pages of a TIFF file; previews and masks are left out. Alpha is dropped, palettes are resolved."""
    with _open_tiff(file, path) as tiff:
        pages = _pages(tiff, path)
        for number in wanted.numbers(len(pages), path):
            with _readable_tiff(path):
                page = tiff.pages[pages[number]]
                pixels = tidy(_page(page, file, path), path)
                bits = page.bitspersample
                lossy = page.compression in _JPEG_INSIDE
            yield StoredImage(
                pixels,
                Path(path).stem if len(pages) == 1 else frame_name(path, number),
                full_scale=2.0**bits - 1 if 8 < bits < 16 else None,
                warning=LOSSY.replace("is a JPEG", "holds a JPEG") if lossy else "",
            )


def tiff_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) of the first page."""
    with _open_tiff(file, path) as tiff, _readable_tiff(path):
        return _size(tiff.pages.first)


def tiff_count(file: BinaryIO, path: Path | str, wanted: Wanted) -> int:
    """The number of pages, without previews and masks."""
    with _open_tiff(file, path) as tiff:
        return len(_pages(tiff, path))


def is_dng(file: BinaryIO) -> bool:
    """Whether a TIFF file is a DNG: its mosaic is not in the page that a TIFF reader would take."""
    import tifffile

    file.seek(0)
    try:
        with _silent(tifffile.logger()), tifffile.TiffFile(file) as tiff:
            return "DNGVersion" in tiff.pages.first.tags
    except Exception:  # a damaged file, which its reader is going to refuse
        return False


def first_page(file: BinaryIO, path: Path | str, wanted: Wanted) -> npt.NDArray[Any]:
    """The numbers of the first page as they are stored, (h, w) or (h, w, samples)."""
    with _open_tiff(file, path) as tiff, _readable_tiff(path):
        return _page(tiff.pages.first, file, path)


@contextmanager
def _open_tiff(file: BinaryIO, path: Path | str) -> Iterator[Any]:
    import tifffile

    file.seek(0)
    with _readable_tiff(path):
        tiff = tifffile.TiffFile(file)
    with tiff:
        yield tiff


@contextmanager
def _readable_tiff(path: Path | str) -> Iterator[list[str]]:
    """What tifffile raises inside the block about a file becomes an `InputError`; what it logs is collected."""
    import tifffile

    try:
        with _silent(tifffile.logger()) as said:
            yield said
    except InputError:
        raise
    except Exception as error:  # what tifffile raises for a damaged file is not a closed list
        raise InputError(f"is not a readable TIFF: {error}", file=path, fix=TRUNCATED) from None


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[list[str]]:
    """Collect what this thread logs inside the block: what matters of it is in the one line of the error."""
    said, thread = list[str](), get_ident()

    def drop(record: logging.LogRecord) -> bool:
        if record.thread != thread:
            return True
        said.append(record.getMessage())
        return False

    logger.addFilter(drop)
    try:
        yield said
    finally:
        logger.removeFilter(drop)


def _pages(tiff: Any, path: Path | str) -> list[int]:
    """The pages that are frames: as large as the first, and no preview nor mask."""
    with _readable_tiff(path) as said:
        count = len(tiff.pages)  # which walks along the chain of pages, and stops where it is broken
        if said:
            raise InputError(f"is not a readable TIFF: {said[0]}", file=path, fix=TRUNCATED)
        size = _size(tiff.pages.first)
        others = (number for number in range(1, count) if _size(tiff.pages[number]) == size)
        return [0, *(number for number in others if not int(tiff.pages[number].subfiletype) & _REDUCED_OR_MASK)]


def _size(page: Any) -> tuple[int, int]:
    return int(page.imagewidth), int(page.imagelength)


def _page(page: Any, file: BinaryIO, path: Path | str) -> npt.NDArray[Any]:
    """The numbers of a page, (h, w) or (h, w, samples)."""
    stored = size_of(file)
    ends = [offset + count for offset, count in zip(page.dataoffsets, page.databytecounts, strict=False)]
    expected = int(np.prod(page.shape)) * max(page.bitspersample, 1) // 8
    if max(ends, default=0) > stored or not 0 < expected <= LARGEST_PACKING * stored:
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    width, height = _size(page)
    check_size(width, height, path, stored=stored, pixel_bytes=-(-expected // (width * height)))
    if page.is_tiled:  # those at the rim are whole, too
        require_memory(expected // (width * height) * page.tilewidth * page.tilelength, path, field="tile")
    return _page_array(page, file, path)


def _page_array(page: Any, file: BinaryIO, path: Path | str) -> npt.NDArray[Any]:
    import tifffile

    packed = 8 < page.bitspersample < 16
    if not packed and page.bitspersample not in (8, 16, 32, 64):
        message = f"has {page.bitspersample} bits per sample"
        raise InputError(message, file=path, field="pixels", fix="convert it to 8 or 16 bits")
    plain = (tifffile.PHOTOMETRIC.MINISBLACK, tifffile.PHOTOMETRIC.MINISWHITE, tifffile.PHOTOMETRIC.RGB)
    # What tifffile decodes by itself; for LZW, JPEG, palettes and the float predictor OpenCV spares another package.
    known = (tifffile.COMPRESSION.NONE, tifffile.COMPRESSION.ADOBE_DEFLATE, tifffile.COMPRESSION.DEFLATE)
    if packed:
        simple = page.compression in known and page.photometric in plain and page.predictor == 1
        if not simple or page.is_tiled or page.axes not in ("YX", "YXS") or page.fillorder != 1:
            message = f"has {page.bitspersample} bits per sample in an unusual layout"
            raise InputError(message, file=path, field="pixels", fix="store it in strips without compression")
        array = _unpacked(page, file, path, deflated=page.compression != tifffile.COMPRESSION.NONE)
    elif page.compression not in known or page.photometric not in plain or page.predictor not in (1, 2):
        return opencv_image(whole(file).data, path, page=page.index)
    elif page.axes not in ("YX", "YXS", "SYX"):
        raise InputError(f"has the axes {page.axes}", file=path, fix="give one flat image")
    else:
        plain_file = page.compression == tifffile.COMPRESSION.NONE
        array = page.asarray() if plain_file else deflated_pixels(page, file, path).reshape(page.shape)
        if page.axes == "SYX":  # one plane per colour
            array = np.moveaxis(array, 0, -1)
    if page.photometric == tifffile.PHOTOMETRIC.MINISWHITE and array.dtype.kind == "u":
        array = (1 << page.bitspersample) - 1 - array
    return array


def _unpacked(page: Any, file: BinaryIO, path: Path | str, *, deflated: bool) -> npt.NDArray[np.uint16]:
    """The numbers of strips in which they follow each other bit by bit; every row begins with a new byte."""
    width, height = _size(page)
    bits, samples = page.bitspersample, page.samplesperpixel
    row = (width * samples * bits + 7) // 8
    numbers = np.empty((height, width * samples), np.uint16)
    weights = (1 << np.arange(bits)[::-1]).astype(np.uint16)
    filled = 0
    for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
        data = part(file, offset, count)
        rows = min(page.rowsperstrip, height - filled)
        if deflated:
            data = inflated(data, rows * row)
        if len(data) < rows * row:
            raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
        strip = np.frombuffer(data, np.uint8, rows * row).reshape(rows, row)
        for start in range(0, rows, _ROWS):
            ones = np.unpackbits(strip[start : start + _ROWS], axis=1, count=width * samples * bits)
            block = ones.reshape(-1, width * samples, bits) @ weights
            numbers[filled + start : filled + start + len(block)] = block
        filled += rows
    if filled < height:
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    return numbers.reshape((height, width, samples) if samples > 1 else (height, width))
