"""Images of 8 or 16 bits, and maps of floats. Arrays are (h, w) or (h, w, 3) in the order red, green, blue.

The format of a file that is read is told from its first bytes, that of a written one by its suffix.
"""

from __future__ import annotations

import io
import logging
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.reading import read_array

# OpenCV and tifffile are imported where they are used: a program that touches no image need not wait for them.

Image = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
FloatMap = npt.NDArray[np.float32]

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_RGB, _PNG_GRAY_ALPHA = 2, 4  # colour types
_JPEG = b"\xff\xd8\xff"
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_TIFF_SUFFIXES = (".tif", ".tiff")
_TRUNCATED = "the file is damaged or truncated: copy it again"
# Deflate packs at most 1 : 1032, LZW about 1 : 1400; a header that promises more is damaged, and would fill the memory.
_LARGEST_PACKING = 10_000


def read_image(path: Path | str) -> Image:
    """An image from PNG, TIFF (its first page), JPEG or BMP: uint8 or uint16 as stored, (h, w) or (h, w, 3) RGB.

    Alpha is dropped, palettes are resolved, an orientation tag is ignored: a raw image stays as the sensor gave it.
    A file that is missing, truncated or no such image is an `InputError`.
    """
    numbers = read_array(path)
    data, start = numbers.data, numbers[:8].tobytes()
    if start.startswith(_TIFF):
        image = _tiff_page(data, path)
    elif start.startswith(_PNG):
        color_type = _check_png(data, path)
        image = _opencv_image(data, path, rgb=color_type == _PNG_RGB)
        image = image[..., 0] if color_type == _PNG_GRAY_ALPHA and image.ndim == 3 else image
    elif start.startswith(_JPEG):
        _check_jpeg(data, path)
        image = _opencv_image(data, path)
    elif start.startswith(b"BM"):
        _check_bmp(data, path)
        image = _opencv_image(data, path)
    else:
        raise InputError(
            "is empty" if not start else "is not a PNG, TIFF, JPEG or BMP image", file=path, fix="give an image file"
        )
    if image.dtype not in (np.uint8, np.uint16):
        fix = "read it as a map of floats" if image.dtype.kind == "f" else "convert it to 8 or 16 bits"
        raise InputError(f"holds {image.dtype}, not 8 or 16 bits without sign", file=path, field="pixels", fix=fix)
    if image.ndim == 3:  # gray with alpha, RGB, RGB with alpha
        image = image[..., 0] if image.shape[2] < 3 else image[..., :3]
    return np.ascontiguousarray(image, image.dtype.newbyteorder("="))


def write_image(image: Image, path: Path | str) -> None:
    """Writes uint8 or uint16 (h, w) or (h, w, 3) RGB without loss, as PNG or (deflated) TIFF by the suffix."""
    array = np.asarray(image)
    if array.dtype.type not in (np.uint8, np.uint16):
        raise InputError(f"is {array.dtype}", file=path, field="image", fix="give uint8 or uint16")
    color = array.ndim == 3 and array.shape[2] == 3
    if not (array.ndim == 2 or color) or not array.size:
        raise InputError(f"has the shape {array.shape}", file=path, field="image", fix="give (h, w) or (h, w, 3)")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    suffix = Path(path).suffix.lower()
    if suffix in _TIFF_SUFFIXES:
        _write_tiff(array, path, photometric="rgb" if color else "minisblack", compression="deflate")
    elif suffix == ".png":
        import cv2

        done, data = cv2.imencode(".png", np.ascontiguousarray(array[..., ::-1] if color else array))
        if not done:
            raise InputError(f"of {array.shape} cannot be made a PNG", file=path, field="image", fix="write a TIFF")
        with atomic_path(path) as temporary:
            temporary.write_bytes(data.tobytes())
    else:
        raise InputError(f"has the suffix '{suffix}'", file=path, fix="use .png, .tif or .tiff")


def read_float_map(path: Path | str) -> FloatMap:
    """A map (h, w) of float32 from a TIFF of floats; NaN, for missing, is kept."""
    numbers = read_array(path)
    if not numbers[:8].tobytes().startswith(_TIFF):
        raise InputError("is not a TIFF file", file=path, fix="give a map of floats, .tif")
    array = _tiff_page(numbers.data, path)
    if array.dtype.kind != "f" or array.ndim != 2:
        raise InputError(
            f"holds {array.dtype} of the shape {array.shape}", file=path, field="pixels", fix="give one float per pixel"
        )
    return np.ascontiguousarray(_as_float32(array, path))


def write_float_map(array: npt.ArrayLike, path: Path | str, *, compressed: bool = True) -> None:
    """Writes a map (h, w) as a TIFF of float32; NaN means missing.

    Deflated without a predictor: ImageJ knows none for floats. Deflating takes ten times as long as writing.
    """
    values = np.asarray(array)
    if values.dtype.kind not in "fiu" or values.ndim != 2 or not values.size:
        raise InputError(
            f"is {values.dtype} of the shape {values.shape}", file=path, field="map", fix="give (h, w) numbers"
        )
    if Path(path).suffix.lower() not in _TIFF_SUFFIXES:
        raise InputError(f"has the suffix '{Path(path).suffix}'", file=path, fix="use .tif or .tiff")
    packing = "deflate" if compressed else None
    _write_tiff(_as_float32(values, path), path, photometric="minisblack", compression=packing)


def _as_float32(values: npt.NDArray[Any], path: Path | str) -> FloatMap:
    if values.dtype == np.float32:  # also in another byte order
        return values.astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
    if np.isinf(single).any() and not np.array_equal(np.isinf(single), np.isinf(values)):
        raise InputError("holds a number beyond the range of float32", file=path, field="map", fix="change the unit")
    return single


def _write_tiff(array: npt.NDArray[Any], path: Path | str, *, compression: str | None, **options: Any) -> None:
    import tifffile

    options |= {"metadata": None, "software": "plenodepth"}
    with atomic_path(path) as temporary:
        if compression is not None:
            tifffile.imwrite(temporary, array, compression=compression, **options)
            return
        # Room for the values first, then the values: tifffile would copy them, or let NumPy write them, whose errors do
        # not name a full disk.
        empty = {"shape": array.shape, "dtype": array.dtype, "returnoffset": True, **options}
        place = tifffile.imwrite(temporary, None, **empty)
        assert place is not None  # (offset, length), as asked for
        with temporary.open("r+b") as file:
            file.seek(place[0])
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _opencv_image(data: memoryview, path: Path | str, *, rgb: bool = False) -> npt.NDArray[Any]:
    """What OpenCV decodes, in the order RGB(A). `rgb`: it is known to be RGB, so OpenCV need not change the order."""
    import cv2

    known = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), known if rgb else cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise InputError(f"cannot be decoded: {error.err or 'damaged'}", file=path, fix=_TRUNCATED) from None
    if image is None:
        raise InputError("cannot be decoded", file=path, fix=_TRUNCATED)
    if image.ndim == 3 and image.shape[2] >= 3 and not rgb:
        opposite = cv2.COLOR_BGR2RGB if image.shape[2] == 3 else cv2.COLOR_BGRA2RGBA
        cv2.cvtColor(image, opposite, dst=image)
    return np.asarray(image)


def _tiff_page(data: memoryview, path: Path | str) -> npt.NDArray[Any]:
    """The first page, (h, w) or (h, w, samples)."""
    import tifffile

    try:
        with _silent(tifffile.logger()), tifffile.TiffFile(io.BytesIO(data)) as file:
            page = file.pages.first
            ends = [offset + count for offset, count in zip(page.dataoffsets, page.databytecounts, strict=False)]
            expected = int(np.prod(page.shape)) * max(page.bitspersample, 1) // 8
            complete = max(ends, default=0) <= len(data) and 0 < expected <= _LARGEST_PACKING * len(data)
            array = _page_array(page, data, path) if complete else None
    except InputError:
        raise
    except Exception as error:  # what tifffile raises for a damaged file is not a closed list
        raise InputError(f"is not a readable TIFF: {error}", file=path, fix=_TRUNCATED) from None
    if array is None:
        raise InputError("ends before its last pixel", file=path, fix=_TRUNCATED)
    return array


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    """No messages of `logger` inside the block: what matters of them is in the one line of the error."""

    def drop(record: logging.LogRecord) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)


def _page_array(page: Any, data: memoryview, path: Path | str) -> npt.NDArray[Any]:
    import tifffile

    if page.bitspersample not in (8, 16, 32, 64):
        message = f"has {page.bitspersample} bits per sample"
        raise InputError(message, file=path, field="pixels", fix="convert it to 8 or 16 bits")
    plain = (tifffile.PHOTOMETRIC.MINISBLACK, tifffile.PHOTOMETRIC.MINISWHITE, tifffile.PHOTOMETRIC.RGB)
    # What tifffile decodes by itself; for LZW, JPEG, palettes and the float predictor OpenCV spares another package.
    known = (tifffile.COMPRESSION.NONE, tifffile.COMPRESSION.ADOBE_DEFLATE, tifffile.COMPRESSION.DEFLATE)
    if page.compression not in known or page.photometric not in plain or page.predictor not in (1, 2):
        return _opencv_image(data, path)
    array: npt.NDArray[Any] = page.asarray()
    if page.axes == "SYX":  # one plane per colour
        array = np.moveaxis(array, 0, -1)
    elif page.axes not in ("YX", "YXS"):
        raise InputError(f"has the axes {page.axes}", file=path, fix="give one flat image")
    if page.photometric == tifffile.PHOTOMETRIC.MINISWHITE and array.dtype.kind == "u":
        array = np.iinfo(array.dtype).max - array
    return array


def _check_png(data: memoryview, path: Path | str) -> int:
    """Refuses a PNG with a damaged or missing chunk, which OpenCV would fill with black; returns its colour type."""
    position, kind, color_type = len(_PNG), b"", 0
    while kind != b"IEND":
        header = bytes(data[position : position + 8])
        size = int.from_bytes(header[:4], "big")
        end = position + 8 + size
        if len(header) < 8 or end + 4 > len(data):
            raise InputError("ends before its last pixel", file=path, fix=_TRUNCATED)
        kind = header[4:]
        if zlib.crc32(data[position + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise InputError(f"has a damaged chunk {kind!r}", file=path, fix=_TRUNCATED)
        if kind == b"IHDR" and size == 13:
            color_type = data[position + 8 + 9]
        position = end + 4
    return color_type


# Inside a scan, ff 00 is a byte of data, ff d0 … d7 are restarts and ff ff is filling: any other pair ends it.
_END_OF_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def _check_jpeg(data: memoryview, path: Path | str) -> None:
    """Refuses a JPEG without its end marker, which OpenCV would fill with grey."""
    position = 2
    while True:
        marker = _END_OF_SCAN.search(data, position)
        if marker is None:
            raise InputError("ends before its last pixel", file=path, fix=_TRUNCATED)
        if marker.group() == b"\xff\xd9":
            return
        # A segment with its length; the scan that follows a segment is what the next search steps over.
        position = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2], "big")


def _check_bmp(data: memoryview, path: Path | str) -> None:
    """Refuses a BMP that ends before its last row."""
    if len(data) < 34:
        raise InputError("ends inside its header", file=path, fix=_TRUNCATED)
    start, header, width, height, _, bits, packing = struct.unpack_from("<IIiiHHI", data, 10)
    plain = header >= 40 and packing in (0, 3)
    if plain and start + (abs(width) * bits + 31) // 32 * 4 * abs(height) > len(data):
        raise InputError("ends before its last pixel", file=path, fix=_TRUNCATED)
