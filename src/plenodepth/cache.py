"""Results that are kept on disk, and the one key that says whether a kept result may be used again.

A step writes its results into a work folder, and a record `NAME.json` last of all: a step that was interrupted has no
record and counts as not done. The record holds the step's key, a hash of everything that the results depend on:

- the content of the input files (not their names or dates),
- the settings and all other values, such as a camera with everything in it,
- the sources of this package, so that a changed program never reads what an older one has made.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.reading import read_text
from plenodepth.io.strict_text import parse_json

PACKAGE = Path(__file__).parent
CLOCK_STEP = 0.05  # s: a file's time may lag behind the clock by a tick of the system


@dataclasses.dataclass(frozen=True)
class WorkFolder:
    """A folder that keeps the results of steps. Results older than `since` (seconds since the epoch) are not used."""

    path: Path
    since: float = 0.0

    @classmethod
    def fresh(cls, path: Path) -> WorkFolder:
        """A work folder where nothing counts that was made before now: what `--fresh` asks for."""
        now = time.time()
        time.sleep(CLOCK_STEP)  # so that no file made from here on has a time before `now`
        return cls(path, now)

    def __truediv__(self, name: str) -> Path:
        """The path of a file in the folder."""
        return self.path / name

    def within(self, path: Path) -> WorkFolder:
        """Another folder under the same rule about old results."""
        return WorkFolder(path, self.since)

    def has(self, name: str) -> bool:
        """Whether a file is there that may be used: for results whose name holds their key."""
        try:
            return (self.path / name).stat().st_mtime >= self.since
        except OSError:
            return False

    def kept(self, record: str, key: str) -> dict[str, Any] | None:
        """The record of a step that was done with the same key and whose files are all there; None otherwise."""
        if not self.has(record):
            return None
        try:
            content = parse_json(read_text(self.path / record), self.path / record)
        except InputError:
            return None
        if not isinstance(content, dict) or content.get("key") != key:
            return None
        files = content.get("files", [])
        there = isinstance(files, list) and all(isinstance(name, str) and self._holds(name) for name in files)
        return content if there else None

    def _holds(self, name: str) -> bool:
        return os.path.isfile(self.path / name)

    def keep(self, record: str, key: str, files: Iterable[str], content: Mapping[str, Any]) -> dict[str, Any]:
        """Say that a step is done: its key, the files that it has made here, and what else there is to say."""
        full = {"key": key, "files": list(files), **content}
        with atomic_path(self.path / record) as temporary:
            temporary.write_text(json.dumps(full, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return full


def cache_key(values: Mapping[str, Any], files: Iterable[Path] = (), *, rooms: Iterable[str] = ()) -> str:
    """The key of a step: a hash of values, of the content of files, and of this package's sources.

    Values may be numbers, texts, paths, arrays, dataclasses and enums, and dictionaries and sequences of them. Anything
    else is a TypeError: a value that is left out of the key would let an old result pass for a new one.
    `rooms`: the sub-packages whose sources count; by default all. Name them only where imports are forbidden to others.
    """
    digest = hashlib.sha256(source_hash(*rooms).encode())
    digest.update(content_hash(values).encode())
    for path in files:
        digest.update(file_hash(path).encode())
    return digest.hexdigest()


def content_hash(value: Any) -> str:
    """A hash of a value alone, the same in every version of this package: to tell whether two things are equal."""
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@cache
def source_hash(*rooms: str) -> str:
    """Hash of the Python sources of this package, names and contents: of all, or of these sub-packages.

    The modules beside the sub-packages, which all of them use, always count.
    """
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not rooms or "/" not in name or name.split("/")[0] in rooms:
            digest.update(f"{name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def file_hash(path: Path | str) -> str:
    """SHA-256 of a file's content. A process reads a file once, and again only when its size or time has changed."""
    state = os.stat(path)
    return _hash_of_content(os.fspath(path), state.st_mtime_ns, state.st_size, state.st_ino)


@cache
def _hash_of_content(path: str, *_: int) -> str:
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _plain(value: Any) -> Any:
    """A value as JSON has it, with the type's name where two types could look alike."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value.hex()  # exact, and NaN and infinity have a text, too
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return [type(value).__name__, value.name]
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return ["array", str(value.dtype), list(value.shape), content]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            {part.name: _plain(getattr(value, part.name)) for part in dataclasses.fields(value)},
        ]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(_plain(item), sort_keys=True) for item in value)
    raise TypeError(f"a {type(value).__name__} cannot be part of a cache key")
