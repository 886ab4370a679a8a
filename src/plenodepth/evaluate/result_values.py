"""Results as JSON, taken apart: single numbers by their path, and lists of like units (tiles, frames, scenes)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# A list of objects that all have one of these is a list of units: draws from what could have been measured.
UNIT_KEYS = ("tile", "frame", "scene", "image", "unit", "name")
# And one of these, of single numbers at several settings.
SETTING_KEYS = ("displacement_mm", "threshold_mm", "distance_mm")
LEAST_VALUES = 4  # a list of fewer numbers is a range or an interval, and no sample
NOT_RESULTS = ("range_mm", "interval", "level", "seconds", "cpu_seconds", "threads", "seed")


@dataclass
class ResultValues:
    """What there is to compare in a result."""

    numbers: dict[str, float] = field(default_factory=dict)  # path → number
    units: dict[str, dict[str, float]] = field(default_factory=dict)  # path of a field → unit → number


def result_values(content: Mapping[str, Any]) -> ResultValues:
    """The numbers of a result; null and what is no number are left out."""
    values = ResultValues()
    _walk(content, "", values)
    return values


def _walk(node: Any, path: str, values: ResultValues) -> None:
    if isinstance(node, Mapping):
        for name, item in node.items():
            if name not in NOT_RESULTS:
                _walk(item, f"{path}.{name}" if path else str(name), values)
    elif isinstance(node, list):
        _walk_list(node, path, values)
    elif _is_number(node):
        values.numbers[path] = float(node)


def _walk_list(items: list[Any], path: str, values: ResultValues) -> None:
    if len(items) >= LEAST_VALUES and all(item is None or _is_number(item) for item in items):
        values.units[path] = {str(index): float(item) for index, item in enumerate(items) if item is not None}
        return
    if not items or not all(isinstance(item, Mapping) for item in items):
        return
    key = next((key for key in UNIT_KEYS if all(key in item for item in items)), None)
    setting = next((key for key in SETTING_KEYS if all(key in item for item in items)), None)
    for item in items:
        for name, value in item.items():
            if name in (key, setting) or name in NOT_RESULTS:
                continue
            if key is not None and _is_number(value):
                values.units.setdefault(f"{path}.{name}", {})[str(item[key])] = float(value)
            elif key is not None:
                _walk(value, f"{path}[{item[key]}].{name}", values)
            elif setting is not None and _is_number(value):
                values.numbers[f"{path}[{item[setting]:g}].{name}"] = float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
