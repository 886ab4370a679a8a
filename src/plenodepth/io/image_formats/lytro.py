"""Lytro's containers .lfp and .lfr, as reverse engineering published them: the mosaic of the sensor and its metadata.

A container is a row of sections: 8 bytes of magic number, version and length (4 bytes each, the higher first), the
SHA-1 of the data as text in 80 bytes, the data, and zeros up to the next section. The first one has no data, the next
is JSON that names the sections of each frame by their SHA-1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import part, size_of
from plenodepth.io.image_formats.stored import TRUNCATED, StoredImage, Wanted, check_size
from plenodepth.io.strict_text import parse_json

LYTRO = b"\x89LFP\r\n\x1a\n"
_SECTIONS = (LYTRO, b"\x89LFM\r\n\x1a\n", b"\x89LFC\r\n\x1a\n")
_HEADER, _HASH = 16, 80
_LONGEST_PADDING = 64
_LONGEST_METADATA = 1 << 24
_COLORS = {"r": "R", "gr": "G", "gb": "G", "b": "B"}
_BYTES_OF_PIXELS = {10: (5, 4), 12: (3, 2), 8: (1, 1), 16: (2, 1)}


@dataclass(frozen=True)
class _Section:
    start: int
    length: int
    sha1: str


@dataclass(frozen=True)
class _Mosaic:
    """What the metadata say about the raw image."""

    width: int
    height: int
    bits: int
    big_endian: bool
    bayer: str
    black: float  # mean of the four filters
    white: float
    data: _Section


def read_lytro(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The mosaic (h, w) uint16 of a raw container, with its colour filters, black level and full scale."""
    wanted.numbers(1, path)
    mosaic = _mosaic(file, path)
    check_size(mosaic.width, mosaic.height, path, stored=mosaic.data.length, pixel_bytes=2)
    data = _data(file, mosaic.data, path)
    yield StoredImage(
        _unpacked(data, mosaic, path),
        Path(path).stem,
        bayer=mosaic.bayer,
        black_level=mosaic.black / mosaic.white,
        full_scale=mosaic.white,
    )


def lytro_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) from the metadata."""
    mosaic = _mosaic(file, path)
    return mosaic.width, mosaic.height


def _sections(file: BinaryIO, path: Path | str) -> dict[str, _Section]:
    """The sections with data by their SHA-1, in the order of the file."""
    end, position = size_of(file), 0
    sections = dict[str, _Section]()
    while position < end:
        header = part(file, position, _HEADER + _HASH)
        length = int.from_bytes(header[12:16], "big")
        if not header.startswith(_SECTIONS) or len(header) < _HEADER:
            raise InputError(f"has no section at byte {position}", file=path, fix=TRUNCATED)
        if not length:
            position += _HEADER
            continue
        start = position + _HEADER + _HASH
        if start + length > end:
            raise InputError("ends before its last section", file=path, fix=TRUNCATED)
        sha1 = header[_HEADER:].rstrip(b"\0").decode("ascii", "replace")
        sections[sha1] = _Section(start, length, sha1)
        padding = part(file, start + length, _LONGEST_PADDING)
        position = start + length + len(padding) - len(padding.lstrip(b"\0"))
    return sections


def _mosaic(file: BinaryIO, path: Path | str) -> _Mosaic:
    sections = _sections(file, path)
    if not sections:
        raise InputError("holds no metadata", file=path, fix=TRUNCATED)
    try:
        content = _json(file, next(iter(sections.values())), path)
        frames = content["frames"] if "frames" in content else content["picture"]["frameArray"]
        if not frames:
            raise KeyError("imageRef")
        frame = frames[0]["frame"]
        data = sections[frame["imageRef"]]
        return _from_metadata(_json(file, sections[frame["metadataRef"]], path)["image"], data)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, OverflowError) as error:
        message = f"does not describe a raw image ({type(error).__name__}: {error})"
        raise InputError(message, file=path, field="metadata", fix="give the raw .lfp or .lfr of the camera") from None


def _json(file: BinaryIO, section: _Section, path: Path | str) -> Any:
    if section.length > _LONGEST_METADATA:
        raise InputError(f"has {section.length} bytes of metadata", file=path, fix=TRUNCATED)
    try:
        return parse_json(_data(file, section, path).rstrip(b"\0").decode("utf-8"), path)
    except UnicodeDecodeError:
        raise InputError("has unreadable metadata", file=path, fix=TRUNCATED) from None


def _data(file: BinaryIO, section: _Section, path: Path | str) -> bytes:
    data = part(file, section.start, section.length)
    if section.sha1 != f"sha1-{hashlib.sha1(data, usedforsecurity=False).hexdigest()}":
        raise InputError("has a damaged section", file=path, fix=TRUNCATED)
    return data


def _from_metadata(image: dict[str, Any], data: _Section) -> _Mosaic:
    """The mosaic as the first camera and the Illum describe it: the latter without `rawDetails`."""
    if image["representation"] != "rawPacked":
        raise ValueError(f"its representation is {image['representation']!r}")
    details = image.get("rawDetails", image)
    levels, packing, mosaic = details["pixelFormat"], details["pixelPacking"], details["mosaic"]
    if int(levels.get("rightShift", 0)):
        raise ValueError("its numbers are shifted")
    tile = [row.split(",") for row in mosaic["tile"].split(":")]
    row, column = next((y, x) for y in range(2) for x in range(2) if tile[y][x] == mosaic["upperLeftPixel"])
    bayer = "".join(_COLORS[tile[(row + y) % 2][(column + x) % 2]] for y in range(2) for x in range(2))
    black, white = (np.mean([float(levels[key][color]) for color in _COLORS]) for key in ("black", "white"))
    if not 0 <= black < white <= 65535:
        raise ValueError(f"black is {black}, white {white}")
    bits = int(packing["bitsPerPixel"])
    if bits not in _BYTES_OF_PIXELS:
        raise ValueError(f"a pixel has {bits} bits")
    big_endian = packing["endianness"] == "big"
    size = int(image["width"]), int(image["height"])
    return _Mosaic(*size, bits, big_endian, bayer, float(black), float(white), data)


def _unpacked(data: bytes, mosaic: _Mosaic, path: Path | str) -> npt.NDArray[np.uint16]:
    """The numbers (h, w) of packed ones.

    12 bits: three bytes hold two pixels, the higher bits first. 10 bits: four bytes hold the upper 8 bits of four
    pixels and a fifth their lower 2, the first pixel's lowest.
    """
    in_bytes, pixels = _BYTES_OF_PIXELS[mosaic.bits]
    count = mosaic.width * mosaic.height
    groups = -(-count // pixels)
    if groups * in_bytes > len(data):
        raise InputError("ends before its last pixel", file=path, field="image", fix=TRUNCATED)
    if mosaic.bits in (8, 16):
        kind = np.dtype("u1" if mosaic.bits == 8 else ">u2" if mosaic.big_endian else "<u2")
        return np.frombuffer(data, kind, count).astype(np.uint16).reshape(mosaic.height, mosaic.width)
    if mosaic.big_endian != (mosaic.bits == 12):
        order = "big" if mosaic.big_endian else "little"
        message = f"holds {mosaic.bits} bits in the order '{order}', which no camera is known to write"
        raise InputError(message, file=path, field="pixelPacking", fix="give the raw .lfp or .lfr of the camera")
    packed = np.frombuffer(data, np.uint8, groups * in_bytes).reshape(groups, in_bytes)
    numbers = np.empty((groups, pixels), np.uint16)
    if mosaic.bits == 12:
        middle = packed[:, 1].astype(np.uint16)
        numbers[:, 0] = np.left_shift(packed[:, 0], 4, dtype=np.uint16) | middle >> 4
        numbers[:, 1] = (middle & 15) << 8 | packed[:, 2]
    else:
        for pixel in range(4):
            low = packed[:, 4] >> 2 * pixel & 3
            numbers[:, pixel] = np.left_shift(packed[:, pixel], 2, dtype=np.uint16) | low
    return numbers.reshape(-1)[:count].reshape(mosaic.height, mosaic.width)
