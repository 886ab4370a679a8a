"""Open files for the readers, and packages that only some readers need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.reading import opened

STDERR = 2
_one_at_a_time = Lock()


@contextmanager
def open_binary(path: Path | str) -> Iterator[BinaryIO]:
    """A file to read and to seek in; a missing, unreadable or wrong kind of file is an `InputError`."""
    with opened(path) as file:
        yield file


def size_of(file: BinaryIO) -> int:
    """The bytes of a file; it stands at its beginning after."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def whole(file: BinaryIO) -> npt.NDArray[np.uint8]:
    """The bytes of a file as an array (n,): NumPy's memory takes a tenth of the time to get."""
    data = np.empty(size_of(file), np.uint8)
    view = data.data
    done = 0
    while done < len(data) and (count := file.readinto(view[done:])):  # type: ignore[attr-defined]
        done += count
    return data[:done]


def part(file: BinaryIO, start: int, count: int) -> bytes:
    """`count` bytes from `start` on; fewer where the file ends."""
    file.seek(start)
    return file.read(count)


def extra_package(name: str, extra: str, path: Path | str) -> Any:
    """A package of an extra, loaded only when such a file is read."""
    try:
        return import_module(name)
    except ImportError:
        message = f"cannot be read without the package {name}"
        raise InputError(message, file=path, fix=f'pip install "plenodepth[{extra}]"') from None


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Drop what a C library writes to the standard error: what matters of it is in the one line of the error."""
    with _one_at_a_time:  # or one thread would keep, and put back, what another has put there
        kept = os.dup(STDERR)
        try:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), STDERR)
                yield
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)
