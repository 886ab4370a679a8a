"""YAML and JSON as people and other programs write them, read with bounds: no text takes the machine down.

A key given twice is an error instead of a silent choice of the last, and so is what only an attack needs: aliases,
thousands of digits or of nested brackets, millions of values. The result holds texts, numbers, booleans, None, lists
and objects with texts for keys; nothing else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from plenodepth.errors import InputError, shortened

DEEPEST = 64  # lists and objects within each other
MOST_DIGITS = 64  # of an integer
# PyYAML takes 10 µs for a value and 1 µs for a letter, JSON takes up to 60 bytes of memory for a value of two.
LONGEST_YAML, MOST_YAML_VALUES = 4 << 20, 200_000
LONGEST_JSON, MOST_JSON_VALUES = 16 << 20, 2_000_000
TOO_DEEP = f"has lists and objects within each other, more than {DEEPEST} deep"
SPLIT = "split the file into smaller ones"
REPAIR = "complete or repair the file"

# Strings first, so that brackets in them do not count; one that never ends reaches to the end.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
# What PyYAML's constructors raise for a value that does not fit its tag, as in "!!int ''".
_UNFIT = (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


def parse_by_suffix(text: str, file: str | Path) -> Any:
    """The content of a JSON text where the file's name says so, else of a YAML text."""
    return (parse_json if Path(file).suffix.lower() == ".json" else parse_yaml)(text, file)


def parse_json(text: str, file: str | Path, *, unique: bool = True) -> Any:
    """The content of a JSON text; `unique` refuses a key given twice, of which otherwise the last counts."""
    if len(text) > LONGEST_JSON or text.count(",") + text.count("[") + text.count("{") > MOST_JSON_VALUES:
        raise InputError("holds too much for a text of JSON", file=file, fix=SPLIT)
    _check_depth(text, file)

    def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            seen = set[str]()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise InputError("is there twice", file=file, field=shortened(twice), fix="keep one of them")
        return content

    try:
        return json.loads(text, parse_int=_integer, object_pairs_hook=unique_pairs if unique else None)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"is not valid JSON: {error.msg}", file=file, field=where, fix=REPAIR) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not usable JSON: {error}", file=file, fix=REPAIR) from None


def parse_yaml(text: str, file: str | Path) -> Any:
    """The content of a YAML text; malformed text is an error that names the line."""
    if len(text) > LONGEST_YAML:
        raise InputError("holds too much for a text of YAML", file=file, fix=SPLIT)
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        raise InputError(f"is not valid YAML: {shortened(error.problem)}", file=file, field=where) from None
    except _UNFIT as error:
        raise InputError(f"is not valid YAML: {shortened(error)}", file=file) from None


def _check_depth(json_text: str, file: str | Path) -> None:
    """Refuse deep nesting before it is parsed: whoever walks through the content calls itself for every level."""
    if json_text.count("[") + json_text.count("{") <= DEEPEST:
        return
    depth = 0
    for found in _BRACKETS.finditer(json_text):
        bracket = found.group()[0]
        depth += (bracket in "[{") - (bracket in "]}")
        if depth > DEEPEST:
            raise InputError(TOO_DEEP, file=file, fix=REPAIR)


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


class _Loader(yaml.SafeLoader):
    """YAML as PyYAML reads it, within bounds; a key given twice is an error, and so is an alias."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = self._values = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):  # values within values, which can grow without bound
            raise yaml.composer.ComposerError(None, None, "an alias (*) stands for a value, write it out", mark)
        self._depth += 1
        self._values += 1
        if self._depth > DEEPEST:
            raise yaml.composer.ComposerError(None, None, TOO_DEEP, mark)
        if self._values > MOST_YAML_VALUES:
            raise yaml.composer.ComposerError(None, None, f"more than {MOST_YAML_VALUES} values, {SPLIT}", mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                kind = "a list or an object" if isinstance(key, list | dict) else shortened(key_node.value, 40)
                problem = f"a key is a text, not {kind}: write it between quotes"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            if key in seen:
                problem = f"key '{shortened(key)}' is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def number(self, node: yaml.ScalarNode) -> int | float:
        """An integer or a float, of no more digits than either needs."""
        kind = "integer" if node.tag.endswith(":int") else "float"
        if len(node.value) > MOST_DIGITS:
            problem = f"{'an integer' if kind == 'integer' else 'a number'} of {len(node.value)} digits"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        if kind == "integer":
            return self.construct_yaml_int(node)
        return self.construct_yaml_float(node)

    def date(self, node: yaml.ScalarNode) -> str:
        """The text of a date, if there is such a day."""
        self.construct_yaml_timestamp(node)
        return str(node.value)

    def refused(self, node: yaml.Node) -> None:
        """No file of ours holds such a thing."""
        raise yaml.constructor.ConstructorError(
            None, None, f"!!{node.tag.rpartition(':')[2]} is no value", node.start_mark
        )


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.number)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.number)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.date)
for _kind in ("binary", "omap", "pairs", "set"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.refused)
