"""How many threads a step uses."""

from __future__ import annotations

import os

from plenodepth.errors import InputError


def thread_count(wanted: int | None = None) -> int:
    """The number that was asked for, or one thread per core."""
    if wanted is not None and wanted < 1:
        raise InputError(f"is {wanted}, needs a whole number ≥ 1", field="threads")
    return wanted or os.cpu_count() or 1
