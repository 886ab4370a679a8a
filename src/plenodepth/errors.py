"""The errors that a user can cause and repair; the command line prints each as one line and exits with 2."""

from __future__ import annotations

from pathlib import Path

LONGEST = 1000  # letters of a part of a message


class PlenodepthError(Exception):
    """Base of every error raised on purpose; its text is one line."""


class InputError(PlenodepthError):
    """Bad input: names the file and the field where it went wrong, and says how to repair it.

    `str(InputError("is negative", file="cam.yaml", field="main_lens.focal_length", fix="give millimetres > 0"))`
    is `cam.yaml: main_lens.focal_length: is negative (give millimetres > 0)`.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        field: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.field = field
        self.fix = fix
        super().__init__(str(self))

    def __str__(self) -> str:
        where = "".join(f"{_cut(str(part))}: " for part in (self.file, self.field) if part)
        repair = f" ({_cut(self.fix)})" if self.fix else ""
        return one_line(f"{where}{_cut(self.message)}{repair}")

    def in_file(self, file: str | Path) -> InputError:
        """The same error, for a caller that knows which file the value came from."""
        return InputError(self.message, file=self.file or file, field=self.field, fix=self.fix)


def shortened(text: object, most: int = LONGEST) -> str:
    """A text as a part of a message: on one line, and a long one cut in its middle."""
    return one_line(_cut(str(text), most))


def one_line(text: str) -> str:
    """A text on one line, without what a terminal would obey."""
    words = " ".join(text.split())
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in words)


def _cut(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 4 :]}"
