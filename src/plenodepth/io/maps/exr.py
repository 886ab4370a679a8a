"""OpenEXR images of one part, as other programs store float maps; any compression that the OpenEXR package knows."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.image_formats.stored import check_size
from plenodepth.io.reading import read_bytes
from plenodepth.io.text_tables import TRUNCATED

# OpenEXR is imported where it is used: a program that reads no such file need not wait for it.

Float32 = npt.NDArray[np.float32]

STDERR = 2
MAGIC = b"\x76\x2f\x31\x01"
ONE_AT_A_TIME = threading.Lock()  # the standard error is the whole process's: of two swaps at once one would last
NUMBER = 4  # bytes, as stored or as float32


def read_exr(path: Path | str) -> dict[str, Float32]:
    """The channels (h, w) by name, as "R", "G", "B" or "Z"; NaN and infinities as they are stored."""
    data = read_bytes(path)
    if not data.startswith(MAGIC):
        raise InputError("is not an OpenEXR image", file=path, fix="give a map of floats, .exr or .tiff")
    _check_header(_open(data, path, header_only=True), len(data), path)
    (part,) = _open(data, path, header_only=False).parts
    pixels = {str(name): np.asarray(channel.pixels) for name, channel in part.channels.items()}
    for name, values in pixels.items():
        if values.dtype.kind not in "fu" or values.ndim != 2:  # deep images hold lists
            raise InputError("has a channel that is not one number for every pixel", file=path, field=name)
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in pixels.items()}


def _open(data: bytes, path: Path | str, *, header_only: bool) -> Any:
    import OpenEXR

    try:
        with _silence() as said:
            file = OpenEXR.File(io.BytesIO(data), separate_channels=True, header_only=header_only)
        if file.parts:
            return file
        reason = said.getvalue()  # damaged pixels are a printed warning and a file without parts
    except Exception as error:  # what the package raises for a damaged file is not a closed list
        reason = str(error)
    line = next(iter(reason.splitlines()), "no image").rpartition(" - ")[2]
    raise InputError(f"is no readable OpenEXR image: {line}", file=path, fix=TRUNCATED)


@contextmanager
def _silence() -> Iterator[io.StringIO]:
    """Collect what is printed from Python, and drop what the C++ library writes to the standard error."""
    said = io.StringIO()
    with ONE_AT_A_TIME:
        kept = os.dup(STDERR)
        try:
            with open(os.devnull, "wb") as nowhere, redirect_stdout(said):
                os.dup2(nowhere.fileno(), STDERR)
                yield said
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)


def _check_header(file: Any, size: int, path: Path | str) -> None:
    """Refuse what is no flat image of one part, and sizes that `size` bytes cannot hold."""
    if len(file.parts) != 1:
        raise InputError(f"has {len(file.parts)} parts", file=path, fix="write one part")
    (part,) = file.parts
    left_top, right_bottom = (np.asarray(corner, dtype=np.float64) for corner in part.header["dataWindow"])
    width, height = (right_bottom - left_top + 1).tolist()
    channels = part.header["channels"]
    if not channels:
        raise InputError("has no channel", file=path, field="channels", fix=TRUNCATED)
    # Half of it is what the package gives, half the copy.
    check_size(int(width), int(height), path, stored=size, pixel_bytes=2 * NUMBER * len(channels))
    for channel in channels:
        if (channel.xSampling, channel.ySampling) != (1, 1):
            raise InputError("has a channel that is not one number for every pixel", file=path, field=channel.name)
