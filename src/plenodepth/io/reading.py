"""Reading what a user hands over: bytes, text and numbers, where every failure is an `InputError`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError

# Stricter than float(), which also takes "1_000" and digits of every script.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)(\(.*\))?", re.ASCII | re.IGNORECASE)


def read_bytes(path: Path | str) -> bytes:
    """The whole file; a missing, unreadable or wrong kind of file is an `InputError`."""
    with _readable(path):
        return Path(path).read_bytes()


def read_array(path: Path | str) -> npt.NDArray[np.uint8]:
    """The bytes of a file as an array (n,): for large files, since NumPy's memory takes a tenth of the time to get."""
    with _readable(path), Path(path).open("rb") as file:
        data = np.empty(os.fstat(file.fileno()).st_size, np.uint8)
        count = file.readinto(data.data)
        rest = file.read()  # of a file that grows, or of a pipe, which has no size
        return np.frombuffer(data[:count].tobytes() + rest, np.uint8) if rest else data[:count]


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
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error


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
