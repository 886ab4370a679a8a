"""YAML and JSON for people to write: a key given twice is an error instead of a silent choice of the last."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import yaml

from plenodepth.errors import InputError


class _Loader(yaml.SafeLoader):
    """YAML as PyYAML reads it, but a key given twice is an error, and so is an alias, which can grow without bound."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "an alias (*) stands for a value, write it out", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key '{key}' is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


# What PyYAML's constructors raise for a value that does not fit its tag, as in "!!int ''".
UNFIT = (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


def parse_yaml(text: str, file: str | Path) -> Any:
    """The content of a YAML text; malformed text is an error that names the line."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        raise InputError(f"is not valid YAML: {error.problem}", file=file, field=where) from None
    except UNFIT as error:
        raise InputError(f"is not valid YAML: {error}", file=file) from None


def parse_by_suffix(text: str, file: str | Path) -> Any:
    """The content of a JSON text where the file's name says so, else of a YAML text."""
    if Path(file).suffix.lower() != ".json":
        return parse_yaml(text, file)
    try:
        require_unique_keys(text, file)
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not valid JSON: {error}", file=file) from None


def require_unique_keys(json_text: str, file: str | Path) -> None:
    """Refuse JSON with a key given twice, which `json.loads` takes for a silent choice of the last."""

    def unique(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise InputError("is there twice", file=file, field=twice, fix="keep one of them")

    json.loads(json_text, object_pairs_hook=unique)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True  # two equal lists are written twice

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # Only between double quotes does every kind of line break come back.
        style = None if data.splitlines() == [data] else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def yaml_text(content: dict[str, Any]) -> str:
    """Content as YAML, keys in their order, innermost lists on one line, every digit kept."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


def null_for_nan(content: Any) -> Any:
    """The same content with null for every number that is not finite, as JSON knows no NaN."""
    if isinstance(content, dict):
        return {key: null_for_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [null_for_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def json_text(content: dict[str, Any]) -> str:
    """Content as JSON, keys in their order, every digit kept."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
