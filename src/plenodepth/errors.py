"""The errors that a user can cause and repair; the command line prints each as one line and exits with 2."""

from __future__ import annotations

from pathlib import Path


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
        where = "".join(f"{part}: " for part in (self.file, self.field) if part)
        repair = f" ({self.fix})" if self.fix else ""
        return " ".join(f"{where}{self.message}{repair}".split())

    def in_file(self, file: str | Path) -> InputError:
        """The same error, for a caller that knows which file the value came from."""
        return InputError(self.message, file=self.file or file, field=self.field, fix=self.fix)
