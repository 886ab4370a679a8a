from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from plenodepth.errors import InputError
from plenodepth.io import PropertyTree, as_column, as_columns, read_tree, write_tree

FINITE = st.floats(allow_nan=False, allow_infinity=False)
KEYS = st.text(min_size=1).filter(lambda key: "." not in key)


def tree(**content: Any) -> PropertyTree:
    return PropertyTree("cam.js", content)


# --- values -----------------------------------------------------------------------------------------------------


def test_scalars_may_be_numbers_or_strings() -> None:
    t = tree(a=0.5, b="0.0054999999999999997", c="1e8", d=3, e="3", f=4.0, g=" -.5 ")
    assert [t.number(key) for key in "abcdefg"] == [0.5, 0.0055, 1e8, 3, 3, 4, -0.5]
    assert [t.integer(key) for key in "def"] == [3, 3, 4]
    assert [t.text(key) for key in "ade"] == ["0.5", "3", "3"]


@pytest.mark.parametrize(
    ("value", "truth"),
    [(True, True), ("true", True), (False, False), ("false", False), ("1", True), (0, False), ("True", True)],
)
def test_booleans(value: object, truth: bool) -> None:
    assert tree(a=value).boolean("a") is truth


def test_a_missing_value_takes_the_default() -> None:
    assert tree().number("a.b", default=1.5) == 1.5
    assert tree().integer("a", default=-1) == -1
    assert tree().boolean("a", default=False) is False
    assert tree().text("a", default="") == ""
    assert not tree(a={}).has("a.b")
    assert not tree(a=1).has("a.b")
    assert tree(a={"b": None}).has("a.b")


def test_a_matrix_is_the_list_of_its_columns() -> None:
    stored = [["1", "2", "3"], [4, 5, 6]]
    np.testing.assert_array_equal(tree(m=stored).matrix("m", rows=3, columns=2), [[1, 4], [2, 5], [3, 6]])
    np.testing.assert_array_equal(tree(v=[[1, "2", 3]]).vector("v", 3), [1, 2, 3])
    assert as_columns([[1, 4], [2, 5], [3, 6]]) == [[1, 2, 3], [4, 5, 6]]
    assert as_column([1, 2, 3]) == [[1, 2, 3]]


def test_lists_of_any_length() -> None:
    np.testing.assert_array_equal(tree(q=["1", 2]).numbers("q"), [1, 2])
    assert tree(q="").numbers("q").shape == (0,)
    np.testing.assert_array_equal(tree(p=[[[1, 2, 3]], [4, 5, 6]]).vectors("p", 3), [[1, 2, 3], [4, 5, 6]])
    assert tree(p="").vectors("p", 3).shape == (0, 3)
    assert tree(p="").subtrees("p") == []
    assert tree(p="").subtree("p").content == {}


def test_fields_of_a_list_keep_the_full_path() -> None:
    third = tree(scene={"poses": [{}, "", {"pose": {"frame": "x"}}]}).subtree("scene").subtrees("poses")[2]
    with pytest.raises(InputError) as caught:
        third.subtree("pose").integer("frame")
    assert str(caught.value) == "cam.js: scene.poses.2.pose.frame: is not a number: 'x' (give a finite number)"


@pytest.mark.parametrize(
    ("getter", "value", "message"),
    [
        ("number", None, "is not a number: null"),
        ("number", "", "is not a number: ''"),
        ("number", "1_000", "is not a number"),
        ("number", "0x10", "is not a number"),
        ("number", "5.5 mm", "is not a number"),
        ("number", True, "is not a number: true"),
        ("number", {"a": 1}, "is not a number: an object"),
        ("number", [1], "is not a number: a list"),
        ("number", "x" * 1000, "is not a number"),
        ("number", "-nan", "is not finite"),
        ("number", float("nan"), "is not finite"),
        ("number", "1e999", "is not finite"),
        ("number", 10**400, "is not finite"),
        ("integer", "1.5", "is not an integer"),
        ("integer", 1e300, "is not an integer"),
        ("boolean", "yes", "is not a boolean"),
        ("boolean", 2, "is not a boolean"),
        ("boolean", [], "is not a boolean"),
        ("text", [], "is not a text"),
        ("numbers", "1", "is not a list"),
        ("numbers", [1, "x"], r"\.1: is not a number"),
        ("subtree", [], "is not an object"),
        ("subtrees", {}, "is not a list"),
        ("subtrees", [{}, 1], r"\.1: is not an object"),
    ],
)
def test_a_wrong_value_is_named(getter: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=r"^cam\.js: a.*" + message) as caught:
        getattr(tree(a=value), getter)("a")
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize("value", ["", [1, 2, 3], [[1, 2]], [[1, 2, 3], [1, 2, 3]], [["1 2 3"]], {"x": 1}, 3, [[]]])
def test_a_vector_of_the_wrong_shape_is_named(value: object) -> None:
    with pytest.raises(InputError, match=r"^cam\.js: a: does not hold 1 x 3 numbers \(write a vector as"):
        tree(a=value).vector("a", 3)


def test_the_wrong_entry_of_a_matrix_is_named() -> None:
    with pytest.raises(InputError, match=r"a\.1\.0: is not finite"):
        tree(a=[[1, 2], ["inf", 3]]).matrix("a", 2, 2)
    with pytest.raises(InputError, match="list of its columns"):
        tree(a=[[1, 2], [1]]).matrix("a", 2, 2)


@pytest.mark.parametrize("getter", ["number", "integer", "boolean", "text", "numbers", "subtree", "subtrees"])
@pytest.mark.parametrize("content", [{}, {"a": {}}, {"a": ""}])
def test_a_missing_value_is_named(getter: str, content: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^cam\.js: a\.b: is missing"):
        getattr(tree(**content), getter)("a.b")


def test_a_path_through_a_scalar_names_the_scalar() -> None:
    with pytest.raises(InputError, match=r"^cam\.js: a: is not an object: 3"):
        tree(a=3).number("a.b")


# --- files ------------------------------------------------------------------------------------------------------


def read(tmp_path: Path, data: bytes) -> PropertyTree:
    (tmp_path / "a.js").write_bytes(data)
    return read_tree(tmp_path / "a.js")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, column 1: is not valid JSON"),
        (b'{\n  "a": 1,\n  "b": ', "line 3, column 8: is not valid JSON"),
        (b'{"a": 1} trailing', "line 1, column 10: is not valid JSON"),
        (b"\x1f\x8b\x08\x00\xff\xfe", "is not UTF-8 text"),
        (b"[1, 2]", "holds a list, not a JSON object"),
        (b"3", "holds 3, not a JSON object"),
        (b"null", "holds null"),
        (b'{"a": ' + b"9" * 5000 + b"}", "an integer of 5000 digits"),
        (b'{"a": ' + b"[" * 200_000, "within each other"),
    ],
)
def test_a_damaged_file_is_an_input_error(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.js: .*{message}"):
        read(tmp_path, data)


def test_a_missing_file_and_a_folder_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.js: does not exist"):
        read_tree(tmp_path / "a.js")
    (tmp_path / "b").write_text("")
    with pytest.raises(InputError, match="does not exist"):
        read_tree(tmp_path / "b" / "a.js")
    with pytest.raises(InputError, match="is a folder"):
        read_tree(tmp_path)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "may not be read"),
        (OSError(5, "I/O error"), "cannot be read: I/O error"),
    ],
)
def test_an_unreadable_file_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    def refuse(_: Path, mode: str) -> bytes:  # not chmod: the tests may run as root
        raise error

    (tmp_path / "a.js").write_text("{}")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=rf"a\.js: {message}"):
        read_tree(tmp_path / "a.js")


def test_a_byte_order_mark_and_a_key_given_twice_are_accepted(tmp_path: Path) -> None:
    assert read(tmp_path, b'\xef\xbb\xbf{"a": 1, "a": "2"}').number("a") == 2


def test_the_written_dialect(tmp_path: Path) -> None:
    content = {
        "f": 0.1,
        "i": np.int32(3),
        "b": True,
        "n": np.False_,
        "e": [],
        "o": {},
        "v": as_column([1, 2]),
        "s": "é",
    }
    write_tree(content, tmp_path / "a.js")
    assert json.loads((tmp_path / "a.js").read_text()) == {
        "f": "0.1", "i": "3", "b": "true", "n": "false", "e": "", "o": "", "v": [["1.0", "2.0"]], "s": "é",
    }  # fmt: skip


def test_a_number_that_cannot_be_read_back_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.js: mla\.f\.1: is not finite"):
        write_tree({"mla": {"f": [1.0, float("nan")]}}, tmp_path / "a.js")
    with pytest.raises(TypeError, match=r"m: cannot store a ndarray"):
        write_tree({"m": np.eye(2)}, tmp_path / "a.js")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", [as_column, as_columns])
def test_columns_are_made_of_vectors_and_matrices_only(function: Any) -> None:
    with pytest.raises(ValueError, match="is needed"):
        function(np.zeros((2, 2, 2)))


@settings(deadline=None)  # writes files
@given(content=st.dictionaries(KEYS, st.one_of(FINITE, st.integers(-(2**53), 2**53), st.booleans(), st.text())))
def test_every_scalar_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("tree") / "a.js"
    write_tree(content, path)
    back = read_tree(path)
    getters: dict[type, Any] = {float: back.number, int: back.integer, bool: back.boolean, str: back.text}
    assert {key: getters[type(value)](key) for key, value in content.items()} == content


@settings(deadline=None)  # writes files
@given(matrix=arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=FINITE))
def test_every_matrix_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, matrix: Any) -> None:
    path = tmp_path_factory.mktemp("tree") / "a.js"
    write_tree({"m": as_columns(matrix), "v": as_column(matrix[0]), "q": list(matrix[0])}, path)
    back = read_tree(path)
    np.testing.assert_array_equal(back.matrix("m", *matrix.shape), matrix)
    np.testing.assert_array_equal(back.vector("v", matrix.shape[1]), matrix[0])
    np.testing.assert_array_equal(back.numbers("q"), matrix[0])
