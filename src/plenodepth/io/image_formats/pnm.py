"""PGM and PPM, of bytes or of text, with any largest number up to 65535."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import part, size_of, whole
from plenodepth.io.image_formats.stored import TRUNCATED, Image, StoredImage, Wanted, check_size

PNM = (b"P2", b"P3", b"P5", b"P6")
_COLORED, _TEXT = (b"P3", b"P6"), (b"P2", b"P3")
_GAP = rb"(?:\s|#[^\n\r]*[\n\r])+"  # comments run to the end of their line
_HEADER = re.compile(rb"(P[2356])" + (_GAP + rb"(\d{1,9})") * 3 + rb"\s")
_LONGEST_HEADER = 1 << 16


class _Header(NamedTuple):
    kind: bytes
    width: int
    height: int
    largest: int
    length: int  # bytes before the first pixel


def read_pnm(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The image of a PGM or PPM file, its numbers as stored: uint8 up to 255, else uint16."""
    wanted.numbers(1, path)
    header = _header(file, path)
    count = header.width * header.height * (3 if header.kind in _COLORED else 1)
    stored = size_of(file)
    kind = np.dtype(np.uint8 if header.largest < 256 else np.uint16)
    pixel_bytes = kind.itemsize * (3 if header.kind in _COLORED else 1)
    check_size(header.width, header.height, path, stored=stored, pixel_bytes=pixel_bytes)
    smallest = 2 * count - 1 if header.kind in _TEXT else kind.itemsize * count
    if header.length + smallest > stored:
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    data = whole(file)[header.length :]
    if header.kind in _TEXT:
        numbers = _text_numbers(data.tobytes(), count, header.largest, path).astype(kind)
    else:
        numbers = data[: kind.itemsize * count].view(kind.newbyteorder(">")).astype(kind)
    shape = (header.height, header.width, 3) if header.kind in _COLORED else (header.height, header.width)
    image: Image = numbers.reshape(shape)
    if image.max() > header.largest:
        raise InputError(f"holds a number beyond {header.largest}", file=path, field="pixels", fix=TRUNCATED)
    yield StoredImage(image, Path(path).stem, full_scale=float(header.largest))


def pnm_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) from the header."""
    header = _header(file, path)
    return header.width, header.height


def _header(file: BinaryIO, path: Path | str) -> _Header:
    found = _HEADER.match(part(file, 0, _LONGEST_HEADER))
    if found is None:
        raise InputError("has no readable header", file=path, fix=TRUNCATED)
    width, height, largest = (int(number) for number in found.groups()[1:])
    if not 1 <= largest <= 65535 or not width or not height:
        message = f"says that it is {width} × {height} of numbers up to {largest}"
        raise InputError(message, file=path, field="header", fix=TRUNCATED)
    return _Header(found.group(1), width, height, largest, found.end())


def _text_numbers(
    text: bytes, count: int, largest: int, path: Path | str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    words = re.sub(rb"#[^\n\r]*", b"", text).split(maxsplit=count)[:count]
    if len(words) < count:
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    if not all(word.isdigit() and len(word) < 10 for word in words):
        raise InputError("holds what is no number", file=path, field="pixels", fix=TRUNCATED)
    numbers = np.array([int(word) for word in words], np.int64)
    if numbers.max() > largest:
        raise InputError(f"holds a number beyond {largest}", file=path, field="pixels", fix=TRUNCATED)
    return numbers
