"""Errors that no room has foreseen: one line that names the file, and the traceback for those who ask for it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

PACKAGE = f"{__name__.partition('.')[0]}."
NAMES = ("path", "file", "source", "scene_file", "folder")  # of the variables that hold a file's name


@contextmanager
def printed_traceback(wanted: bool) -> Iterator[None]:
    """Print the traceback of an error that leaves the block, if it is wanted; the error goes on."""
    try:
        yield
    except Exception:
        if wanted:
            traceback.print_exc()
        raise


def unexpected_line(error: Exception) -> str:
    """One line about an error that is a fault of this package, or of one that it uses."""
    file = file_of(error.__traceback__)
    where = f"{file}: " if file else ""
    if isinstance(error, MemoryError):
        return " ".join(f"{where}needs more memory than there is".split())
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"{' '.join(where.split())}{' ' if where else ''}unexpected error, {words} (report it with what --debug prints)"
    )


def file_of(trace: TracebackType | None) -> str | None:
    """The file that the innermost of our functions was given, by the names of its variables."""
    found = None
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__", "").startswith(PACKAGE):
            values = (frame.f_locals.get(name) for name in NAMES)
            found = next((str(value) for value in values if isinstance(value, str | Path)), found)
        trace = trace.tb_next
    return found
