"""Work that is asked for faster than it can be done: only the latest wish counts."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable


class LatestOnly:
    """Runs a function in a thread of its own, once for all the wishes that came while it ran."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._asked, self._closed = threading.Event(), False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def ask(self) -> None:
        """Have the function run, now or after its present run."""
        self._asked.set()

    def close(self) -> None:
        """End the thread, after the present run."""
        self._closed = True
        self._asked.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            if self._closed:
                return
            try:
                self._work()
            except Exception:  # the next wish may well succeed; a page that does nothing any more is worse
                traceback.print_exc()
