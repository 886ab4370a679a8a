"""One front door to depth maps of any format: .tiff, .npy, .exr, .csv, and libpleno's .bin and .bin.gz."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.images import read_float_map
from plenodepth.io.libpleno.archive import is_archive
from plenodepth.io.libpleno.depth_map import read_depth_map
from plenodepth.io.maps.csv import read_map_csv
from plenodepth.io.maps.exr import read_exr
from plenodepth.io.reading import read_bytes

MAP_SUFFIXES = (".tif", ".tiff", ".npy", ".exr", ".csv", ".bin", ".bin.gz")


@dataclass(frozen=True, eq=False)
class DepthValues:
    """Depths (h, w), NaN where there is none, and what a reader should know about how they were read."""

    values: npt.NDArray[np.float32]
    notes: tuple[str, ...]


def read_map(path: Path | str, *, shape: tuple[int, int] | None = None, frame: int | None = None) -> DepthValues:
    """A map of depths, its format told by the suffix; 0 and less, and infinities, become NaN, and the notes say so.

    A .csv does not tell its size: `shape` (h, w) does, or else its largest index. `frame` picks one of several in it.
    """
    name = Path(path).name.lower()
    notes = list[str]()
    if is_archive(path):
        archive = read_depth_map(path)
        with np.errstate(over="ignore"):  # what becomes infinite is no depth
            values = archive.depth.astype(np.float32)
        if not archive.metric:
            notes.append("holds virtual depth, not mm")
    elif name.endswith((".tif", ".tiff")):
        values = read_float_map(path)
    elif name.endswith(".npy"):
        values = _read_npy(path)
    elif name.endswith(".exr"):
        values = _first_channel(read_exr(path))
    elif name.endswith(".csv"):
        values = read_map_csv(path, shape=shape, frame=frame)
    else:
        suffixes = ", ".join(MAP_SUFFIXES)
        raise InputError(f"has the suffix '{Path(path).suffix}'", file=path, fix=f"give a depth map: {suffixes}")
    with np.errstate(invalid="ignore"):
        impossible = (values <= 0) | np.isinf(values)
    count = int(np.count_nonzero(impossible))
    if count:
        notes.append(f"{count} entries of 0 or without bound are taken for missing")
        values = np.where(impossible, np.float32(np.nan), values)
    return DepthValues(values, tuple(notes))


def _read_npy(path: Path | str) -> npt.NDArray[np.float32]:
    data = read_bytes(path)
    file = io.BytesIO(data)
    try:
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, by_columns, kind = readers[np.lib.format.read_magic(file)](file)
    except Exception as error:  # what NumPy raises for a damaged header is not a closed list
        raise InputError(f"is no readable .npy: {error}", file=path) from None
    if len(shape) != 2 or kind.kind not in "fiu" or min(shape) < 1:
        raise InputError(f"holds {kind} of the shape {shape}", file=path, fix="give one map (h, w) of numbers")
    if shape[0] * shape[1] * kind.itemsize > len(data) - file.tell():  # before NumPy makes room for them
        raise InputError(f"is no readable .npy: it ends before {shape[0]} × {shape[1]} numbers", file=path)
    array = np.frombuffer(data, kind, shape[0] * shape[1], file.tell())
    with np.errstate(over="ignore"):
        values = array.reshape(shape, order="F" if by_columns else "C").astype(np.float32)
    return np.ascontiguousarray(values)


def _first_channel(channels: dict[str, npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """libpleno's maps hold the same in three channels; others hold one, whatever its name."""
    for name in ("Z", "Y", "R"):
        if name in channels:
            return channels[name]
    return next(iter(channels.values()))
