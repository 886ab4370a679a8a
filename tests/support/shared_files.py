"""Files that a test run makes once: its workers share them in a folder on disk.

The folder lies in the run's temporary folder (see tests/conftest.py) and goes with it. A key names what is kept there:
`plenodepth.cache.cache_key` of all that it is made from. Who asks first makes it; who asks meanwhile waits. What is
shared is for reading only: a test that wants to change a file copies it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: two workers may make the same thing
    fcntl = None  # type: ignore[assignment]

_folder: Path | None = None


def keep_in(folder: Path) -> None:
    """Share files in this folder from now on."""
    global _folder
    folder.mkdir(exist_ok=True)
    _folder = folder


def shared(key: str, make: Callable[[Path], object]) -> Path:
    """The file or folder of this key; `make` is called with its path where no worker has made it yet."""
    if _folder is None:
        raise RuntimeError("ask for it in a test or in a fixture, not while tests are collected")
    path = _folder / key
    with _locked(path.with_suffix(".lock")):
        if not path.exists():
            # Made under another name: what a stopped worker leaves behind does not count.
            temporary = _folder / f"{key}-{os.getpid()}"
            make(temporary)
            temporary.rename(path)
    return path


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One worker at a time; the system ends the lock of a worker that dies."""
    with open(path, "w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
