from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.io import json_text, parse_yaml, require_unique_keys, yaml_text
from plenodepth.io.yaml_json import null_for_nan

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
CONTENT = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.recursive(LEAVES, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text("ab"), part, max_size=3)),
    max_size=4,
)


@given(CONTENT)
@settings(max_examples=60, deadline=None)
def test_content_comes_back_from_both_formats(content: dict[str, object]) -> None:
    assert parse_yaml(yaml_text(content), "a.yaml") == content
    assert json.loads(json_text(content)) == content
    require_unique_keys(json_text(content), "a.json")


def test_a_list_used_twice_is_written_twice() -> None:
    pitch = [1.0, 2.0]
    assert parse_yaml(yaml_text({"one": pitch, "two": pitch}), "a.yaml") == {"one": pitch, "two": pitch}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", r"line 3, column 1: is not valid YAML: key 'a' is there twice"),
        ("x: {a: 1, a: 1}", r"line 1, column 11: is not valid YAML: key 'a' is there twice"),
        ("a: &here [1]\nb: *here", r"line 2, column 4: is not valid YAML: an alias"),
        ("a: [1, 2", r"line 1, column 9: is not valid YAML: expected ',' or '\]'"),
        ("a: 'open", "line 1, column 9: is not valid YAML: found unexpected end of stream"),
        ("a: 1\n---\nb: 2", "line 2, column 1: is not valid YAML: but found another document"),
        ("? [a]\n: 1", "is not valid YAML: unhashable"),
        ("a: !!python/name:os.system ''", "line 1, column 4: is not valid YAML: could not determine a constructor"),
        ("a: !!int ''", "is not valid YAML"),
        ("a: !!bool maybe", "is not valid YAML"),
        ("a: !!timestamp soon", "is not valid YAML"),
        ("a: 2020-13-45", "is not valid YAML: month must be in 1..12"),
        ("a: \x00", "is not valid YAML: unacceptable character"),
        ("[" * 1100, "is not valid YAML: maximum recursion depth"),
    ],
)
def test_bad_yaml_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^a\.yaml: {message}") as caught:
        parse_yaml(text, "a.yaml")
    assert len(str(caught.value).splitlines()) == 1


def test_a_key_given_twice_in_json_is_named() -> None:
    with pytest.raises(InputError, match=r"^a\.json: rows: is there twice"):
        require_unique_keys('{"grid": {"rows": 1, "columns": 2, "rows": 1}}', "a.json")


def test_what_is_not_finite_is_null_and_all_else_stays() -> None:
    content = {"a": [1.0, float("nan"), (float("inf"), "x", None, 3)], "b": True}
    assert null_for_nan(content) == {"a": [1.0, None, [None, "x", None, 3]], "b": True}
