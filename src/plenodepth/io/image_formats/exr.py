"""OpenEXR images of floats: red, green and blue, or one channel."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.image_formats.files import part
from plenodepth.io.image_formats.stored import TRUNCATED, StoredImage, Wanted

EXR = b"\x76\x2f\x31\x01"
_LONGEST_HEADER = 1 << 20


def read_exr_image(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The image of an OpenEXR file, float32: (h, w, 3) of the channels R, G and B, or (h, w) of the only one or Y."""
    from plenodepth.io.maps.exr import read_exr  # whose package reads images, too

    wanted.numbers(1, path)
    channels = read_exr(path)
    if {"R", "G", "B"} <= channels.keys():
        pixels = np.dstack([channels[name] for name in "RGB"])
    elif "Y" in channels or len(channels) == 1:
        pixels = channels["Y"] if "Y" in channels else next(iter(channels.values()))
    else:
        message = f"has the channels {', '.join(sorted(channels))}"
        raise InputError(message, file=path, field="channels", fix="give R, G and B, or one channel")
    yield StoredImage(pixels, Path(path).stem)


def exr_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) of the data window, which the header of the first part names."""
    header = part(file, 0, _LONGEST_HEADER)
    position = 8  # after magic number and version
    while True:  # attributes: name and type, which end with a zero, the size and the value
        name_end = header.find(b"\0", position)
        type_end = header.find(b"\0", name_end + 1)
        value = type_end + 5
        if name_end <= position or type_end < 0 or value > len(header):
            raise InputError("has no readable header", file=path, fix=TRUNCATED)
        size = int.from_bytes(header[value - 4 : value], "little")
        if header[position:name_end] == b"dataWindow" and size == 16 and value + 16 <= len(header):
            left, top, right, bottom = struct.unpack_from("<4i", header, value)
            return right - left + 1, bottom - top + 1
        position = value + size
