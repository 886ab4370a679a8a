"""The threads of matrix products, which are not ours: OpenBLAS starts its own."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple


class _Library(NamedTuple):
    """How many threads a loaded library of linear algebra used, and the function that sets it."""

    threads: int
    set_threads: Callable[[int], object]


_lock = threading.Lock()
_open_blocks = 0  # of `single_blas_thread`, in all threads
_limited: dict[str, _Library] = {}  # by path


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Inside the block, or the function that it decorates, matrix products use one thread.

    Our matrices are small, and our threads are our own. Those of OpenBLAS wait in a loop for their next product, and so
    take the cores from threads that work. The number is one for the whole process: the first block that opens sets it,
    the last one that closes puts it back. A library that is loaded inside a block is limited by the next block.
    """
    global _open_blocks
    with _lock:
        _open_blocks += 1
        for path, library in _loaded().items():
            if path not in _limited:
                _limited[path] = library
                library.set_threads(1)
    try:
        yield
    finally:
        with _lock:
            _open_blocks -= 1
            if _open_blocks == 0:
                for library in _limited.values():
                    library.set_threads(library.threads)
                _limited.clear()


def _loaded() -> dict[str, _Library]:
    """The OpenBLAS of NumPy and that of SciPy, as their wheels bring them, by path; those that are loaded."""
    found = dict[str, _Library]()
    only_loaded = getattr(os, "RTLD_NOLOAD", None)  # not on Windows
    for package in ("numpy", "scipy"):
        module = sys.modules.get(package)
        if only_loaded is None or module is None or module.__file__ is None:
            continue
        folder = Path(module.__file__).parent
        for path in [*folder.parent.glob(f"{package}.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")]:
            with suppress(OSError):  # is not loaded
                library = _library(ctypes.CDLL(str(path), mode=only_loaded | os.RTLD_NOW))
                found |= {} if library is None else {str(path): library}
    return found


def _library(handle: ctypes.CDLL) -> _Library | None:
    """What a library says of its threads; None if it has not the functions of an OpenBLAS in a wheel."""
    for suffix in ("64_", ""):  # NumPy's has integers of 64 bits
        get = getattr(handle, f"scipy_openblas_get_num_threads{suffix}", None)
        put = getattr(handle, f"scipy_openblas_set_num_threads{suffix}", None)
        if get is not None and put is not None:
            return _Library(int(get()), put)
    return None
