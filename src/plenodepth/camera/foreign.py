"""Fields of a foreign file that our model has no place for: set aside at import, put back at export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

TOLERANCE = 1e-6  # relative; an imported value this near to the computed one is given back digit by digit


def difference(imported: Mapping[str, Any], exported: Mapping[str, Any]) -> dict[str, Any]:
    """What an export lacks or says otherwise (``fields``), and what it says too much (``omitted``)."""
    theirs, ours = _flat(imported), _flat(exported)
    return {
        "fields": {path: leaf for path, leaf in theirs.items() if path not in ours or not _same(leaf, ours[path])},
        "omitted": sorted({_outermost(path, theirs) for path in ours if path not in theirs}),
    }


def restored(content: dict[str, Any], kept: Mapping[str, Any], computed: Sequence[str]) -> dict[str, Any]:
    """The content with the fields of the file it was imported from.

    Those under the keys ``computed`` depend on the camera: they are given back only where they are still true.
    """
    flat = _flat(content)
    for omitted in kept.get("omitted", ()):
        flat = {path: leaf for path, leaf in flat.items() if not f"{path}.".startswith(f"{omitted}.")}
    for path, leaf in kept.get("fields", {}).items():
        depends = path.split(".")[0] in computed and path in flat
        if not depends or np.isclose(float(leaf), flat[path], rtol=TOLERANCE, atol=0):
            flat[path] = leaf
    return _nested(flat)


def _flat(content: object, prefix: str = "") -> dict[str, Any]:
    """Scalars of nested mappings and lists by dotted path."""
    if isinstance(content, Mapping):
        items: list[tuple[Any, Any]] = list(content.items())
    elif isinstance(content, list):
        items = list(enumerate(content))
    else:
        return {prefix: content}
    if not items:
        return {prefix: ""}
    return {path: leaf for key, value in items for path, leaf in _flat(value, f"{prefix}.{key}".lstrip(".")).items()}


def _outermost(path: str, present: Mapping[str, Any]) -> str:
    """The shortest beginning of a path under which nothing is present."""
    keys = path.split(".")
    beginnings = (".".join(keys[:depth]) for depth in range(1, len(keys)))
    return next((b for b in beginnings if not any(f"{other}.".startswith(f"{b}.") for other in present)), path)


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`_flat`: keys that are numbers 0, 1, … make a list."""
    root: dict[str, Any] = {}
    for path, leaf in sorted(flat.items(), key=lambda item: item[0].split(".")[0]):
        node = root
        *parents, last = path.split(".")
        for key in parents:
            node = node.setdefault(key, {})
        node[last] = leaf
    return {key: _as_lists(value) for key, value in root.items()}


def _as_lists(node: object) -> Any:
    if not isinstance(node, dict):
        return node
    values = {key: _as_lists(value) for key, value in node.items()}
    if values and all(key.isdecimal() for key in values):
        return [values[key] for key in sorted(values, key=int)]
    return values


def _same(one: object, other: object) -> bool:
    try:
        return float(one) == float(other)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return one == other
