"""SIGTERM and SIGHUP end a run as Ctrl-C does: what it has begun is cleaned up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNAL_BASE = 128  # a shell's exit code for a program that signal n has ended: 128 + n
SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP


@contextmanager
def stop_on_signals() -> Iterator[list[int]]:
    """Interrupt the block, as Ctrl-C does, where one of the signals comes; gives the list that its number goes into.

    Signals that were ignored, as nohup has it, stay so.
    """
    came = list[int]()

    def stop(number: int, frame: FrameType | None) -> None:
        # Once: a terminal that is closed sends several, and the clean-up is to finish.
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        came.append(number)
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()  # only that one may set handlers
    taken = [number for number in SIGNALS if main and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, stop)
        yield came
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
