"""How many threads a step uses, and work that is split among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from plenodepth.errors import InputError

ROWS_AT_A_TIME = 64  # even, so that a band starts with the first row of a Bayer pattern; small enough for the cache

T = TypeVar("T")

_limit: ContextVar[int | None] = ContextVar("threads", default=None)


def thread_count(wanted: int | None = None) -> int:
    """The number that was asked for, that of the surrounding `limited_threads`, or one thread per core."""
    if wanted is not None and wanted < 1:
        raise InputError(f"is {wanted}, needs a whole number ≥ 1", field="threads")
    return wanted or _limit.get() or os.cpu_count() or 1


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Inside the block every step uses so many threads unless it is told another number; None changes nothing."""
    token = _limit.set(thread_count(count) if count is not None else _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


def each_band(height: int, work: Callable[[slice], T], *, rows: int = ROWS_AT_A_TIME) -> list[T]:
    """Call `work` with slices of rows that cover 0 … height − 1, on all threads; what it returns, in their order."""
    bands = [slice(first, min(first + rows, height)) for first in range(0, height, rows)]
    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(work, bands))
