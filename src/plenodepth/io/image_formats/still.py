"""JPEG and BMP, which OpenCV decodes; it fills what is missing of a damaged file, so that is looked for here."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import part, quiet_stderr, size_of, whole
from plenodepth.io.image_formats.stored import TRUNCATED, StoredImage, Wanted, check_size, tidy

# OpenCV is imported where it is used: a program that touches no image need not wait for it.

JPEG = b"\xff\xd8\xff"
BMP = b"BM"
LOSSY = "is a JPEG, compressed with loss, which depth suffers from: record raw images as PNG or TIFF"

COLORS = 4  # with alpha; bytes of a pixel that OpenCV decodes from 8 bits
_TABLES = (0xC4, 0xC8, 0xCC)  # among the markers of a JPEG's frame header, ff c0 … cf
_WITHOUT_LENGTH = (0x01, *range(0xD0, 0xD9))


def read_jpeg(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The image of a JPEG file, with a warning."""
    check_promise(jpeg_size(file, path, wanted), file, path, wanted, COLORS)
    data = whole(file).data
    _check_jpeg(data, path)
    with quiet_stderr():
        image = opencv_image(data, path)
    yield StoredImage(tidy(image, path), Path(path).stem, warning=LOSSY)


def read_bmp(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The image of a BMP file."""
    check_promise(bmp_size(file, path, wanted), file, path, wanted, COLORS)
    data = whole(file).data
    _check_bmp(data, path)
    with quiet_stderr():  # OpenCV writes there of a header that it cannot read
        image = opencv_image(data, path)
    yield StoredImage(tidy(image, path), Path(path).stem)


def jpeg_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) from the frame header, wherever it stands."""
    position = 2
    while True:
        header = part(file, position, 9)
        if len(header) < 9 or header[0] != 0xFF:
            raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
        marker, length = header[1], int.from_bytes(header[2:4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in _TABLES:
            height, width = struct.unpack(">HH", header[5:9])
            return width, height
        if marker == 0xFF:  # filling
            position += 1
        else:
            position += 2 if marker in _WITHOUT_LENGTH else 2 + length


def bmp_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) from the header, of which there is an old, short kind; rows may run upwards or downwards."""
    header = part(file, 14, 12)
    if len(header) < 12:
        raise InputError("ends inside its header", file=path, fix=TRUNCATED)
    short = int.from_bytes(header[:4], "little") == 12
    width, height = struct.unpack("<HH", header[4:8]) if short else struct.unpack("<ii", header[4:])
    return abs(width), abs(height)


def opencv_image(data: memoryview, path: Path | str, *, rgb: bool = False, page: int = 0) -> npt.NDArray[Any]:
    """What OpenCV decodes, in the order RGB(A). `rgb`: it is known to be RGB, so OpenCV need not change the order."""
    import cv2

    known = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
    numbers = np.frombuffer(data, np.uint8)
    try:
        if page:
            done, pages = cv2.imdecodemulti(numbers, cv2.IMREAD_UNCHANGED, range=(page, page + 1))
            image = pages[0] if done and pages else None
        else:
            image = cv2.imdecode(numbers, known if rgb else cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise InputError(f"cannot be decoded: {error.err or 'damaged'}", file=path, fix=TRUNCATED) from None
    if image is None:
        raise InputError("cannot be decoded", file=path, fix=TRUNCATED)
    if image.ndim == 3 and image.shape[2] >= 3 and not rgb:
        opposite = cv2.COLOR_BGR2RGB if image.shape[2] == 3 else cv2.COLOR_BGRA2RGBA
        cv2.cvtColor(image, opposite, dst=image)
    return np.asarray(image)


def check_promise(size: tuple[int, int], file: BinaryIO, path: Path | str, wanted: Wanted, pixel_bytes: int) -> None:
    """Refuse a file whose header promises more pixels than it can hold, or another frame than the first."""
    wanted.numbers(1, path)
    check_size(*size, path, stored=size_of(file), pixel_bytes=pixel_bytes)


# Inside a scan, ff 00 is a byte of data, ff d0 … d7 are restarts and ff ff is filling: any other pair ends it.
_END_OF_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def _check_jpeg(data: memoryview, path: Path | str) -> None:
    """Refuses a JPEG without its end marker, which OpenCV would fill with grey."""
    position = 2
    while True:
        marker = _END_OF_SCAN.search(data, position)
        if marker is None:
            raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
        if marker.group() == b"\xff\xd9":
            return
        # A segment with its length; the scan that follows a segment is what the next search steps over.
        position = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2], "big")


def _check_bmp(data: memoryview, path: Path | str) -> None:
    """Refuses a BMP that ends before its last row."""
    if len(data) < 34:
        raise InputError("ends inside its header", file=path, fix=TRUNCATED)
    start, header, width, height, _, bits, packing = struct.unpack_from("<IIiiHHI", data, 10)
    plain = header >= 40 and packing in (0, 3)
    if plain and start + (abs(width) * bits + 31) // 32 * 4 * abs(height) > len(data):
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
