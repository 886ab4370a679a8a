"""Depth maps as tables: a line for each entry, with a header that names k, l and the depth (and the frame)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.budget import require_memory
from plenodepth.io.reading import quoted, read_bytes
from plenodepth.io.text_tables import TextLines

DEPTHS = ("d", "z", "depth")
LARGEST = 100_000  # columns or rows
LARGEST_FRAME = 2**31


def read_map_csv(
    path: Path | str, *, shape: tuple[int, int] | None = None, frame: int | None = None
) -> npt.NDArray[np.float32]:
    """The map (rows, columns) of the lines `frame,k,l,d` or `k,l,depth`; NaN where there is no line.

    `shape` where it is known; else it reaches to the largest k and l. Of several frames, `frame` names the one.
    """
    data = read_bytes(path)
    lines = TextLines(data, path)
    header = [word.strip().lower() for word in lines.text(0).split(",")] if len(lines) else []
    depth = next((name for name in DEPTHS if name in header), None)
    if depth is None or "k" not in header or "l" not in header:
        words = quoted(lines.text(0)) if len(lines) else "nothing"
        raise InputError(f"starts with {words}", file=path, field="line 1", fix="give frame,k,l,d or k,l,depth")
    body = data.partition(b"\n")[2].replace(b",", b" ")
    table = TextLines(b"\n" + body, path).table(1, len(lines))
    if not len(table):
        raise InputError("holds no depth", file=path)
    if table.shape[1] != len(header):
        raise InputError(f"has {table.shape[1]} values, the header {len(header)}", file=path, field="line 2")
    column = {name: table[:, index] for index, name in enumerate(header)}
    chosen = _of_frame(column, frame, path)
    k, l, values = (column[name][chosen] for name in ("k", "l", depth))
    for name, index in (("k", k), ("l", l)):
        if not ((index >= 0) & (index == np.floor(index)) & (index < LARGEST)).all():
            raise InputError("holds a number that is no index ≥ 0", file=path, field=name)
    needed = int(l.max()) + 1, int(k.max()) + 1
    size = needed if shape is None else shape
    if needed[0] > size[0] or needed[1] > size[1]:
        message = f"reaches to k = {needed[1] - 1}, l = {needed[0] - 1}, the map has {size[1]} × {size[0]}"
        raise InputError(message, file=path)
    require_memory(size[0] * size[1] * np.dtype(np.float32).itemsize, path, stored=len(data), field="k, l")
    result = np.full(size, np.nan, np.float32)
    with np.errstate(over="ignore"):  # what becomes infinite is no depth
        result[l.astype(np.int64), k.astype(np.int64)] = values
    return result


def _of_frame(column: dict[str, npt.NDArray[np.float64]], frame: int | None, path: Path | str) -> npt.NDArray[np.bool_]:
    """Which lines are of the frame asked for, or of the only one there is."""
    everything = np.ones(len(column["k"]), dtype=np.bool_)
    if "frame" not in column:
        return everything
    stored = column["frame"]
    if not ((np.abs(stored) < LARGEST_FRAME) & (stored == np.floor(stored))).all():
        raise InputError("holds a number that is no frame", file=path, field="frame")
    frames = np.unique(stored).astype(np.int64).tolist()
    if frame is None:
        if len(frames) > 1:
            raise InputError(f"holds {len(frames)} frames ({frames[0]} … {frames[-1]})", file=path, fix="name one")
        return everything
    if frame not in frames:
        raise InputError(f"has no frame {frame}", file=path)
    return np.asarray(stored == frame)
