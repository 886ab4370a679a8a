from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from plenodepth.io import json_text, parse_json, parse_yaml, yaml_text
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
    assert parse_json(json_text(content), "a.json") == content


def test_a_list_used_twice_is_written_twice() -> None:
    pitch = [1.0, 2.0]
    assert parse_yaml(yaml_text({"one": pitch, "two": pitch}), "a.yaml") == {"one": pitch, "two": pitch}


def test_what_is_not_finite_is_null_and_all_else_stays() -> None:
    content = {"a": [1.0, float("nan"), (float("inf"), "x", None, 3)], "b": True}
    assert null_for_nan(content) == {"a": [1.0, None, [None, "x", None, 3]], "b": True}
