"""Lidar clouds as .pts: the count, then a line `x y z intensity r g b` for each point. METRES in the file, mm here.

Programs that write millimetres all the same are not rare; `read_cloud` tells them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.clouds.columns import (
    MM_PER_METRE,
    UNITS,
    Columns,
    Unit,
    bytes_from_floats,
    checked_colors,
    checked_column,
    checked_points,
    is_count,
)
from plenodepth.io.reading import quoted, read_bytes
from plenodepth.io.text_tables import number_table

_LINES_AT_A_TIME = 100_000
# What the numbers of a line mean, by how many there are.
_LAYOUTS = {3: (), 4: ("intensity",), 6: ("colors",), 7: ("intensity", "colors")}


def write_pts(
    points: npt.ArrayLike,
    path: Path | str,
    *,
    intensity: npt.ArrayLike | None = None,
    colors: npt.ArrayLike | None = None,
) -> None:
    """Writes points (n, 3) mm as metres to the micrometre; intensity (n,) in its own unit, colours uint8 (n, 3).

    What is not given is left out of the lines.
    """
    xyz = checked_points(points, path)
    columns, form = [xyz / MM_PER_METRE], "%.6f %.6f %.6f"
    if intensity is not None:
        strength = _finite(checked_column(intensity, len(xyz), "intensity", path), path)
        columns.append(strength.astype(np.float64)[:, None])
        form += " %.9g"  # the digits that give back the same float32
    if colors is not None:
        columns.append(checked_colors(colors, len(xyz), path).astype(np.float64))
        form += " %d %d %d"
    table = np.hstack(columns)
    with atomic_path(path) as temporary, temporary.open("w", encoding="ascii", newline="\n") as file:
        file.write(f"{len(table)}\n")
        for first in range(0, len(table), _LINES_AT_A_TIME):
            # One formatting of many lines at once is several times faster than one for each.
            part = table[first : first + _LINES_AT_A_TIME]
            file.write(f"{form}\n" * len(part) % tuple(part.ravel().tolist()))


def read_pts(path: Path | str, unit: Unit = "m") -> Columns:
    """A .pts file: `points` (n, 3) mm, and where the lines have them `intensity` (n,) float32, `colors` (n, 3) uint8.

    Lines hold `x y z`, `x y z intensity`, `x y z r g b` or `x y z intensity r g b`, with x y z in `unit`.
    """
    data = read_bytes(path)
    first, _, rest = data.partition(b"\n")
    digits = first.strip().decode("latin-1")
    if not is_count(digits):
        fix = "the first line is the number of points"
        raise InputError(f"is not a count: {quoted(digits)}", file=path, field="line 1", fix=fix)
    count, table = int(digits), number_table(rest, path)
    if len(table) != count:
        message = f"{count} announced, the file holds {len(table)}"
        raise InputError(message, file=path, field="points", fix="the file is truncated: copy it again")
    if not count:
        return {"points": np.zeros((0, 3))}
    if table.shape[1] not in _LAYOUTS:
        fix = "write x y z intensity r g b"
        raise InputError(f"lines of {table.shape[1]} numbers", file=path, field="points", fix=fix)
    with np.errstate(over="ignore"):  # what becomes infinite is refused
        columns: Columns = {"points": checked_points(table[:, :3] * UNITS[unit], path)}
    layout = _LAYOUTS[table.shape[1]]
    if "intensity" in layout:
        columns["intensity"] = _finite(checked_column(table[:, 3], count, "intensity", path), path)
    if "colors" in layout:
        columns["colors"] = bytes_from_floats(table[:, -3:], "colors", path)
    return columns


def _finite(intensity: npt.NDArray[np.float32], path: Path | str) -> npt.NDArray[np.float32]:
    if not np.isfinite(intensity).all():
        raise InputError("holds a number that is not finite", file=path, field="intensity", fix="give finite numbers")
    return intensity
