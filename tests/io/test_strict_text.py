"""Structured text: what is refused, with the line, and how soon."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.io import parse_by_suffix, parse_json, parse_yaml
from plenodepth.io.strict_text import DEEPEST, MOST_YAML_VALUES

SECONDS = 3.0  # of CPU time; each takes a tenth of it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", r"line 3, column 1: is not valid YAML: key 'a' is there twice"),
        ("x: {a: 1, a: 1}", r"line 1, column 11: is not valid YAML: key 'a' is there twice"),
        ("a: &here [1]\nb: *here", r"line 2, column 4: is not valid YAML: an alias"),
        ("a: [1, 2", r"line 1, column 9: is not valid YAML: expected ',' or '\]'"),
        ("a: 'open", "line 1, column 9: is not valid YAML: found unexpected end of stream"),
        ("a: 1\n---\nb: 2", "line 2, column 1: is not valid YAML: but found another document"),
        ("? [a]\n: 1", "line 1, column 3: is not valid YAML: a key is a text, not a list or an object"),
        ("? {a: 1}\n: 1", "line 1, column 3: is not valid YAML: a key is a text, not a list or an object"),
        ("a: 1\n5: 2", "line 2, column 1: is not valid YAML: a key is a text, not 5: write it between quotes"),
        ("a: !!python/name:os.system ''", "line 1, column 4: is not valid YAML: could not determine a constructor"),
        ("a: !!int ''", "is not valid YAML"),
        ("a: !!bool maybe", "is not valid YAML"),
        ("a: !!timestamp soon", "is not valid YAML"),
        ("a: 2020-13-45", "is not valid YAML: month must be in 1..12"),
        ("a: !!binary aGFsbG8=", "line 1, column 4: is not valid YAML: !!binary is no value"),
        ("a: !!set {b, c}", "line 1, column 4: is not valid YAML: !!set is no value"),
        ("a: !!omap [b: 1]", "line 1, column 4: is not valid YAML: !!omap is no value"),
        ("a: \x00", "is not valid YAML: unacceptable character"),
        ("[" * 1100, rf"line 1, column {DEEPEST + 1}: is not valid YAML: has lists and objects within each other"),
        ("a: " + "9" * 5000, "line 1, column 4: is not valid YAML: an integer of 5000 digits"),
        ("a: 0x" + "f" * 5000, "line 1, column 4: is not valid YAML: an integer of 5002 digits"),
        ("a: 1" + ":59" * 3000, "line 1, column 4: is not valid YAML: an integer of 9001 digits"),
        ("a: 1" + ":59" * 3000 + ".5", "line 1, column 4: is not valid YAML: a number of 9003 digits"),
        ("[" + "1," * (MOST_YAML_VALUES + 1) + "1]", f"line 1, .*: more than {MOST_YAML_VALUES} values"),
    ],
)
def test_bad_yaml_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^a\.yaml: {message}") as caught:
        parse_yaml(text, "a.yaml")
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"grid": {"rows": 1, "columns": 2, "rows": 1}}', "rows: is there twice"),
        ('{"a": 1,', r"line 1, column 9: is not valid JSON"),
        ("[" * 600 + "]" * 600, "has lists and objects within each other"),
        ('{"a":' * 600 + "1" + "}" * 600, "has lists and objects within each other"),
        ("[" * 100_000, "has lists and objects within each other"),
        ('{"a": ' + "9" * 400 + "}", "is not usable JSON: an integer of 400 digits"),
        ('{"a": ' + "9" * 5000 + "}", "is not usable JSON: an integer of 5000 digits"),
        ("[" + "[]," * 2_000_000 + "[]]", "holds too much"),
        ('"' + '\\"' * 100_000, "line 1, column 1: is not valid JSON: Unterminated string"),
    ],
)
def test_bad_json_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^a\.json: {message}") as caught:
        parse_json(text, "a.json")
    assert len(str(caught.value)) < 400


def test_brackets_in_a_string_are_no_nesting() -> None:
    text = json.dumps(["[" * 1000, '\\"[[' * 100, "{" * 100])
    assert parse_json(text, "a.json") == json.loads(text)


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_nesting_up_to_the_limit_is_read(suffix: str) -> None:
    text = "[" * DEEPEST + "]" * DEEPEST
    assert parse_by_suffix(text, f"a{suffix}") == json.loads(text)
    with pytest.raises(InputError, match="within each other"):
        parse_by_suffix(f"[{text}]", f"a{suffix}")


def test_a_date_is_a_text() -> None:
    assert parse_yaml("a: 2024-02-29", "a.yaml") == {"a": "2024-02-29"}


def test_of_a_key_given_twice_the_last_counts_where_that_is_the_dialect() -> None:
    assert parse_json('{"a": 1, "a": 2}', "a.js", unique=False) == {"a": 2}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("keys.json", "{" + ",".join(f'"key{number}": 1' for number in range(40_000)) + "}"),
        ("keys.yaml", "{" + ",".join(f"key{number}: 1" for number in range(30_000)) + "}"),
        ("quotes.json", '"' + '\\"' * 1_000_000),
        ("brackets.yaml", "[" * 1_000_000),
        ("lines.yaml", "a: " + "x\n " * 100_000),
        ("list.yaml", "[" + "1," * 50_000 + "1]"),
    ],
)
def test_the_time_grows_with_the_text_and_not_with_its_square(name: str, text: str) -> None:
    started = time.process_time()
    with suppress(InputError):
        parse_by_suffix(text, Path(name))
    assert time.process_time() - started < SECONDS
