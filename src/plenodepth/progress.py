"""How a long step says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]  # done, of how many, what


def no_progress(done: int, total: int, what: str) -> None:
    """Say nothing."""
