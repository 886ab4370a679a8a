"""How kernels are compiled and kept: once per version of all their sources.

Numba recompiles a cached function when its own file changes, but not when a file changes whose functions it has
inlined. So the cache lies in a folder named by a fingerprint of every kernel's source: whatever changes, nothing stale
is ever loaded.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba as nb

# No "nnan" and "ninf": a ray that misses has an infinite depth.
FAST = {"reassoc", "nsz", "arcp", "contract", "afn"}


def _cache_folder() -> str:
    here = Path(__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    base = os.environ.get("NUMBA_CACHE_DIR") or str(here / "__pycache__")
    if not os.access(base if os.path.isdir(base) else here, os.W_OK):  # installed for all users
        base = os.path.join(os.path.expanduser("~/.cache"), "plenodepth")
        if not os.access(os.path.expanduser("~"), os.W_OK):
            base = os.path.join(tempfile.gettempdir(), "plenodepth")
    return os.path.join(base, f"kernels-{hashlib.sha256(sources).hexdigest()[:12]}")


CACHE_FOLDER = _cache_folder()


def _compiler(**options: Any) -> Callable[[Any], Any]:
    def compile_lazily(function: Any) -> Any:
        before = nb.config.CACHE_DIR
        nb.config.CACHE_DIR = CACHE_FOLDER  # read by njit, right here
        try:
            return nb.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", **options)(function)
        finally:
            nb.config.CACHE_DIR = before

    return compile_lazily


compiled = _compiler()
inlined = _compiler(inline="always")  # where a call would cost more than what it does
