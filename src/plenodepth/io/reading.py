"""Reading what a user hands over: bytes, text and numbers, where every failure is an `InputError`."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError, shortened
from plenodepth.io.budget import require_readable_size

# Stricter than float(), which also takes "1_000" and digits of every script.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)  # in time that grows with the text
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)(\(.*\))?", re.ASCII | re.IGNORECASE)


def read_bytes(path: Path | str) -> bytes:
    """The whole file; a missing, unreadable or wrong kind of file is an `InputError`."""
    with opened(path) as file:
        require_readable_size(os.fstat(file.fileno()).st_size, path)
        return file.read()


def read_array(path: Path | str) -> npt.NDArray[np.uint8]:
    """The bytes of a file as an array (n,): for large files, since NumPy's memory takes a tenth of the time to get."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        require_readable_size(size, path)
        data = np.empty(size, np.uint8)
        count = file.readinto(data.data)
        rest = file.read()  # of a file that grows
        return np.frombuffer(data[:count].tobytes() + rest, np.uint8) if rest else data[:count]


@contextmanager
def opened(path: Path | str) -> Iterator[BufferedReader]:
    """A file to read from; only a regular one: a device may never end, a pipe keep its reader waiting.

    What the system says inside the block about the file becomes an `InputError`.
    """
    with _readable(path):
        mode = os.stat(path).st_mode  # not once it is open: to open a pipe waits, too
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise InputError("is a device or a pipe", file=path, fix="give the path of a file")
        with Path(path).open("rb") as file:
            yield file


@contextmanager
def _readable(path: Path | str) -> Iterator[None]:
    """What the system says inside the block about a file becomes an `InputError`."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("does not exist", file=path, fix="check the path") from None
    except IsADirectoryError:
        raise InputError("is a folder", file=path, fix="give the path of a file") from None
    except PermissionError:
        raise InputError("may not be read", file=path, fix="check the permissions of the file") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=shortened(path)) from error
    except ValueError:
        if is_file_name(str(path)):  # it is about something else
            raise
        raise InputError("is no name of a file", file=shortened(path), fix="check the path") from None


def read_text(path: Path | str) -> str:
    """The whole file as UTF-8 text, with or without a byte order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 text (byte {error.start})", file=path, fix="give a text file, not a binary or compressed one"
        ) from None


def to_number(value: object) -> float:
    """A finite float from a number or from its decimal text; a `ValueError` says in words what is wrong with it."""
    if isinstance(value, str):
        text = value.strip()
        if _NOT_FINITE.fullmatch(text):
            raise ValueError(f"is not finite: {quoted(value)}")
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"is not a number: {quoted(value)}")
        number = float(text)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # an integer of more than 308 digits
            number = math.inf
    else:
        raise ValueError(f"is not a number: {quoted(value)}")
    if not math.isfinite(number):
        raise ValueError(f"is not finite: {quoted(value)}")
    return number


def is_file_name(text: str) -> bool:
    """Whether a text may name a file: without NUL, and of letters that the system can encode."""
    try:
        return "\0" not in text and bool(os.fsencode(text))
    except UnicodeEncodeError:
        return False


def quoted(value: object) -> str:
    """`value` as a message shows it: containers by their kind only, long texts cut, so that the message is one line."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    # Not repr() of an int: Python refuses to print an integer of more than 4300 digits.
    text = "a huge integer" if isinstance(value, int) and value.bit_length() > 256 else repr(value)
    return text if len(text) <= 40 else f"{text[:36]}...{text[-1]}"
