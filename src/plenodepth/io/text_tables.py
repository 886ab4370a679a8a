"""Long text files of numbers: tables fast enough for the millions of lines of a scan, and lines for error messages."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.reading import quoted, to_number

Float64 = npt.NDArray[np.float64]

SHORT = 1 << 18  # bytes that are read before a compiled reader is even loaded
POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact, every one
BYTES_AT_A_TIME = 1 << 24
TRUNCATED = "the file is damaged or truncated: copy it again"


def number_table(text: bytes, path: Path | str) -> Float64:
    """The numbers (lines, numbers) of a text whose lines all hold equally many; blank lines do not count."""
    if not text.strip():
        return np.zeros((0, 0))
    table = _fast_table(text) if len(text) > SHORT else None
    if table is not None:
        return table
    try:
        return np.loadtxt(io.BytesIO(text), dtype=np.float64, comments=None, ndmin=2, encoding="latin-1")
    except ValueError as error:
        raise InputError(f"is not a table of numbers: {str(error).split(';')[0]}", file=path) from None


def _fast_table(text: bytes) -> Float64 | None:
    """The table by the compiled reader; None where a number has more than 15 digits or the text is no table.

    Then NumPy's reader, which is five times slower, reads it or says what is wrong.
    """
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


class TextLines:
    """The lines of a text file, numbered from 0; blank lines at its end do not count."""

    def __init__(self, data: bytes, path: Path | str) -> None:
        self.data, self.path = data, path
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        if not len(ends) or ends[-1] != len(data):
            ends = np.append(ends, len(data))
        self._starts = np.concatenate([[0], ends])
        while len(self) and not self.text(len(self) - 1).strip():  # blank lines at the end
            self._starts = self._starts[:-1]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def text(self, line: int) -> str:
        """One line, without its end."""
        return self.data[int(self._starts[line]) : int(self._starts[line + 1])].decode("latin-1").rstrip("\r\n")

    def numbers(self, line: int, count: int, what: str) -> list[float]:
        """The `count` numbers of one line, which holds `what`."""
        if line >= len(self):
            message = f"the file ends before {what}"
            raise InputError(message, file=self.path, field=f"line {line + 1}", fix=TRUNCATED)
        words = self.text(line).split()
        try:
            if len(words) != count:
                raise ValueError(f"has {len(words)} values")
            return [to_number(word) for word in words]
        except ValueError as error:
            message = f"{error}, needs {count} number{'s' if count > 1 else ''}: {what}"
            raise InputError(message, file=self.path, field=f"line {line + 1}") from None

    def table(self, first: int, last: int) -> npt.NDArray[np.float64]:
        """The numbers of lines `first` … `last` − 1, (lines, numbers); as many in each, and no line is blank."""
        last = min(last, len(self))
        if last <= first:
            return np.zeros((0, 0))
        text = self.data[int(self._starts[first]) : int(self._starts[last])]
        try:
            table = number_table(text, self.path)
        except InputError:
            raise self._fault(first, last) from None
        if len(table) != last - first or not np.isfinite(table).all():
            raise self._fault(first, last)
        return table

    def _fault(self, first: int, last: int) -> InputError:
        """The error that names the first line that holds no numbers, or another count of them than the first."""
        expected: int | None = None
        for line in range(first, last):
            words = self.text(line).split()
            expected = len(words) if expected is None else expected
            try:
                if len(words) != expected or not words:
                    raise ValueError(f"has {len(words)} numbers, the lines before {expected}")
                for word in words:
                    to_number(word)
            except ValueError as error:
                return InputError(str(error), file=self.path, field=f"line {line + 1}", fix=TRUNCATED)
        return InputError(f"lines {first + 1} … {last}: are no table: {quoted(self.text(first))}", file=self.path)
