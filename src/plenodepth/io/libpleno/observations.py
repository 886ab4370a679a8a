"""Observations in libpleno files: what was detected in the micro-images.

Three tables, one row for each observation: micro-image centres in a white image, board corners, and corners with
their blur radius (features). k, l are the micro-image's column and row, u, v the position in pixels, rho the signed
blur radius in pixels, cluster the board corner (-1: none) and frame the number of the image.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.archive import (
    Archive,
    Table,
    check_end,
    is_archive,
    put_list,
    take_list,
    write_archive,
)
from plenodepth.io.libpleno.observations_csv import read_csv_table, write_csv_table

_INDICES = [("k", "<i4"), ("l", "<i4")]
_POSITION = [("u", "<f8"), ("v", "<f8")]
_ORIGIN = [("cluster", "<i4"), ("frame", "<i4")]

CENTER_DTYPE: np.dtype[np.void] = np.dtype([*_INDICES, *_POSITION])
CORNER_DTYPE: np.dtype[np.void] = np.dtype([*_INDICES, *_POSITION, *_ORIGIN])
FEATURE_DTYPE: np.dtype[np.void] = np.dtype([*_INDICES, *_POSITION, ("rho", "<f8"), *_ORIGIN])

# In the order of the archive.
_TABLES = {"centers": CENTER_DTYPE, "corners": CORNER_DTYPE, "features": FEATURE_DTYPE}


@dataclass(frozen=True, eq=False)
class Observations:
    """The three tables, structured arrays (n,); any of them may be empty."""

    centers: Table = field(default_factory=lambda: np.empty(0, CENTER_DTYPE))
    corners: Table = field(default_factory=lambda: np.empty(0, CORNER_DTYPE))
    features: Table = field(default_factory=lambda: np.empty(0, FEATURE_DTYPE))

    def __post_init__(self) -> None:
        for name, table in self.tables():
            if table.dtype != _TABLES[name] or table.ndim != 1:
                raise InputError(f"is not a one-dimensional array of {_TABLES[name]}", field=name)

    def tables(self) -> Iterator[tuple[str, Table]]:
        """The names and tables in the order of the archive."""
        return ((name, getattr(self, name)) for name in _TABLES)


def observation_table(dtype: np.dtype[np.void], **columns: npt.ArrayLike) -> Table:
    """A table (n,) of `dtype` from one array (n,) or scalar for each of its columns."""
    if set(columns) != set(dtype.names or ()):
        raise ValueError(f"the columns {dtype.names} are needed, got {tuple(columns)}")
    table = np.empty(np.broadcast_shapes(*(np.shape(column) for column in columns.values())), dtype)
    for name, column in columns.items():
        table[name] = column
    return table


def read_observations(path: Path | str) -> Observations:
    """Reads `.bin` and `.bin.gz`, which hold the three tables, or `.csv`, whose header tells which one it is."""
    if _is_csv(path):
        name, table = read_csv_table(path, _TABLES)
        return Observations(**{name: table})
    if not is_archive(path):
        raise _unknown_suffix(path)
    archive = Archive(path)
    offset = 0
    tables: dict[str, Table] = {}
    for name, dtype in _TABLES.items():
        tables[name], offset = take_list(archive, offset, dtype, field=name)
    check_end(archive, offset)
    observations = Observations(**tables)
    _check_finite(observations, path)
    return observations


def write_observations(observations: Observations, path: Path | str) -> None:
    """Writes `.bin`, `.bin.gz`, or a `.csv` for the one table that is not empty (of none: the features)."""
    if not _is_csv(path) and not is_archive(path):
        raise _unknown_suffix(path)
    _check_finite(observations, path)
    if not _is_csv(path):
        write_archive(b"".join(put_list(table) for _, table in observations.tables()), path)
        return
    filled = {name: table for name, table in observations.tables() if len(table)}
    if len(filled) > 1:
        raise InputError(
            f"a CSV file holds one table, not {' and '.join(filled)}",
            file=path,
            fix="use the suffix .bin.gz, or write each table to its own CSV file",
        )
    write_csv_table(next(iter(filled.values()), observations.features), path)


def _check_finite(observations: Observations, path: Path | str) -> None:
    for name, table in observations.tables():
        for column in set(table.dtype.names or ()) & {"u", "v", "rho"}:
            faults = np.flatnonzero(~np.isfinite(table[column]))
            if len(faults):
                fix = "remove the observation, or copy the file again if it is damaged"
                raise InputError("is not finite", file=path, field=f"{name}.{faults[0]}.{column}", fix=fix)


def _is_csv(path: Path | str) -> bool:
    return Path(path).suffix.lower() == ".csv"


def _unknown_suffix(path: Path | str) -> InputError:
    return InputError("is not the name of an observations file", file=path, fix="use .bin, .bin.gz or .csv")
