"""Laser scans as .ptx (Leica): one grid of points after another, each with the pose of the scanner.

A scan starts with the number of columns and that of rows, a line each; the scanner's position and its three axes, four
lines of 3 numbers; a matrix, four lines of 4, that takes its points to the common frame, [x y z 1] · M: the shift is
the last ROW. Then columns × rows lines `x y z intensity [r g b]`. A beam that met nothing is `0 0 0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.clouds.columns import bytes_from_floats, checked_column, checked_points
from plenodepth.io.reading import quoted, read_bytes
from plenodepth.io.text_tables import TRUNCATED, TextLines

Float64 = npt.NDArray[np.float64]

HEADER_LINES = 10
LAST_OF_MATRIX = (0.0, 0.0, 0.0, 1.0)
CLOSE = 1e-6
MOST_BEAMS = 10**10


@dataclass(frozen=True, eq=False)
class PtxScan:
    """The n points that one scan holds, of columns × rows beams; in the file's unit, which is metres by its makers."""

    columns: int
    rows: int
    points: Float64  # (n, 3), in the frame that all scans of the file share
    intensity: npt.NDArray[np.float32] | None  # (n,)
    colors: npt.NDArray[np.uint8] | None  # (n, 3)
    position: Float64  # (3,) of the scanner, as the header gives it
    matrix: Float64  # (4, 4), common_from_scanner for columns [x y z 1]ᵀ

    @property
    def missing(self) -> int:
        """Beams that met nothing."""
        return self.columns * self.rows - len(self.points)


def read_ptx(path: Path | str) -> list[PtxScan]:
    """All scans of a file, in its order."""
    lines = TextLines(read_bytes(path), path)
    if not len(lines):
        raise InputError("is empty", file=path, fix="give a .ptx file")
    scans, line = list[PtxScan](), 0
    while line < len(lines):
        scan, line = _scan(lines, line, len(scans) + 1)
        scans.append(scan)
    return scans


def _scan(lines: TextLines, start: int, number: int) -> tuple[PtxScan, int]:
    """The scan whose header starts at a line, and the line after it."""
    path = lines.path
    columns, rows = (_count(lines, start + offset, name) for offset, name in enumerate(("columns", "rows")))
    position, *_ = (np.array(lines.numbers(start + 2 + row, 3, "the scanner's pose")) for row in range(4))
    stored = np.array([lines.numbers(start + 6 + row, 4, "the scan's matrix") for row in range(4)])
    matrix = _matrix(stored, start, path)
    first, expected = start + HEADER_LINES, columns * rows
    found = min(expected, len(lines) - first)
    if found < expected:
        message = f"the file ends, scan {number} has {found} points of {columns} × {rows} = {expected}"
        raise InputError(message, file=path, field=f"line {len(lines)}", fix=TRUNCATED)
    table = lines.table(first, first + expected)
    if expected and table.shape[1] not in (3, 4, 6, 7):
        message = f"has {table.shape[1]} numbers"
        raise InputError(message, file=path, field=f"line {first + 1}", fix="lines hold x y z intensity [r g b]")
    table = table.reshape(expected, -1) if expected else np.zeros((0, 4))
    met = (table[:, :3] != 0).any(axis=1)
    table = table[met]
    with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is refused
        points = checked_points(table[:, :3] @ matrix[:3, :3].T + matrix[:3, 3], path)
    intensity = checked_column(table[:, 3], len(table), "intensity", path) if table.shape[1] in (4, 7) else None
    return PtxScan(
        columns,
        rows,
        points,
        intensity,
        bytes_from_floats(table[:, -3:], "colors", path) if table.shape[1] in (6, 7) else None,
        position,
        matrix,
    ), first + expected


def _count(lines: TextLines, line: int, what: str) -> int:
    """A whole number on a line of its own."""
    (value,) = lines.numbers(line, 1, f"the number of {what}")
    if value < 0 or value != int(value) or value > MOST_BEAMS:
        message = f"is no number of {what}: {quoted(lines.text(line))}"
        raise InputError(message, file=lines.path, field=f"line {line + 1}", fix="a scan starts with columns and rows")
    return int(value)


def _matrix(stored: Float64, start: int, path: Path | str) -> Float64:
    """The matrix for columns [x y z 1]ᵀ; a file that holds it so already is told by where 0 0 0 1 stands."""
    if np.abs(stored[:, 3] - LAST_OF_MATRIX).max() < CLOSE:
        return stored.T
    if np.abs(stored[3] - LAST_OF_MATRIX).max() < CLOSE:
        return stored
    field = f"lines {start + 7} … {start + 10}"
    raise InputError("the matrix moves no points rigidly: no column 0 0 0 1", file=path, field=field)
