"""Long text files by their lines: where each starts, and what is wrong with the first bad one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.number_tables import number_table
from plenodepth.io.reading import quoted, to_number

TRUNCATED = "the file is damaged or truncated: copy it again"


class TextLines:
    """A text file of bytes with lines numbered from 0; a last line without an end counts, an empty rest does not."""

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
        """The error that names the first line which is not as the one before."""
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
