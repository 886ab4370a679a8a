"""OpenEXR images of one part in scan lines, packed by ZIP, RLE or not at all: what OpenCV writes a float map as.

Read here because builds of OpenCV differ in whether they know the format, and to keep missing values as they are.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.reading import read_bytes

Float32 = npt.NDArray[np.float32]

MAGIC = b"\x76\x2f\x31\x01"
TILED, DEEP, MULTIPART = 0x200, 0x800, 0x1000
LINES_OF_BLOCK = {0: 1, 1: 1, 2: 1, 3: 16}  # by compression: none, RLE, ZIP of single lines, ZIP
PACKINGS = {4: "PIZ", 5: "PXR24", 6: "B44", 7: "B44A", 8: "DWAA", 9: "DWAB"}
SAMPLES: dict[int, np.dtype[Any]] = {0: np.dtype("<u4"), 1: np.dtype("<f2"), 2: np.dtype("<f4")}
TRUNCATED = "the file is damaged or truncated: copy it again"
LARGEST_PACKING = 10_000  # pixels of a byte; a header that promises more is damaged, and would fill the memory


@dataclass(frozen=True)
class _Header:
    channels: list[tuple[str, np.dtype[Any]]]  # in the order of the file, which is that of their names
    packing: int
    rows: tuple[int, int]  # first and last
    columns: tuple[int, int]
    end: int  # the byte after it

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows[1] - self.rows[0] + 1, self.columns[1] - self.columns[0] + 1


def read_exr(path: Path | str) -> dict[str, Float32]:
    """The channels (h, w) by name, as "R", "G", "B" or "Z"."""
    data = read_bytes(path)
    try:
        header = _header(data, path)
        return _pixels(data, header, path)
    except (struct.error, zlib.error, IndexError, ValueError, OverflowError):
        raise InputError("is no readable OpenEXR image", file=path, fix=TRUNCATED) from None


def _header(data: bytes, path: Path | str) -> _Header:
    if not data.startswith(MAGIC):
        raise InputError("is not an OpenEXR image", file=path, fix="give a map of floats, .exr or .tiff")
    (version,) = struct.unpack_from("<I", data, 4)
    if version & (TILED | DEEP | MULTIPART):
        raise InputError("is tiled, deep or of several parts", file=path, fix="write it in scan lines, one part")
    attributes, place = dict[str, bytes](), 8
    while data[place] != 0:
        name, place = _text(data, place)
        _, place = _text(data, place)  # its type
        (size,) = struct.unpack_from("<I", data, place)
        attributes[name] = data[place + 4 : place + 4 + size]
        place += 4 + size
    left, top, right, bottom = struct.unpack("<4i", attributes.get("dataWindow", b""))
    packing = attributes.get("compression", b"\0")[0]
    if packing not in LINES_OF_BLOCK:
        raise InputError(f"is packed by {PACKINGS.get(packing, packing)}", file=path, fix="write it with ZIP")
    channels = _channels(attributes.get("channels", b"\0"), path)
    header = _Header(channels, packing, (top, bottom), (left, right), place + 1)
    height, width = header.shape
    if height < 1 or width < 1 or height * width > LARGEST_PACKING * len(data) or not header.channels:
        raise ValueError("size")
    return header


def _channels(listed: bytes, path: Path | str) -> list[tuple[str, np.dtype[Any]]]:
    channels, place = list[tuple[str, np.dtype[Any]]](), 0
    while listed[place] != 0:
        name, place = _text(listed, place)
        kind, _, across, down = struct.unpack_from("<iIii", listed, place)
        if kind not in SAMPLES or (across, down) != (1, 1):
            raise InputError("has a channel that is not of every pixel", file=path, field=name)
        channels.append((name, SAMPLES[kind]))
        place += 16
    return channels


def _pixels(data: bytes, header: _Header, path: Path | str) -> dict[str, Float32]:
    (height, width), step = header.shape, LINES_OF_BLOCK[header.packing]
    blocks = -(-height // step)
    if header.end + 8 * blocks > len(data):
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    result = {name: np.full((height, width), np.nan, np.float32) for name, _ in header.channels}
    row_size = width * sum(kind.itemsize for _, kind in header.channels)
    for offset in struct.unpack_from(f"<{blocks}Q", data, header.end):
        first, size = struct.unpack_from("<iI", data, offset)
        first -= header.rows[0]
        rows = min(step, height - first)
        packed = data[offset + 8 : offset + 8 + size]
        if len(packed) < size or not 0 <= first < height:
            raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
        block = _unpacked(packed, header.packing, rows * row_size)
        if len(block) != rows * row_size:
            raise ValueError("block")
        place = 0
        for row in range(first, first + rows):
            for name, kind in header.channels:  # a line holds one channel after the other
                result[name][row] = np.frombuffer(block, kind, width, place)
                place += width * kind.itemsize
    return result


def _unpacked(packed: bytes, packing: int, size: int) -> bytes:
    """The bytes of a block; one that would not have shrunk is stored as it is."""
    if packing == 0 or len(packed) == size:
        return packed
    data = _run_lengths(packed) if packing == 1 else zlib.decompressobj().decompress(packed, size + 1)
    # Each byte was stored as the difference to the one before, + 128; and the even bytes before the odd ones.
    steps = np.frombuffer(data, np.uint8).astype(np.int64)
    steps[1:] -= 128
    whole = np.cumsum(steps).astype(np.uint8)
    half = (len(whole) + 1) // 2
    woven = np.empty_like(whole)
    woven[0::2], woven[1::2] = whole[:half], whole[half:]
    return woven.tobytes()


def _run_lengths(packed: bytes) -> bytes:
    parts, place = list[bytes](), 0
    while place < len(packed):
        count = packed[place] - 256 if packed[place] > 127 else packed[place]
        if count < 0:  # so many bytes as they are
            parts.append(packed[place + 1 : place + 1 - count])
            place += 1 - count
        else:  # one byte, repeated
            parts.append(packed[place + 1 : place + 2] * (count + 1))
            place += 2
    return b"".join(parts)


def _text(data: bytes, place: int) -> tuple[str, int]:
    end = data.index(b"\0", place)
    return data[place:end].decode("latin-1"), end + 1
