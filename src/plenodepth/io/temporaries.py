"""Names of temporary files, which tell the run that made them, and the removal of what killed runs have left.

A name holds the machine, the process and when that began, since numbers of processes are used again. What a run on
another machine has left cannot be told from what it is writing: it stays.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import sys
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = ".tmp-"
LONGEST_TAIL = 48  # letters of a file's name, so that with what is before it still fits the file system's limit
_NAME = re.compile(r"\.tmp-([0-9a-f]{8})-(\d{1,10})-(\d{1,18})-[0-9a-f]{8}(?:-.*)?", re.ASCII | re.DOTALL)
_STARTED = 19  # of the words of /proc/PID/stat after the name of the program; the first is the state
_ENDED = "ZX"  # states of a process that only waits to be noticed


def temporary_name(tail: str = "") -> str:
    """A name that no other run uses; it ends like `tail`, because writers choose the format by suffix."""
    process = os.getpid()
    owner = f"{_machine():08x}-{process}-{_start_of(process) or 0}"
    return "-".join([f"{PREFIX}{owner}", secrets.token_hex(4), *([tail[-LONGEST_TAIL:]] if tail else [])])


def is_stale(name: str) -> bool:
    """Whether a file of this name is that of a run of this machine that has ended."""
    found = _NAME.fullmatch(name)
    if found is None or int(found.group(1), 16) != _machine():
        return False
    process, started = int(found.group(2)), int(found.group(3))
    return not _lives(process, started)


def sweep(folder: Path | str) -> None:
    """Remove what killed runs have left in a folder; a process looks into each folder once."""
    _sweep_once(os.path.realpath(folder), os.getpid())


@cache
def _sweep_once(folder: str, process: int) -> None:
    with suppress(OSError):  # it is not there, or may not be read
        for entry in list(os.scandir(folder)):
            if entry.name.startswith(PREFIX) and is_stale(entry.name):
                with suppress(OSError):
                    shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)


@cache
def _machine() -> int:
    """A number for this machine; containers, whose processes are numbered anew, are machines of their own."""
    namespace = 0
    with suppress(OSError):
        namespace = os.stat("/proc/self/ns/pid").st_ino
    return zlib.crc32(f"{socket.gethostname()}:{namespace}".encode())


def _start_of(process: int) -> int | None:
    """When a process began, in ticks since the machine did; None where there is no such process, or no telling."""
    try:
        words = Path(f"/proc/{process}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in _ENDED else int(words[_STARTED])


def _lives(process: int, started: int) -> bool:
    if os.path.exists("/proc/self/stat"):
        return _start_of(process) == started
    if sys.platform == "win32":  # where to ask for a process is to end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
