"""Results of steps as JSON has them, and the records of steps in a work folder.

A record is a frozen dataclass of numbers, texts, tuples, dictionaries and other such dataclasses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from plenodepth.cache import WorkFolder

Record = TypeVar("Record")


def to_json(record: object) -> dict[str, Any]:
    """A record as dictionaries and lists. A NaN stays a NaN."""
    content: dict[str, Any] = TypeAdapter(type(record)).dump_python(record, mode="json")
    return content


def from_json(kind: type[Record], content: Mapping[str, Any]) -> Record:
    """A record of this kind from dictionaries and lists, or from the content of a work folder's record."""
    fields = {field: value for field, value in content.items() if field not in ("key", "files")}
    return TypeAdapter(kind).validate_python(fields)


def kept_record(kind: type[Record], work: WorkFolder, name: str, key: str) -> Record | None:
    """The record `name` of a step that was done with the same key; None where the step is to be done."""
    content = work.kept(name, key)
    if content is None:
        return None
    try:
        return from_json(kind, content)
    except ValidationError:  # changed by hand
        return None


def keep_record(record: object, work: WorkFolder, name: str, key: str, files: Iterable[str] = ()) -> None:
    """Write the record of a step that is done, and which files the step has made in the work folder."""
    work.keep(name, key, files, to_json(record))


def finite(value: float) -> float | None:
    """The number, or None where it is not known (NaN)."""
    return float(value) if np.isfinite(value) else None
