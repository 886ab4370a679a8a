"""Depth maps in libpleno files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.archive import Archive, check_end, put_list, take_list, write_archive

FloatArray = npt.NDArray[np.float64]

_ENTRY: np.dtype[np.void] = np.dtype([("depth", "<f8"), ("confidence", "<f8"), ("state", "<u2")])
_FOOTER: np.dtype[np.void] = np.dtype(
    [("cols", "<i4"), ("rows", "<i4"), ("min", "<f8"), ("max", "<f8"), ("metric", "u1"), ("coarse", "u1")]
)
# How the file says "none"; here it is NaN.
_NO_DEPTH = 0.0
_NO_CONFIDENCE = -1.0


@dataclass(frozen=True, eq=False)
class DepthMapArchive:
    """A map with one entry for each micro-image (coarse) or for each pixel of the raw image."""

    depth: FloatArray  # (rows, cols): virtual depth, or [mm] if metric; NaN = missing
    confidence: FloatArray  # (rows, cols); NaN = none
    state: npt.NDArray[np.uint16]  # (rows, cols): 0 untouched, 1 initialised, 2 computed
    minimum: float  # bounds of the search, in the unit of `depth`
    maximum: float
    metric: bool
    coarse: bool

    def __post_init__(self) -> None:
        for name in ("depth", "confidence", "state"):
            shape = np.shape(getattr(self, name))
            if len(shape) != 2 or shape != np.shape(self.depth):
                raise InputError(f"has the shape {shape}", field=name, fix="give (rows, cols), the same for all")


def read_depth_map(path: Path | str) -> DepthMapArchive:
    """Reads a map from `.bin` or `.bin.gz`."""
    archive = Archive(path)
    entries, offset = take_list(archive, 0, _ENTRY, field="entries")
    stored = archive.read(offset, _FOOTER.itemsize)
    if len(stored) < _FOOTER.itemsize:
        raise InputError("ends before the size of the map", file=path, fix="the file is truncated: copy it again")
    footer = np.frombuffer(stored, _FOOTER)[0]
    check_end(archive, offset + len(stored))

    rows, cols = int(footer["rows"]), int(footer["cols"])
    if rows < 0 or cols < 0 or rows * cols != len(entries):
        message = f"{cols} columns x {rows} rows do not make {len(entries)} entries"
        raise InputError(message, file=path, field="cols, rows", fix="check that the file is a depth map")
    for name in ("metric", "coarse"):
        if footer[name] > 1:
            raise InputError(f"is {footer[name]}, not 0 or 1", file=path, field=name, fix="the file is damaged")
    if np.isinf(entries["depth"]).any() or np.isinf(entries["confidence"]).any():
        raise InputError("an infinite value", file=path, field="entries", fix="the file is damaged: copy it again")

    # The entries run down the columns: index = k * rows + l.
    grid = entries.reshape(cols, rows).T
    return DepthMapArchive(
        depth=np.where(grid["depth"] == _NO_DEPTH, np.nan, grid["depth"]),
        confidence=np.where(grid["confidence"] == _NO_CONFIDENCE, np.nan, grid["confidence"]),
        state=np.ascontiguousarray(grid["state"], dtype=np.uint16),
        minimum=float(footer["min"]),
        maximum=float(footer["max"]),
        metric=bool(footer["metric"]),
        coarse=bool(footer["coarse"]),
    )


def write_depth_map(depth_map: DepthMapArchive, path: Path | str) -> None:
    """Writes a map to `.bin` or `.bin.gz`; NaN becomes depth 0 and confidence -1."""
    for name in ("depth", "confidence"):
        if np.isinf(getattr(depth_map, name)).any():
            raise InputError("holds an infinite value", file=path, field=name, fix="use NaN where there is none")
    rows, cols = depth_map.depth.shape
    grid = np.empty((cols, rows), _ENTRY)
    grid["depth"] = np.nan_to_num(depth_map.depth.T, nan=_NO_DEPTH)
    grid["confidence"] = np.nan_to_num(depth_map.confidence.T, nan=_NO_CONFIDENCE)
    grid["state"] = depth_map.state.T
    footer = np.array(
        [(cols, rows, depth_map.minimum, depth_map.maximum, depth_map.metric, depth_map.coarse)], dtype=_FOOTER
    )
    write_archive(put_list(grid.reshape(-1)) + footer.tobytes(), path)
