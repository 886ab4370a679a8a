"""The manifest of an output folder: one line of JSON for each frame that was made or failed.

Lines are only ever added while a batch runs, each in one write that reaches the disk before the results appear. A line
that a killed run left torn is no line. Before and after a run the file is replaced by one with a line for each frame,
its last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plenodepth.errors import InputError
from plenodepth.io import atomic_path

NAME = "manifest.jsonl"


@dataclass(frozen=True)
class FileState:
    """A file as it was: the hash of its content, its bytes, and when it was changed."""

    sha256: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Entry:
    """What became of one frame. With an `error` it has no results."""

    frame: str
    path: str
    number: int | None
    key: str  # of everything that the results depend on
    input: FileState | None = None  # None: could not be read
    files: dict[str, FileState] = field(default_factory=dict)  # in the frame's folder, by name
    error: str = ""
    problem: str = ""  # why the map is not to be trusted; empty: it may be
    note: str = ""
    statistics: dict[str, float | None] = field(default_factory=dict)
    stages: dict[str, Any] = field(default_factory=dict)  # seconds of each, on the wall and of all processors
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    worker: str = ""
    attempts: int = 1
    finished: str = ""  # UTC
    program: dict[str, str] = field(default_factory=dict)  # versions
    traceback: str = ""  # of an error that is ours

    def line(self) -> bytes:
        """The entry as a line of the manifest."""
        content = {name: value for name, value in asdict(self).items() if value not in ("", None, {})}
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def read_entry(line: bytes) -> Entry | None:
    """The entry of a line; None for a line that is torn or damaged."""
    try:
        content = json.loads(line)
        given = None if content.get("input") is None else FileState(**content["input"])
        files = {name: FileState(**state) for name, state in content.get("files", {}).items()}
        entry = Entry(**{"number": None, **content, "input": given, "files": files})
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    texts = (entry.frame, entry.path, entry.key, *entry.files, *(state.sha256 for state in entry.files.values()))
    return entry if all(isinstance(text, str) for text in texts) else None


class Manifest:
    """The entries of an output folder, and its file, to which entries are added. To be used as a context."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.entries = _entries(self._path)
        self._file: int | None = None

    def __enter__(self) -> Manifest:
        """Leave one line for each frame, and open the file for more."""
        if self.entries or self._path.exists():
            self._write_anew()
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
            if self.entries:
                self._write_anew()
            else:
                self._path.unlink(missing_ok=True)

    def add(self, entry: Entry) -> None:
        """Add an entry; it has reached the disk when this returns."""
        if self._file is None:
            raise ValueError("the manifest is not open")
        line = entry.line()
        if os.write(self._file, line) != len(line):
            raise InputError("cannot be written: no space is left", file=self._path, fix="free some and run it again")
        os.fsync(self._file)
        self.entries[entry.frame] = entry

    def _write_anew(self) -> None:
        with atomic_path(self._path) as temporary, temporary.open("wb") as file:
            file.writelines(entry.line() for _, entry in sorted(self.entries.items()))
            file.flush()
            os.fsync(file.fileno())


def read_manifest(folder: Path | str) -> dict[str, Entry]:
    """The entries of an output folder by the names of their frames."""
    path = Path(folder) / NAME
    if not path.is_file():
        raise InputError("does not exist", file=path, fix="give the --out of a plenodepth batch")
    return _entries(path)


def _entries(path: Path) -> dict[str, Entry]:
    try:
        lines: Iterable[bytes] = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    found = (entry for line in lines if (entry := read_entry(line)) is not None)
    return {entry.frame: entry for entry in found}
