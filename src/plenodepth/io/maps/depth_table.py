"""Results as a table whose header names the frame and the depth; several lines of a frame count by their median."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.maps.csv import LARGEST_FRAME
from plenodepth.io.reading import quoted, read_bytes
from plenodepth.io.text_lines import TextLines

DEPTHS = ("d", "z", "depth", "depth_mm", "z_mm", "median_z_mm", "distance")


def read_depth_table(path: Path | str) -> dict[int, float]:
    """The depth of each frame, mm: the median of its lines that are not 0; NaN where all are."""
    data = read_bytes(path)
    lines = TextLines(data.replace(b",", b" ").replace(b";", b" "), path)
    header = [word.lower() for word in lines.text(0).split()] if len(lines) else []
    depth = next((name for name in DEPTHS if name in header), None)
    if "frame" not in header or depth is None:
        words = quoted(TextLines(data, path).text(0)) if len(lines) else "nothing"
        raise InputError(f"starts with {words}", file=path, field="line 1", fix="name the columns: frame,depth")
    table = lines.table(1, len(lines))
    if not len(table):
        raise InputError("holds no depth", file=path)
    if table.shape[1] != len(header):
        raise InputError(f"has {table.shape[1]} values, the header {len(header)}", file=path, field="line 2")
    frames, values = table[:, header.index("frame")], table[:, header.index(depth)]
    if not ((np.abs(frames) < LARGEST_FRAME) & (frames == np.floor(frames))).all():
        raise InputError("holds a number that is no frame", file=path, field="frame")
    result: dict[int, float] = {}
    for frame in np.unique(frames).tolist():
        present = values[(frames == frame) & (values != 0)]
        result[int(frame)] = float(np.median(present)) if len(present) else float("nan")
    return result
