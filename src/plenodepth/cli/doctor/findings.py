"""What a check found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "failed"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report. Only `failed` is a fault; a note may be of use."""

    name: str
    state: State
    text: str
    fix: str = ""
