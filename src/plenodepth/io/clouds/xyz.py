"""Clouds as .xyz: lines `x y z`; from libpleno's programs they follow a line with their count and an empty one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.clouds.columns import bytes_from_floats, checked_points, is_count
from plenodepth.io.reading import read_bytes
from plenodepth.io.text_tables import TRUNCATED, TextLines

COLUMNS = (3, 4, 6, 7)  # x y z, then an intensity, a colour or both


@dataclass(frozen=True, eq=False)
class XyzCloud:
    """n points in the unit of the file."""

    points: npt.NDArray[np.float64]  # (n, 3)
    colors: npt.NDArray[np.uint8] | None  # (n, 3)
    counted: bool  # the file has a count, as libpleno's have, which are in mm


def read_xyz(path: Path | str) -> XyzCloud:
    """Reads either form; what follows x y z may be an intensity, a colour or both."""
    lines = TextLines(read_bytes(path), path)
    first = lines.text(0).strip() if len(lines) else ""
    counted = is_count(first)
    start = 1 if counted else 0
    while start < len(lines) and not lines.text(start).strip():  # the empty line, if it is there
        start += 1
    table = lines.table(start, len(lines))
    if counted and len(table) != int(first):
        message = f"{int(first)} announced, the file holds {len(table)}"
        raise InputError(message, file=path, field="points", fix=TRUNCATED)
    if not len(table):
        return XyzCloud(np.zeros((0, 3)), None, counted)
    if table.shape[1] not in COLUMNS:
        message = f"has {table.shape[1]} numbers"
        raise InputError(message, file=path, field=f"line {start + 1}", fix="give x y z [intensity] [r g b]")
    colors = bytes_from_floats(table[:, -3:], "colors", path) if table.shape[1] in (6, 7) else None
    return XyzCloud(checked_points(table[:, :3], path), colors, counted)
