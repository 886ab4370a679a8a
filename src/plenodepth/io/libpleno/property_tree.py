"""The JSON dialect of libpleno files.

Every scalar may be a number or a string (`"0.0055"`), booleans are `"true"` and `"false"`, an empty list or
object may be `""`, a matrix is the list of its COLUMNS, and so a 3-vector is `[[x, y, z]]`. Unknown keys are
ignored; of a key given twice, the last one counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.reading import quoted, read_text, to_number
from plenodepth.io.strict_text import parse_json

FloatArray = npt.NDArray[np.float64]

_LARGEST_EXACT_INTEGER = 2**53  # beyond it a double no longer tells neighbouring integers apart
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class PropertyTree:
    """An object of a libpleno file, whose values are fetched by dotted path (`"mia.mesh.pitch"`) and checked.

    Each getter raises `InputError` naming `file` and the full dotted path when the value is missing (and no default
    is given), of the wrong type or shape, or not finite. `prefix` is the path of this object inside the file.
    """

    file: str
    content: Mapping[str, Any]
    prefix: str = ""

    def error(self, path: str, message: str, fix: str | None = None) -> InputError:
        """The error to raise for the value at `path`."""
        return InputError(message, file=self.file, field=self._full(path), fix=fix)

    def has(self, path: str) -> bool:
        """Whether there is a value at `path`."""
        node: Any = self.content
        for key in path.split("."):
            if not isinstance(node, Mapping) or key not in node:
                return False
            node = node[key]
        return True

    def number(self, path: str, default: float | None = None) -> float:
        """A finite number."""
        if default is not None and not self.has(path):
            return default
        return self._number(path, self._value(path))

    def integer(self, path: str, default: int | None = None) -> int:
        """A whole number; `9.0` counts as one."""
        if default is not None and not self.has(path):
            return default
        number = self._number(path, self._value(path))
        if not number.is_integer() or abs(number) > _LARGEST_EXACT_INTEGER:
            raise self.error(path, f"is not an integer: {quoted(self._value(path))}", "give a whole number")
        return int(number)

    def boolean(self, path: str, default: bool | None = None) -> bool:
        """True or false, as a JSON boolean or as the text of one."""
        if default is not None and not self.has(path):
            return default
        value = self._value(path)
        if isinstance(value, bool):
            return value
        text = value.strip().lower() if isinstance(value, str) else repr(value) if isinstance(value, int) else ""
        if text not in _BOOLEANS:
            raise self.error(path, f"is not a boolean: {quoted(value)}", 'give "true" or "false"')
        return _BOOLEANS[text]

    def text(self, path: str, default: str | None = None) -> str:
        """A string; a number or a boolean is given as its text."""
        if default is not None and not self.has(path):
            return default
        value = self._value(path)
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise self.error(path, f"is not a text: {quoted(value)}")
        return value if isinstance(value, str) else repr(value)

    def numbers(self, path: str) -> FloatArray:
        """A flat list of numbers of any length, (n,); `""` is the empty list."""
        values = self._list(path)
        return np.array([self._number(f"{path}.{i}", value) for i, value in enumerate(values)], dtype=np.float64)

    def matrix(self, path: str, rows: int, columns: int) -> FloatArray:
        """A matrix (rows, columns), stored as the list of its columns."""
        return self._matrix(path, self._value(path), rows, columns)

    def vector(self, path: str, size: int) -> FloatArray:
        """A vector (size,), stored as a matrix of one column: `[[x, y, z]]`."""
        return self.matrix(path, size, 1)[:, 0]

    def vectors(self, path: str, size: int) -> FloatArray:
        """A list of any length of vectors, (n, size); each may also be written flat, `[x, y, z]`."""
        vectors = []
        for i, value in enumerate(self._list(path)):
            flat = isinstance(value, list) and not any(isinstance(item, list) for item in value)
            vectors.append(self._matrix(f"{path}.{i}", [value] if flat else value, size, 1)[:, 0])
        return np.array(vectors, dtype=np.float64).reshape(-1, size)

    def subtree(self, path: str) -> PropertyTree:
        """The object at `path`; `""` is the empty object."""
        return self._tree(path, self._value(path))

    def subtrees(self, path: str) -> list[PropertyTree]:
        """The list of objects at `path`; the third one names its fields `path.2.field`."""
        return [self._tree(f"{path}.{i}", value) for i, value in enumerate(self._list(path))]

    def _full(self, path: str) -> str:
        return f"{self.prefix}.{path}" if self.prefix else path

    def _value(self, path: str) -> Any:
        node: Any = self.content
        keys = path.split(".")
        for depth, key in enumerate(keys):
            if node != "" and not isinstance(node, Mapping):
                raise self.error(".".join(keys[:depth]), f"is not an object: {quoted(node)}")
            if node == "" or key not in node:
                raise self.error(path, "is missing", "add it")
            node = node[key]
        return node

    def _number(self, path: str, value: Any) -> float:
        try:
            return to_number(value)
        except ValueError as error:
            raise self.error(path, str(error), "give a finite number") from None

    def _matrix(self, path: str, stored: Any, rows: int, columns: int) -> FloatArray:
        shaped = isinstance(stored, list) and len(stored) == columns
        if not shaped or any(not isinstance(column, list) or len(column) != rows for column in stored):
            fix = "write a vector as [[x, y, ...]]" if columns == 1 else "write a matrix as the list of its columns"
            raise self.error(path, f"does not hold {columns} x {rows} numbers", fix)
        values = [[self._number(f"{path}.{c}.{r}", stored[c][r]) for c in range(columns)] for r in range(rows)]
        return np.array(values, dtype=np.float64).reshape(rows, columns)

    def _list(self, path: str) -> list[Any]:
        value = self._value(path)
        if value == "":
            return []
        if not isinstance(value, list):
            raise self.error(path, f"is not a list: {quoted(value)}")
        return value

    def _tree(self, path: str, value: Any) -> PropertyTree:
        if value != "" and not isinstance(value, Mapping):
            raise self.error(path, f"is not an object: {quoted(value)}")
        return PropertyTree(self.file, value or {}, self._full(path))


def read_tree(path: Path | str) -> PropertyTree:
    """Reads a libpleno text file (.js, .json)."""
    content = parse_json(read_text(path), path, unique=False)
    if not isinstance(content, dict):
        raise InputError(f"holds {quoted(content)}, not a JSON object", file=path, fix="the file must start with {")
    return PropertyTree(str(path), content)


def write_tree(content: Mapping[str, Any], path: Path | str) -> None:
    """Writes nested mappings, sequences and scalars as libpleno does: scalars as strings, empty lists as `""`.

    Floats are written with the digits that give back the same double. See `as_column` and `as_columns` for arrays.
    """
    text = tree_text(content, path)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def tree_text(content: Mapping[str, Any], path: Path | str) -> str:
    """The text that `write_tree` writes to `path`, which errors name."""
    stored = {key: _stored(value, key, path) for key, value in content.items()}
    return json.dumps(stored, indent=4) + "\n"


def as_column(vector: npt.ArrayLike) -> list[list[float]]:
    """A vector (n,) as the dialect stores it: `[[x, y, z]]`."""
    values = np.asarray(vector, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"a vector is needed, got an array of shape {values.shape}")
    return [[float(value) for value in values]]


def as_columns(matrix: npt.ArrayLike) -> list[list[float]]:
    """A matrix (rows, columns) as the dialect stores it: the list of its columns."""
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"a matrix is needed, got an array of shape {values.shape}")
    return [[float(value) for value in column] for column in values.T]


def _stored(value: object, field: str, path: Path | str) -> object:
    """`value` with every scalar as its text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        try:
            to_number(value)
        except ValueError as error:
            raise InputError(str(error), file=path, field=field, fix="only finite numbers can be stored") from None
        return repr(value)
    if isinstance(value, Mapping):
        return {key: _stored(item, f"{field}.{key}", path) for key, item in value.items()} or ""
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_stored(item, f"{field}.{i}", path) for i, item in enumerate(value)] or ""
    raise TypeError(f"{field}: cannot store a {type(value).__name__} in a property tree")
