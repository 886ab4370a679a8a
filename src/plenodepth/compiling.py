"""How Numba compiles kernels and keeps them on disk.

Numba compiles a cached function anew when its own file changes. It does not notice a change in another file whose
functions it has inlined or whose constants it has compiled in. So each kernel's cache lies in a folder that is named by
a hash of its module and of every module of this package that it imports, directly or not.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba as nb
from numba.core import event

PACKAGE = Path(__file__).parent
# No "nnan" and "ninf": missing values are NaN and a ray that misses has an infinite depth.
FAST = {"reassoc", "nsz", "arcp", "contract", "afn"}


def compiled(function: Any) -> Any:
    """Compile a kernel at its first call, without the interpreter's lock; later runs load it from disk."""
    return _compile_lazily(function)


def inner(function: Any) -> Any:
    """As `compiled`, for a function that only other kernels call, with arrays that these hold on to.

    It must not make arrays, and called from Python it would crash. In return no references are counted: every array
    that is taken out of a tuple would cost two atomic instructions, more than many a function does besides.
    """
    return _compile_lazily(function, _nrt=False, no_cpython_wrapper=True)


def inlined(function: Any) -> Any:
    """As `compiled`, for a function so small that a call would cost more than what it does."""
    return _compile_lazily(function, inline="always")


def _compile_lazily(function: Any, **options: Any) -> Any:
    before = nb.config.CACHE_DIR
    nb.config.CACHE_DIR = kernel_cache(Path(function.__code__.co_filename))  # read by njit, right here
    try:
        # A wrapper for calls from C would be compiled for each kernel, too, and nothing calls them from there.
        return nb.njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", no_cfunc_wrapper=True, **options)(
            function
        )
    finally:
        nb.config.CACHE_DIR = before


@contextmanager
def watched_compilation(compiling: Callable[[Any], None]) -> Iterator[None]:
    """Call `compiling` with each function that is compiled inside the block; one that is loaded from disk is not.

    It may be called from any thread.
    """
    with event.install_listener("numba:compile", _Listener(compiling)):
        yield


class _Listener(event.Listener):  # type: ignore[misc]  # Numba has no types
    def __init__(self, compiling: Callable[[Any], None]) -> None:
        self._compiling = compiling

    def on_start(self, event: Any) -> None:
        self._compiling(event.data["dispatcher"].py_func)

    def on_end(self, event: Any) -> None:
        pass


def is_kept(kernel: Any) -> bool:
    """Whether there is a compiled version of a kernel on disk."""
    function = kernel.py_func
    source = Path(function.__code__.co_filename)
    return any(Path(kernel_cache(source)).glob(f"*/{source.stem}.{function.__qualname__}-*.nbi"))


@cache
def kernel_cache(module: Path) -> str:
    """The folder of the compiled kernels of a module; it has another name once anything compiled in has changed."""
    content = b"".join(path.read_bytes() for path in sorted(imported_sources(module)))
    base = os.environ.get("NUMBA_CACHE_DIR") or str(PACKAGE / "__pycache__")
    if not os.access(base if os.path.isdir(base) else PACKAGE, os.W_OK):  # installed for all users
        home = os.path.expanduser("~")
        base = os.path.join(home, ".cache") if os.access(home, os.W_OK) else tempfile.gettempdir()
        base = os.path.join(base, "plenodepth")
    return os.path.join(base, f"kernels-{hashlib.sha256(content).hexdigest()[:12]}")


def imported_sources(module: Path) -> set[Path]:
    """The source files of a module and of all modules of this package that it imports, directly or not."""
    found, waiting = set[Path](), [module]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path)
    return found


# Searched as text: to parse all modules would take a third of a second of every start.
_NAME = rf"({PACKAGE.name}[\w.]*)"
_IMPORT = re.compile(rf"^ *(?:from {_NAME} import (\([^)]*\)|[^\n]*)|import {_NAME})", re.MULTILINE)


@cache
def _imports(module: Path) -> tuple[Path, ...]:
    text = module.read_text(encoding="utf-8")
    return tuple(path for found in _IMPORT.finditer(text) for name in _imported_names(found) if (path := _source(name)))


def _imported_names(found: re.Match[str]) -> Iterator[str]:
    module, names, package = found.groups()
    if package:
        yield package
    else:
        # A name in a package may be a module of it; if it is none, `_source` finds the package itself.
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))


def _source(name: str) -> Path | None:
    """The file of a dotted name in this package: that of the module, or of the module or package that holds it."""
    package, *parts = name.split(".")
    if package != PACKAGE.name:
        return None
    for end in range(len(parts), -1, -1):
        place = PACKAGE.joinpath(*parts[:end])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path
    return None
