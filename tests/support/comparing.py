"""Equality that says where two things differ: records bit for bit, trees of fields number by number."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

Path = tuple[str, ...]


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Paths of the fields in which two records differ; floats and arrays must agree in every bit."""
    if dataclasses.is_dataclass(one) and type(one) is type(other):
        names = [field.name for field in dataclasses.fields(one)]
        return [d for name in names for d in differences(getattr(one, name), getattr(other, name), f"{path}.{name}")]
    if isinstance(one, float) and isinstance(other, float | np.floating):
        same = float(one).hex() == float(other).hex()
    elif isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        same = (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    else:
        same = type(one) is type(other) and bool(one == other)
    return [] if same else [f"{path}: {one!r} is not {other!r}"]


def leaves(tree: Any, path: Path = ()) -> dict[Path, Any]:
    """Scalars and empty containers of nested mappings and lists, by path."""
    items: list[tuple[Any, Any]] = []
    if isinstance(tree, Mapping):
        items = list(tree.items())
    elif isinstance(tree, list):
        items = list(enumerate(tree))
    if not items:
        return {path: tree}
    return {p: leaf for key, value in items for p, leaf in leaves(value, (*path, str(key))).items()}


def assert_same_fields(one: Any, other: Any, relative: float = 1e-15) -> None:
    """The same set of fields; numbers, also those written as text, agree to ``relative``, the rest is equal.

    In libpleno's dialect everything may be a text: a boolean, null, and an empty list or object.
    """
    ours, theirs = ({path: _spelt(leaf) for path, leaf in leaves(tree).items()} for tree in (one, other))
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for path, leaf in ours.items():
        if leaf != theirs[path]:
            number, expected = _number(leaf), _number(theirs[path])
            assert abs(number - expected) <= relative * abs(expected), f"{path}: {leaf} is not {theirs[path]}"


def _spelt(leaf: Any) -> Any:
    if leaf is None or isinstance(leaf, bool):
        return {None: "null", True: "true", False: "false"}[leaf]
    return "" if leaf in ([], {}) else leaf


def _number(leaf: Any) -> float:
    try:
        return float(leaf)
    except (TypeError, ValueError):
        return float("nan")  # compares as different
