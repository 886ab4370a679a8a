"""Tables of numbers as text, fast enough for the millions of lines of a scan."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError

Float64 = npt.NDArray[np.float64]

SHORT = 1 << 18  # bytes that are read before a compiled reader is even loaded
POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact, every one
BYTES_AT_A_TIME = 1 << 24


def number_table(text: bytes, path: Path | str) -> Float64:
    """Lines of as many numbers each, (lines, numbers), to the last bit; blank lines do not count."""
    if not text.strip():
        return np.zeros((0, 0))
    table = _quickly(text) if len(text) > SHORT else None
    if table is not None:
        return table
    try:
        return np.loadtxt(io.BytesIO(text), dtype=np.float64, comments=None, ndmin=2, encoding="latin-1")
    except ValueError as error:
        raise InputError(f"is not a table of numbers: {str(error).split(';')[0]}", file=path) from None


def _quickly(text: bytes) -> Float64 | None:
    """The table where every number is of up to 15 digits; else None, and NumPy's reader, five times slower, tells."""
    from plenodepth.io.kernels.decimals import parse_decimals

    tables = list[Float64]()
    for part in _parts(text):
        # A number takes two bytes at least, with the blank after it.
        whole, power = np.empty(len(part) // 2 + 1, np.int64), np.empty(len(part) // 2 + 1, np.int8)
        count, columns = parse_decimals(part, whole, power)
        if count < 0 or (tables and count and columns != tables[0].shape[1]):
            return None
        if count:
            # Both are exact as doubles, so that one division or multiplication rounds once, as it should.
            values, exponent = whole[:count].astype(np.float64), power[:count]
            values /= POWERS[np.maximum(-exponent, 0)]
            if exponent.max() > 0:
                values *= POWERS[np.maximum(exponent, 0)]
            tables.append(values.reshape(-1, columns))
    return np.concatenate(tables)


def _parts(text: bytes) -> Iterator[npt.NDArray[np.uint8]]:
    """The text in pieces of whole lines."""
    start = 0
    while start < len(text):
        end = start + BYTES_AT_A_TIME
        end = len(text) if end >= len(text) else (text.rfind(b"\n", start, end) + 1 or len(text))
        yield np.frombuffer(text, np.uint8, end - start, start)
        start = max(end, start + 1)
