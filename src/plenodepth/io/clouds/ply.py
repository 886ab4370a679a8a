"""Point clouds as PLY: vertices with any columns of numbers. The file keeps the unit of the points, mm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.clouds.columns import (
    Columns,
    as_integers,
    checked_colors,
    checked_column,
    checked_points,
    is_count,
    require_points,
)
from plenodepth.io.reading import quoted, read_bytes
from plenodepth.io.text_tables import number_table

_COORDINATES = ("x", "y", "z")
_CHANNELS = ("red", "green", "blue")
_OUR_NAMES = ("points", "colors")  # of what is read together
_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
POINTS_AT_A_TIME = 1 << 18  # so that memory stays flat
_END = re.compile(rb"(?:^|[\r\n])end_header[ \t]*(?:\r\n|\n|\r)")


def write_ply(points: npt.ArrayLike, path: Path | str, *, colors: npt.ArrayLike | None = None, **columns: Any) -> None:
    """Writes points (n, 3) as float32, binary little endian, with colours uint8 (n, 3) and float32 columns (n,).

    A column is any name with its values: `confidence=...`, `sigma=...`, `intensity=...`; NaN is allowed in it.
    """
    parts = _parts(points, path, colors, columns)
    header = next(parts)  # refuses what cannot be written before there is a file
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(header)
        for part in parts:
            file.write(part)  # not tofile, whose errors do not say that the disk is full


def ply_bytes(points: npt.ArrayLike, *, colors: npt.ArrayLike | None = None, **columns: Any) -> bytes:
    """The content of the file that `write_ply` writes."""
    return b"".join(_parts(points, "PLY", colors, columns))


def _parts(
    points: npt.ArrayLike, path: Path | str, colors: npt.ArrayLike | None, columns: dict[str, Any]
) -> Iterator[bytes | memoryview]:
    """The header, then some points after the other; errors name the path."""
    xyz = np.asarray(points)
    require_points(xyz, path)
    fields: list[tuple[str, str]] = [(name, "<f4") for name in _COORDINATES]
    rgb = None if colors is None else checked_colors(colors, len(xyz), path)
    if rgb is not None:
        fields += [(name, "u1") for name in _CHANNELS]
    values = {name: checked_column(column, len(xyz), name, path) for name, column in columns.items()}
    for name in values:
        if not _NAME.fullmatch(name) or name in (*_COORDINATES, *_CHANNELS):
            raise InputError("is not a name for a column", file=path, field=name, fix="use letters, not x, y, z or red")
        fields.append((name, "<f4"))
    words = [f"property {'uchar' if kind == 'u1' else 'float'} {name}" for name, kind in fields]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(xyz)}", *words, "end_header", ""]
    columns_of: Columns = {name: xyz[:, axis] for axis, name in enumerate(_COORDINATES)} | values
    if rgb is not None:
        columns_of |= {name: rgb[:, axis] for axis, name in enumerate(_CHANNELS)}
    yield "\n".join(header).encode("ascii")
    for start in range(0, len(xyz), POINTS_AT_A_TIME):
        part = slice(start, start + POINTS_AT_A_TIME)
        table = np.empty(len(xyz[part]), fields)
        for name, _ in fields:
            table[name] = columns_of[name][part]
        yield table.view(np.uint8).data


def read_ply(path: Path | str) -> Columns:
    """The vertices of a PLY file: `points` (n, 3) float64, `colors` (n, 3) uint8 where red, green and blue are bytes.

    Every other property of a vertex comes under its own name, (n,), in the file's type. Faces are skipped. So
    `write_ply(path=other, **read_ply(path))` copies a cloud.
    """
    data = read_bytes(path)
    header = _parse_header(data, path)
    columns = (_binary_columns if header.order else _text_columns)(data, header, path)
    missing = [name for name in _COORDINATES if name not in columns]
    if missing:
        raise InputError("is not a property of vertex", file=path, field=missing[0], fix="give x, y and z")
    with np.errstate(invalid="ignore"):  # a kind of NaN that protests; refused with the others
        points = np.stack([columns.pop(name).astype(np.float64) for name in _COORDINATES], axis=1)
    result: Columns = {"points": checked_points(points, path)}
    if all(name in columns and columns[name].dtype == np.uint8 for name in _CHANNELS):
        result["colors"] = np.stack([columns.pop(name) for name in _CHANNELS], axis=1)
    return result | columns


@dataclass(frozen=True)
class _Header:
    order: str  # "" for text, "<" or ">"
    before: int  # bytes (binary) or lines (text) between the header and the first vertex
    count: int
    fields: list[tuple[str, str]]  # name and NumPy type of each property of a vertex
    end: int  # position of the first byte after the header


def _parse_header(data: bytes, path: Path | str) -> _Header:
    end = _END.search(data)
    if not data.startswith(b"ply") or end is None:
        raise InputError("is not a PLY file with a whole header", file=path, fix="the file starts with ply")
    lines = data[: end.start()].decode("latin-1").splitlines()[1:]
    order, before, elements = None, 0, 0
    vertex: tuple[int, list[tuple[str, str]]] | None = None
    count, fields = 0, list[tuple[str, str]]()
    for number, line in enumerate(lines, start=2):
        match line.split():
            case [] | ["comment" | "obj_info", *_]:
                continue
            case ["format", word, "1.0"] if word in _ORDERS and order is None:
                order = _ORDERS[word]
            case ["element", name, digits] if is_count(digits) and order is not None:
                # Closing the element before: what stands before the vertices must be stepped over.
                if vertex is None:
                    before += _room(count, fields, order, path)
                count, fields, elements = int(digits), [], elements + 1
                if name == "vertex" and vertex is not None:
                    raise InputError("is there twice", file=path, field="element vertex")
                if name == "vertex":
                    vertex = (count, fields)
            case ["property", kind, name] if kind in _TYPES and elements:
                fields.append((name, f"{order}{_TYPES[kind]}"))
            case ["property", "list", size, kind, name] if size in _TYPES and kind in _TYPES and elements:
                fields.append((name, "list"))
            case _:
                raise InputError(f"is not understood: {quoted(line)}", file=path, field=f"header line {number}")
    if vertex is None or order is None:
        raise InputError("is missing", file=path, field="element vertex", fix="give a file with points")
    names = [name for name, _ in vertex[1]]
    taken = next((name for name in names if name in _OUR_NAMES), None)
    if taken is not None:
        message = f"has a property that is called {taken}"
        raise InputError(message, file=path, field="element vertex", fix="give it another name")
    if len(set(names)) != len(names) or any(kind == "list" for _, kind in vertex[1]):
        raise InputError("has a list or the same name twice", file=path, field="element vertex")
    return _Header(order, before, *vertex, end.end())


def _room(count: int, fields: list[tuple[str, str]], order: str, path: Path | str) -> int:
    """Bytes (binary) or lines (text) of an element."""
    if not order:
        return count
    if any(kind == "list" for _, kind in fields):
        raise InputError("stands after a list", file=path, field="element vertex", fix="put the vertices first")
    return count * sum(np.dtype(kind).itemsize for _, kind in fields)


def _binary_columns(data: bytes, header: _Header, path: Path | str) -> Columns:
    record = np.dtype(header.fields)
    start = header.end + header.before
    room = max(len(data) - start, 0) // record.itemsize if record.itemsize else 0
    if room < header.count:
        raise _cut_short(room, header, path)
    table = np.frombuffer(data, record, header.count, start)
    return {name: table[name].astype(table[name].dtype.newbyteorder("=")) for name in record.names or ()}


def _text_columns(data: bytes, header: _Header, path: Path | str) -> Columns:
    ends = np.flatnonzero(np.frombuffer(data, np.uint8, offset=header.end) == ord("\n")) + header.end + 1
    starts = np.concatenate([[header.end], ends, [len(data)]])
    first, last = (int(starts[min(line, len(starts) - 1)]) for line in (header.before, header.before + header.count))
    table = number_table(data[first:last], path)
    if len(table) < header.count:
        raise _cut_short(len(table), header, path)
    if header.count and table.shape[1] != len(header.fields):
        message = f"lines of {table.shape[1]} numbers, the header names {len(header.fields)}"
        raise InputError(message, file=path, field="element vertex")
    table = table.reshape(header.count, len(header.fields))
    columns: Columns = {}
    for (name, kind), values in zip(header.fields, table.T, strict=True):
        integers = np.dtype(kind).kind in "iu"
        with np.errstate(over="ignore"):  # a coordinate that becomes infinite is refused with the others
            columns[name] = as_integers(values, np.dtype(kind), name, path) if integers else values.astype(kind)
    return columns


def _cut_short(found: int, header: _Header, path: Path | str) -> InputError:
    message = f"{header.count} announced, the file holds {found}"
    return InputError(message, file=path, field="element vertex", fix="the file is truncated: copy it again")
