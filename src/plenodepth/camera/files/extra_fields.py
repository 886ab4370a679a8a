"""What a foreign file says beyond our model: its content is kept whole at import, and merged into the export."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plenodepth.errors import InputError

TOLERANCE = 1e-12  # relative; what is computed again, maybe on another machine, differs by rounding only
DEEPEST = 50  # levels of nesting; files of cameras have seven
ABSENT = object()


def as_text(content: Any, depth: int = DEEPEST) -> Any:
    """The content of a foreign file with every scalar as its text, as libpleno writes it: YAML and JSON can hold it."""
    if not depth:
        raise InputError("is nested too deep for a camera file")
    if isinstance(content, Mapping):
        return {unicode_text(key): as_text(value, depth - 1) for key, value in content.items()}
    if isinstance(content, list):
        return [as_text(value, depth - 1) for value in content]
    if content is None or isinstance(content, bool):
        return {None: "null", True: "true", False: "false"}[content]
    return unicode_text(content)


def unicode_text(scalar: object) -> str:
    """The text of a scalar; half a surrogate pair, which JSON can spell but no file can hold, becomes "?"."""
    return str(scalar).encode("utf-8", "replace").decode("utf-8")


def merged(theirs: Any, then: Any, now: Any) -> Any:
    """What to export: the imported file's own words, wherever the camera still says what it said at import.

    `theirs` is the content of the imported file, `then` what the camera exported right after the import, `now`
    what it exports today. So keys that nobody reads come back, keys that the file did not hold stay away, and what
    has been changed since is written as it is now.
    """
    if _same(then, now):
        return theirs
    parts = (theirs, then, now)
    if all(isinstance(part, Mapping) for part in parts):
        keys = dict.fromkeys([*theirs, *now])
        both = {key: merged(*(part.get(key, ABSENT) for part in parts)) for key in keys}
        return {key: value for key, value in both.items() if value is not ABSENT}
    if all(isinstance(part, list) for part in parts) and len(theirs) == len(then) == len(now):
        return [merged(*values) for values in zip(*parts, strict=True)]
    return now


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=0)
    return bool(one == other)
