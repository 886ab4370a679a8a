"""How kernels are compiled by Numba and kept on disk: once per version of all the sources they are made of.

Numba recompiles a cached function when its own file changes, but not when a file changes whose functions it has
inlined. So the cache lies in a folder named by a fingerprint of every source of a room's kernels: whatever changes,
nothing stale is ever loaded.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba as nb

# No "nnan" and "ninf": missing values are NaN and a ray that misses has an infinite depth.
FAST = {"reassoc", "nsz", "arcp", "contract", "afn"}


class Compilers(NamedTuple):
    """Decorators: a function of its own, or one inlined where a call would cost more than what it does."""

    compiled: Callable[[Any], Any]
    inlined: Callable[[Any], Any]


def compilers(folder: Path) -> Compilers:
    """The decorators for the kernels whose sources are the Python files of `folder`."""
    cache = _cache_folder(folder)

    def compiler(**options: Any) -> Callable[[Any], Any]:
        def compile_lazily(function: Any) -> Any:
            before = nb.config.CACHE_DIR
            nb.config.CACHE_DIR = cache  # read by njit, right here
            try:
                return nb.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", **options)(function)
            finally:
                nb.config.CACHE_DIR = before

        return compile_lazily

    return Compilers(compiler(), compiler(inline="always"))


def _cache_folder(folder: Path) -> str:
    sources = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    base = os.environ.get("NUMBA_CACHE_DIR") or str(folder / "__pycache__")
    if not os.access(base if os.path.isdir(base) else folder, os.W_OK):  # installed for all users
        home = os.path.expanduser("~")
        base = os.path.join(home, ".cache") if os.access(home, os.W_OK) else tempfile.gettempdir()
        base = os.path.join(base, "plenodepth")
    return os.path.join(base, f"kernels-{hashlib.sha256(sources).hexdigest()[:12]}")
