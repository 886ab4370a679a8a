"""One table of observations as a CSV file, whose header names the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.libpleno.archive import Table
from plenodepth.io.reading import quoted, read_text, to_number


def read_csv_table(path: Path | str, dtypes: Mapping[str, np.dtype[np.void]]) -> tuple[str, Table]:
    """The name, among `dtypes`, that the header of the file matches, and the table (n,) of its dtype."""
    header, *lines = read_text(path).replace("\r\n", "\n").split("\n")
    columns = tuple(cell.strip() for cell in header.split(","))
    name = next((name for name, dtype in dtypes.items() if dtype.names == columns), None)
    if name is None:
        headers = " or ".join(",".join(dtype.names or ()) for dtype in dtypes.values())
        raise InputError(f"unknown header {quoted(header)}", file=path, field="line 1", fix=f"start with {headers}")
    numbered = [(number, line) for number, line in enumerate(lines, start=2) if line.strip()]
    dtype = dtypes[name]
    values = _parse([line for _, line in numbered], len(columns))
    if values is None:
        raise _fault(path, numbered, columns)
    table = np.empty(len(numbered), dtype)
    for index, column in enumerate(columns):
        wrong = _wrong_values(values[:, index], dtype[column])
        if len(wrong):
            number = numbered[wrong[0]][0]
            kind = "a 32-bit integer" if dtype[column].kind == "i" else "finite"
            value = f"{values[wrong[0], index]:g}"
            fix = "repair or remove the line"
            raise InputError(f"{column} is not {kind}: {value}", file=path, field=f"line {number}", fix=fix)
        table[column] = values[:, index]
    return name, table


def write_csv_table(table: Table, path: Path | str) -> None:
    """Writes the table with the digits that give back the same doubles."""
    lines = [",".join(table.dtype.names or ()), *(",".join(map(repr, row)) for row in table.tolist())]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def _parse(lines: Sequence[str], columns: int) -> npt.NDArray[np.float64] | None:
    """The numbers (n, columns) of the lines, or None where a line does not hold `columns` numbers."""
    if not lines:
        return np.empty((0, columns))
    try:
        # Doubles hold every 32-bit integer exactly, so that one fast pass reads all the columns.
        values = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return None
    return values if values.shape[1] == columns else None


def _wrong_values(values: npt.NDArray[np.float64], dtype: np.dtype[np.generic]) -> npt.NDArray[np.intp]:
    """The indices of the values that do not fit the column."""
    if dtype.kind != "i":
        return np.flatnonzero(~np.isfinite(values))
    limits = np.iinfo(np.int32)
    return np.flatnonzero(~((values >= limits.min) & (values <= limits.max) & (values == np.rint(values))))


def _fault(path: Path | str, numbered: Sequence[tuple[int, str]], columns: Sequence[str]) -> InputError:
    """The error that names the first line which could not be parsed."""
    for number, line in numbered:
        cells = line.split(",")
        if len(cells) != len(columns):
            message = f"has {len(cells)} values instead of {len(columns)}"
            return InputError(message, file=path, field=f"line {number}", fix="complete or remove the line")
        for cell, column in zip(cells, columns, strict=True):
            try:
                to_number(cell)
            except ValueError as error:
                fix = "repair or remove the line"
                return InputError(f"{column} {error}", file=path, field=f"line {number}", fix=fix)
    return InputError("does not hold a table of numbers", file=path)
