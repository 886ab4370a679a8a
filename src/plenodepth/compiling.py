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
from threading import Lock
from typing import Any

import numba as nb
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys

PACKAGE = Path(__file__).parent
# No "nnan" and "ninf": missing values are NaN and a ray that misses has an infinite depth.
FAST = {"reassoc", "nsz", "arcp", "contract", "afn"}


def compiled(function: Any) -> Any:
    """Compile a kernel at its first call, without the interpreter's lock; later runs load it from disk."""
    return _compile_lazily(function)


def inner(function: Any) -> Any:
    """As `compiled`, for a function that only other kernels call, with arrays that these hold on to.

    It must not make or return arrays, and called from Python it would crash. In return no references are counted: every
    array that is taken out of a tuple would cost two atomic instructions, more than many a function does besides. And
    it is optimised once, within the kernel that calls it: see `_Part`.
    """
    return _compile_lazily(function, **_INNER)


def formula(function: Any) -> Any:
    """As `inner`, for a function so small that a call would cost more than what it does."""
    return _compile_lazily(function, forceinline=True, **_INNER)


def inlined(function: Any) -> Any:
    """As `formula`, for a function that takes tuples of many arrays: Numba writes its source out at each call.

    To hand over such tuples would take longer to compile than to type the function again.
    """
    return _compile_lazily(function, inline="always")


class _Part(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a function that only other kernels call, left as it is.

    Numba optimises each function and generates its machine code, then does all of it again in each function that calls
    it: in a chain of five calls, five times. A part is only linked into its callers. Without this, compiling takes
    half as long again.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # there is no machine code

    @property
    def codegen(self) -> Any:
        return _CodegenOfPart(self._codegen)


class _CodegenOfPart:
    """Numba's code generator, for functions without machine code: they have no environment either."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _PartCompiler(Compiler):  # type: ignore[misc]
    def compile_extra(self, function: Any) -> Any:
        self.state.library = _Part(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


_INNER: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "cache": False, "pipeline_class": _PartCompiler}


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Compiled kernels on disk.

    Numba's own loads all that it knows to compile before it loads a kernel that need not be compiled: a third of a
    second of every command. And of two processes that save at the same time, it may lose what one of them saved, or
    give both the same file.
    """

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # what kernels call to allocate and to count references
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with _one_at_a_time(self.cache_path):
            super().save_overload(signature, compiled)


@contextmanager
def _one_at_a_time(folder: str) -> Iterator[None]:
    """Wait until no other process is inside such a block for a folder; at once where that cannot be arranged."""
    try:
        import fcntl

        file = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o666)
    except (ImportError, OSError):  # Windows; a folder that nobody may write to
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


_naming_a_folder = Lock()  # files are read, and their kernels loaded, while another thread loads others


def _compile_lazily(function: Any, *, cache: bool = True, **options: Any) -> Any:
    # A wrapper for calls from C would be compiled for each kernel, too, and nothing calls them from there.
    options |= {"nogil": True, "fastmath": FAST, "error_model": "numpy", "no_cfunc_wrapper": True}
    dispatcher = nb.njit(**options)(function)
    if cache:
        with _naming_a_folder:
            before = nb.config.CACHE_DIR
            nb.config.CACHE_DIR = kernel_cache(Path(function.__code__.co_filename))
            try:
                dispatcher._cache = _KernelCache(function)  # reads that, right here
            finally:
                nb.config.CACHE_DIR = before
    return dispatcher


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
    return os.path.join(cache_folder(), f"kernels-{hashlib.sha256(content).hexdigest()[:12]}")


def cache_folder() -> Path:
    """The folder that holds the folders of compiled kernels."""
    base = os.environ.get("NUMBA_CACHE_DIR") or str(PACKAGE / "__pycache__")
    if not os.access(base if os.path.isdir(base) else PACKAGE, os.W_OK):  # installed for all users
        home = os.path.expanduser("~")
        base = os.path.join(home, ".cache") if os.access(home, os.W_OK) else tempfile.gettempdir()
        base = os.path.join(base, "plenodepth")
    return Path(base)


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
