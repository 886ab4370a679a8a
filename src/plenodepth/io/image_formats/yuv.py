"""Planar YUV 4:2:0 without a header, as video codecs are tested with; its name tells the size, or the caller does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import part, size_of
from plenodepth.io.image_formats.stored import TRUNCATED, StoredImage, Wanted, check_size, frame_name
from plenodepth.io.image_formats.video_colors import FULL_SCALE, GAMMA, RGB_OF_16_BITS, rgb_from_yuv

_SIZE = re.compile(r"(?<!\d)(\d{1,6})x(\d{1,6})(?!\d)")
_BITS = (re.compile(r"(?<!\d)(\d{1,2})-?bits?(?![a-z])"), re.compile(r"4(?:20|22|44|00)p?_?(\d{1,2})(?:le|be|_|$)"))
_OTHER_PLANES = re.compile(r"yuv_?(?:400|422|440|444)|(?<!\d)(?:400|422|444)p|nv12|nv21|p010")
_BIG_ENDIAN = re.compile(r"\d{2}be(?![a-z])")


class _Layout(NamedTuple):
    width: int
    height: int
    bits: int
    frames: int

    @property
    def planes(self) -> list[tuple[int, int]]:
        """Rows and columns of the luma and of the two colour differences."""
        half = ((self.height + 1) // 2, (self.width + 1) // 2)
        return [(self.height, self.width), half, half]

    @property
    def itemsize(self) -> int:
        return 1 if self.bits == 8 else 2

    @property
    def frame_bytes(self) -> int:
        return self.itemsize * sum(rows * columns for rows, columns in self.planes)


def read_yuv(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The frames as RGB (h, w, 3) uint16, where 65535 is full scale: BT.709 of limited range, its gamma not undone.

    More than 8 bits are two bytes, the lower one first.
    """
    layout = _layout(file, path, wanted)
    kind = np.dtype("<u2" if layout.itemsize == 2 else "u1")
    for number in wanted.numbers(layout.frames, path):
        numbers = np.frombuffer(part(file, number * layout.frame_bytes, layout.frame_bytes), kind)
        if numbers.nbytes < layout.frame_bytes or (layout.bits < 16 and numbers.max() >> layout.bits):
            message = f"holds no {layout.width} × {layout.height} numbers of {layout.bits} bits in frame {number}"
            raise InputError(message, file=path, field="pixels", fix="check size and bits")
        ends = np.cumsum([rows * columns for rows, columns in layout.planes])
        parts = np.split(numbers, ends[:-1])
        luma, to_blue, to_red = (plane.reshape(shape) for plane, shape in zip(parts, layout.planes, strict=True))
        pixels = rgb_from_yuv(luma, (to_blue, to_red), bits=layout.bits)
        name = Path(path).stem if layout.frames == 1 else frame_name(path, number)
        yield StoredImage(pixels, name, full_scale=FULL_SCALE, warning=GAMMA)


def yuv_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) as given or as the name tells."""
    layout = _layout(file, path, wanted)
    return layout.width, layout.height


def yuv_count(file: BinaryIO, path: Path | str, wanted: Wanted) -> int:
    """The number of frames, by the size of the file."""
    return _layout(file, path, wanted).frames


def _layout(file: BinaryIO, path: Path | str, wanted: Wanted) -> _Layout:
    name = Path(path).stem.lower()
    if _OTHER_PLANES.search(name) or _BIG_ENDIAN.search(name):
        raise InputError("is not planar 4:2:0 with the lower byte first", file=path, fix="convert it to yuv420p")
    found = _SIZE.search(name)
    if wanted.size is None and found is None:
        fix = "give size and bits, or name the file as clip_2048x2048_10bit_yuv420p.yuv"
        raise InputError("does not tell its size", file=path, field="size", fix=fix)
    width, height = wanted.size or (int(found.group(1)), int(found.group(2)))  # type: ignore[union-attr]
    told = [int(match.group(1)) for pattern in _BITS if (match := pattern.search(name))]
    bits = wanted.bits or next(iter(told), 8)
    if not 8 <= bits <= 16:
        raise InputError(f"is said to have {bits} bits", file=path, field="bits", fix="give 8 to 16")
    stored = size_of(file)
    check_size(width, height, path, stored=stored, pixel_bytes=RGB_OF_16_BITS)
    layout = _Layout(width, height, bits, 1)
    frames, rest = divmod(stored, layout.frame_bytes)
    if rest or not frames:
        message = f"of {stored} bytes is no whole number of frames of {width} × {height} in {bits} bits"
        raise InputError(message, file=path, field="size", fix=f"check size and bits; else {TRUNCATED}")
    return layout._replace(frames=frames)
