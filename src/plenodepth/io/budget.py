"""How much memory a file may take: one rule for every reader, which looks before it allocates.

A small file can promise, or unpack to, more than the machine has. So a file may take 512 MiB, or eight times its own
size if that is more. Whoever trusts a file says so by the environment variable: `PLENODEPTH_MEMORY_PER_FILE=4G`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from plenodepth.errors import InputError

VARIABLE = "PLENODEPTH_MEMORY_PER_FILE"
DEFAULT = 512 << 20  # bytes
TIMES_ITS_SIZE = 8  # raw images are not packed more than this, without loss
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,15})([KMGT]?)", re.ASCII)


def memory_per_file() -> int:
    """The bytes that a small file may take."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return DEFAULT
    found = _SIZE.fullmatch(given.strip().upper().removesuffix("B").removesuffix("I"))
    if found is None or not int(found.group(1)):
        raise InputError(f"is '{given}'", field=VARIABLE, fix="give a number of bytes, such as 800M or 4G")
    return int(found.group(1)) * _UNITS[found.group(2)]


def require_memory(needed: int, path: Path | str | None, *, stored: int = 0, field: str | None = None) -> None:
    """Refuse a file of `stored` bytes that needs more bytes of memory than a file may take."""
    allowed = max(memory_per_file(), TIMES_ITS_SIZE * stored)
    if needed > allowed:
        message = f"needs {_text(needed)} of memory, of which a file may take {_text(allowed)}"
        raise InputError(message, file=path, field=field, fix=f"if you trust it, set {VARIABLE}={_enough(needed)}")


@dataclass
class MemoryOf:
    """What a file that names many things takes in all; each is added before it is made."""

    path: Path | str | None
    taken: int = 0

    def add(self, needed: int) -> None:
        """Count bytes; more in all than a file may take are refused."""
        self.taken += needed
        require_memory(self.taken, self.path)


def require_readable_size(size: int, path: Path | str) -> None:
    """Refuse to read a file whole that is larger than the machine's memory, as one full of holes may be."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return
    if size > memory:
        message = f"has {_text(size)}, more than the {_text(memory)} of this machine's memory"
        raise InputError(message, file=path, fix="give a smaller file")


def _text(count: int) -> str:
    unit = next((unit for unit in "TGM" if count >= _UNITS[unit]), "K")
    return f"{count / _UNITS[unit]:.3g} {unit}iB" if count < 1000 * _UNITS["T"] else "more than 1000 TiB"


def _enough(count: int) -> str:
    """What the variable must at least be."""
    unit = "G" if count > 10 * _UNITS["G"] else "M"
    return f"{-(-count // _UNITS[unit])}{unit}"
