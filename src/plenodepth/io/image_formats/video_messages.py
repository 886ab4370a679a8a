"""What FFmpeg says while it decodes. A wrong checksum of FFV1 is told nowhere else: the frame is repaired and given.

PyAV hands messages on only if a level is set, which is one for the whole process. So it is set while a packet is
decoded and put back after, once no other thread decodes. Only messages of the thread that asks are taken. A decoder
that logs from threads of its own, which may still run when it is closed, would wait for Python for ever: listen to none
of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class _Level:
    """PyAV's level of messages, raised to errors while anybody listens."""

    def __init__(self) -> None:
        self.lock, self.listeners = Lock(), 0
        self.before: tuple[int | None, bool] = (None, True)

    def raised(self, logging: Any) -> None:
        with self.lock:
            self.listeners += 1
            if self.listeners == 1:
                self.before = logging.get_level(), logging.get_skip_repeated()
                level = self.before[0]
                logging.set_level(logging.ERROR if level is None else max(level, logging.ERROR))
                logging.set_skip_repeated(False)  # what was said of another file may be said again of this one

    def lowered(self, logging: Any) -> None:
        with self.lock:
            self.listeners -= 1
            if not self.listeners:
                logging.set_level(self.before[0])
                logging.set_skip_repeated(self.before[1])


_level = _Level()


@contextmanager
def errors_said(av: Any) -> Iterator[list[str]]:
    """The errors that FFmpeg logs from this thread inside the block; complete when it has ended."""
    said = list[str]()
    _level.raised(av.logging)
    try:
        with av.logging.Capture(local=True) as messages:
            yield said
    finally:
        _level.lowered(av.logging)
        said += [text.strip() for level, _, text in messages if level <= av.logging.ERROR]
