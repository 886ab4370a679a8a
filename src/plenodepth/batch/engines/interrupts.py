"""Loaded first by the workers that the driver starts beside itself: Ctrl-C is for the driver, which stops them."""

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """What Dask calls in the main thread of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
