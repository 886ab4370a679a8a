"""The compiled reader of numbers gives what NumPy's does, to the last bit, or leaves it to that."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.io import text_tables
from plenodepth.io.text_tables import _fast_table, number_table

DECIMAL = st.from_regex(
    r"[+-]?(\d{1,9}\.?\d{0,7}|\.\d{1,7})([eE][+-]?\d{1,2})?", fullmatch=True, alphabet="0123456789.eE+-"
)
BLANKS = st.sampled_from([" ", "\t", "  ", " \t "])


def slowly(text: bytes) -> np.ndarray:
    return np.loadtxt(io.BytesIO(text), ndmin=2, comments=None)


@given(
    data=st.data(), rows=st.integers(1, 5), columns=st.integers(1, 4), ending=st.sampled_from(["\n", "\r\n", "\n\n"])
)
def test_numbers_are_the_same_to_the_last_bit(data: st.DataObject, rows: int, columns: int, ending: str) -> None:
    table = [[data.draw(DECIMAL) for _ in range(columns)] for _ in range(rows)]
    text = ending.join(data.draw(BLANKS).join(row) for row in table).encode()
    found = _fast_table(text)
    if found is not None:  # powers beyond 22 are left to NumPy
        np.testing.assert_array_equal(found, slowly(text))


def test_coordinates_of_scans_are_never_left_to_the_slow_reader() -> None:
    values = np.random.default_rng(0).normal(0, 30, (5000, 3))
    for form in ("%.6f", "%.3f", "%.9g", "%.8e", "%d"):
        text = "\n".join(" ".join(form % value for value in row) for row in values).encode()
        found = _fast_table(text)
        assert found is not None
        np.testing.assert_array_equal(found, slowly(text))


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3\n",
        "1 x\n",
        "nan 1\n",
        "1e\n",
        "1.2.3\n",
        "0.12345678901234567\n",
        "1e99\n",
        "1,2\n",
        "- 1\n",
        "1\r2\n",
        ".",
    ],
)
def test_all_else_is_left_to_the_slow_reader(text: str) -> None:
    assert _fast_table(text.encode()) is None


def test_long_texts_are_read_in_parts_and_faults_in_them_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "SHORT", 0)
    monkeypatch.setattr(text_tables, "BYTES_AT_A_TIME", 16)
    text = "".join(f"{i} {i / 8}\n" for i in range(50)).encode()
    np.testing.assert_array_equal(number_table(text, Path("x")), slowly(text))
    np.testing.assert_array_equal(number_table(text.rstrip(), Path("x")), slowly(text))
    for wrong in (text + b"1\n", text.replace(b"40 ", b"40 7 "), text.replace(b"40 ", b"4a ")):
        with pytest.raises(InputError, match="is not a table of numbers"):
            number_table(wrong, Path("x"))
