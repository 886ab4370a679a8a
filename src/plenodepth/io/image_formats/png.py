"""PNG. Gray and RGB of 8 or 16 bits, as raw images are, are decoded here; OpenCV decodes the rest.

OpenCV takes two and a half times as long, of which most is zlib.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import part, whole
from plenodepth.io.image_formats.still import COLORS, check_promise, opencv_image
from plenodepth.io.image_formats.stored import TRUNCATED, StoredImage, Wanted, tidy
from plenodepth.io.inflating import inflater

PNG = b"\x89PNG\r\n\x1a\n"

_GRAY, _RGB, _GRAY_ALPHA = 0, 2, 4  # colour types
_CHANNELS = {_GRAY: 1, _RGB: 3}
_HEADER = struct.Struct(">IIBBBBB")
_PIECE = 1 << 20  # bytes to inflate at a time


class _Header(NamedTuple):
    """The first chunk."""

    width: int
    height: int
    bits: int
    color_type: int
    compression: int
    filtering: int
    interlaced: int


def read_png(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The image of a PNG file."""
    bits = part(file, 24, 1)
    pixel_bytes = COLORS * 2 if bits == b"\x10" else COLORS
    check_promise(png_size(file, path, wanted), file, path, wanted, pixel_bytes)
    data = whole(file).data
    header = _header(data, path)
    # A colour that is said to be transparent, tRNS, makes no difference: alpha is dropped.
    plain = header.color_type in _CHANNELS and header.bits in (8, 16) and not any(header[-3:])
    image = _plain_image(data, header, path) if plain else _other_image(data, header, path)
    yield StoredImage(tidy(image, path), Path(path).stem)


def png_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) from the first chunk."""
    header = part(file, 0, 24)
    if len(header) < 24 or header[12:16] != b"IHDR":
        raise InputError("ends inside its header", file=path, fix=TRUNCATED)
    width, height = struct.unpack(">II", header[16:])
    return width, height


def _plain_image(data: memoryview, header: _Header, path: Path | str) -> npt.NDArray[Any]:
    """A gray or RGB image of 8 or 16 bits."""
    channels, size = _CHANNELS[header.color_type], header.bits // 8
    row = 1 + header.width * channels * size
    packed = b"".join(chunk.body for chunk in _chunks(data, path) if chunk.kind == b"IDAT")
    rows = _inflated(packed, header.height * row, path).reshape(header.height, row)
    # Not sooner: the bytes are inflated while another thread loads Numba.
    from plenodepth.io.kernels.png_filters import undo_filters

    if not undo_filters(rows, channels * size):
        raise InputError("has a damaged chunk b'IDAT'", file=path, fix=TRUNCATED)
    image = rows[:, 1:].view(">u2" if size == 2 else np.uint8).astype(np.uint16 if size == 2 else np.uint8)
    return image if channels == 1 else image.reshape(header.height, header.width, channels)


def _inflated(packed: bytes, size: int, path: Path | str) -> npt.NDArray[np.uint8]:
    """The `size` bytes that deflate has packed; a stream that is damaged or shorter is an error.

    What inflates it looks at the checksum of the whole stream, so those of the chunks need no look.
    """
    module = inflater()
    stream = module.decompressobj()
    filtered, done = np.empty(size, np.uint8), 0
    view = filtered.data
    try:
        for start in range(0, len(packed), _PIECE):
            piece = stream.decompress(packed[start : start + _PIECE], size - done + 1)  # whatever it would unpack to
            used = min(len(piece), size - done)
            view[done : done + used] = piece[:used]
            done += used
            if stream.eof or len(piece) > used:
                break
    except module.error:
        raise InputError("has a damaged chunk b'IDAT'", file=path, fix=TRUNCATED) from None
    if done < size or not (stream.eof or len(piece) > used):
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    return filtered


def _other_image(data: memoryview, header: _Header, path: Path | str) -> npt.NDArray[Any]:
    """Any other image, by OpenCV, which fills damaged or missing chunks with black: those are refused before."""
    for chunk in _chunks(data, path):
        _check(chunk, path)
    image = opencv_image(data, path, rgb=header.color_type == _RGB)
    return image[..., 0] if header.color_type == _GRAY_ALPHA and image.ndim == 3 else image


class _Chunk(NamedTuple):
    kind: bytes
    body: memoryview
    checksum: int


def _chunks(data: memoryview, path: Path | str) -> Iterator[_Chunk]:
    """The chunks of a file, IEND included: without it the file is cut."""
    position, kind = len(PNG), b""
    while kind != b"IEND":
        header = bytes(data[position : position + 8])
        end = position + 8 + int.from_bytes(header[:4], "big")
        if len(header) < 8 or end + 4 > len(data):
            raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
        kind = header[4:]
        yield _Chunk(kind, data[position + 8 : end], int.from_bytes(data[end : end + 4], "big"))
        position = end + 4


def _check(chunk: _Chunk, path: Path | str) -> None:
    if zlib.crc32(chunk.body, zlib.crc32(chunk.kind)) != chunk.checksum:
        raise InputError(f"has a damaged chunk {chunk.kind!r}", file=path, fix=TRUNCATED)


def _header(data: memoryview, path: Path | str) -> _Header:
    first = next(_chunks(data, path))
    _check(first, path)
    if len(first.body) != _HEADER.size:
        raise InputError(f"has a damaged chunk {first.kind!r}", file=path, fix=TRUNCATED)
    return _Header(*_HEADER.unpack(first.body))
