"""Loaded first by the workers that the driver starts beside itself, in their main thread."""

from __future__ import annotations

import signal
from typing import Any

from plenodepth.memory import keep_freed_memory


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C to the driver, which stops its workers; and set the memory before there are other threads.

    A thread that has begun keeps its own part of the memory, which goes back to the system between two arrays.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    keep_freed_memory()
