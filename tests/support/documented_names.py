"""Finds what the documentation names: dotted names of the package."""

from __future__ import annotations

from importlib import import_module


def find_name(dotted: str) -> bool:
    """Whether `plenodepth.room.module.Class.attribute` exists; fields of dataclasses and named tuples count."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            fields = getattr(found, "__dataclass_fields__", {})
            if not hasattr(found, part):
                return part in fields
            found = getattr(found, part)
        return True
    return False
