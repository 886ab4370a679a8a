"""The strips or tiles of a TIFF's page that deflate has packed, each unpacked to its own size and no further."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.budget import require_memory
from plenodepth.io.image_formats.files import part
from plenodepth.io.image_formats.stored import TRUNCATED
from plenodepth.io.inflating import inflated

_DIFFERENCES = 2  # the predictor that stores what each number differs by from its left neighbour


def deflated_pixels(page: Any, file: BinaryIO, path: Path | str) -> npt.NDArray[Any]:
    """The numbers of a page, (planes, h, w, samples), in this machine's byte order; what a file leaves out is 0."""
    planes, _, height, width, samples = (int(size) for size in page.shaped)
    tile = (int(page.tilelength), int(page.tilewidth)) if page.is_tiled else (min(page.rowsperstrip, height), width)
    kind = np.dtype(page.dtype).newbyteorder(page.parent.byteorder)
    if min(tile) < 1:
        raise InputError(f"has strips or tiles of {tile[1]} × {tile[0]}", file=path, fix=TRUNCATED)
    require_memory(tile[0] * tile[1] * samples * kind.itemsize, path, field="tile")
    result = np.zeros((planes, height, width, samples), kind.newbyteorder("="))
    places = list(_places(planes, height, width, tile))
    if min(len(page.dataoffsets), len(page.databytecounts)) < len(places):
        raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
    for place, offset, count in zip(places, page.dataoffsets, page.databytecounts, strict=False):
        if not count:
            continue
        plane, top, left = place
        rows = tile[0] if page.is_tiled else min(tile[0], height - top)
        shape = rows, tile[1], samples
        data = inflated(part(file, offset, count), int(np.prod(shape)) * kind.itemsize)
        if len(data) < np.prod(shape) * kind.itemsize:
            raise InputError("ends before its last pixel", file=path, fix=TRUNCATED)
        pixels = np.frombuffer(data, kind).reshape(shape)
        if page.predictor == _DIFFERENCES:  # of floats: of their bits
            bits = pixels.astype(kind.newbyteorder("=")).view(f"u{kind.itemsize}")
            pixels = np.cumsum(bits, axis=1, dtype=bits.dtype).view(kind.newbyteorder("="))
        target = result[plane, top : top + rows, left : left + tile[1]]
        target[...] = pixels[: target.shape[0], : target.shape[1]]
    return result


def _places(planes: int, height: int, width: int, tile: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """Plane, row and column where each strip or tile begins, in the order of the file."""
    for plane in range(planes):
        for top in range(0, height, tile[0]):
            for left in range(0, width, tile[1]):
                yield plane, top, left
