"""The settings file: settings of depth, filters and the dense view as YAML or JSON.

An unknown key, a wrong type or value is an error. A file has a section for each settings object, with its fields as
keys. What is not in the file keeps its default:

    depth: {refined: true, window: 7}
    filters: {consistency: true}

The record of a frame (`NAME.json`) holds all settings in the same shape under `settings`. It can be read as a settings
file, too.
"""

from __future__ import annotations

import math
import re
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.filters import FilterSettings
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.io import atomic_path, json_text, parse_by_suffix, read_text, yaml_text
from plenodepth.io.reading import quoted

Section = TypeVar("Section")

RECORD_KEY = "settings"  # where the record of a frame keeps them
INFINITY = "infinity"  # has no spelling in JSON; a word serves both formats
LONGEST_KEY = 60  # letters that are compared with the known keys
EXPONENT = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")  # 1e-3, which YAML takes for a text


@dataclass(frozen=True)
class SettingsFile:
    """What a settings file holds: one section for each field."""

    depth: DepthSettings = field(default_factory=DepthSettings)
    filters: FilterSettings = field(default_factory=FilterSettings)
    dense: DenseSettings = field(default_factory=DenseSettings)


SECTIONS: dict[str, type[Any]] = get_type_hints(SettingsFile)


def load_settings(path: str | Path) -> SettingsFile:
    """The settings of a file; errors name the file, the field (`depth.window`) and the repair."""
    content, where = _read(path), ""
    if RECORD_KEY in content:
        content, where = _mapping(content[RECORD_KEY], RECORD_KEY, path), f"{RECORD_KEY}."
    for key in content:
        if key not in SECTIONS:
            raise InputError("unknown key", file=path, field=f"{where}{key}", fix=_fix_of_section(key))
    return SettingsFile(
        **{
            name: _section(kind, _mapping(content.get(name), f"{where}{name}", path), f"{where}{name}", path)
            for name, kind in SECTIONS.items()
        }
    )


def save_settings(settings: SettingsFile, path: str | Path) -> None:
    """Write all settings: JSON where the path ends in .json, else YAML."""
    content = settings_content(settings)
    text = json_text(content) if Path(path).suffix.lower() == ".json" else yaml_text(content)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def settings_content(settings: SettingsFile) -> dict[str, Any]:
    """The content of a file with all settings: plain numbers, lists and texts."""
    content: dict[str, Any] = _written(asdict(settings))
    return content


def _read(path: str | Path) -> dict[str, Any]:
    return _mapping(parse_by_suffix(read_text(path), path), None, path)


def _mapping(content: Any, where: str | None, file: str | Path) -> dict[str, Any]:
    """Keys with values; none for an empty section, such as one whose lines are all comments."""
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"is {quoted(content)}, not keys with values", file=file, field=where, fix=_SECTIONS_FIX)
    return content


def _section(kind: type[Section], content: dict[str, Any], where: str, file: str | Path) -> Section:
    """One settings object from its section; its dataclass says which keys there are."""
    parts: dict[str, Field[Any]] = {part.name: part for part in fields(kind) if part.init}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    values = {}
    for key, value in content.items():
        if key not in parts:
            raise InputError("unknown key", file=file, field=f"{where}.{key}", fix=_nearest(key, parts))
        values[key] = _checked(value, hints[key], f"{where}.{key}", file)
    try:
        return kind(**values)
    except InputError as error:
        name = (error.field or "").split(".")[-1]
        default = parts[name].default if name in parts else MISSING
        fix = error.fix or (None if default is MISSING else f"the default is {_shown(default)}")
        raise InputError(error.message, file=file, field=f"{where}.{name}".rstrip("."), fix=fix) from None


def _checked(value: Any, hint: Any, where: str, file: str | Path) -> Any:
    """The value if it has the type of its field. Nothing is converted: neither `yes` nor "5" is a number."""
    try:
        return TypeAdapter(hint, config=ConfigDict(strict=True)).validate_python(_read_value(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join([where, *(str(part) for part in first["loc"] if isinstance(part, int))])
        if first["type"] == "missing":
            raise InputError("is missing", file=file, field=path) from None
        message = first["msg"].replace("Input should be ", "needs ")
        shown = _shown(first["input"])
        raise InputError(f"is {shown}, {message[0].lower()}{message[1:]}", file=file, field=path) from None


def _read_value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read_value(part) for part in value)
    if isinstance(value, str) and EXPONENT.fullmatch(value):
        return float(value)
    return math.inf if value == INFINITY else value


def _written(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _written(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_written(part) for part in value]
    return INFINITY if isinstance(value, float) and value == math.inf else value


def _shown(value: Any) -> str:
    """A value as a message shows it; short lists are shown whole."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(quoted(part) for part in value[:4])}{', …' if len(value) > 4 else ''}]"
    return quoted(value)


def _nearest(key: Any, known: dict[str, Any]) -> str:
    close = get_close_matches(str(key)[:LONGEST_KEY], known, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"


def _fix_of_section(key: Any) -> str:
    """How to repair an unknown key at the top: put it into its section, or take the section of the nearest name."""
    home = next((name for name, kind in SECTIONS.items() if key in {part.name for part in fields(kind)}), None)
    return f"put it below {home}:" if home else _nearest(key, SECTIONS)


_SECTIONS_FIX = f"give the sections {', '.join(SECTIONS)}"
