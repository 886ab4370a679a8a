"""A line for who waits while kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


@contextmanager
def compiling_notice(say: Callable[[str], None], *, refined: bool) -> Iterator[None]:
    """Say once, when the first kernel is compiled inside the block, how long that takes; nothing if none is."""
    from plenodepth.compiling import watched_compilation
    from plenodepth.metric.warm_up import COARSE_SECONDS, seconds_to_compile

    first = Lock()  # bands of a frame compile in several threads
    expected = seconds_to_compile(refined=refined) or COARSE_SECONDS // 4  # the search is there, something else is not

    def notice(_: Any) -> None:
        if first.acquire(blocking=False):
            say(f"compiling kernels, once (about {expected} s)")

    with watched_compilation(notice):
        yield
