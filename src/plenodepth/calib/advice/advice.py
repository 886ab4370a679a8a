"""A weak spot of a calibration in words."""

from __future__ import annotations

from dataclasses import dataclass

MUST, SHOULD, MAY = 3, 2, 1  # importance


@dataclass(frozen=True)
class Advice:
    """What was found and what to do. `importance`: 3 the result may be wrong, 2 worth doing, 1 good to know."""

    importance: int
    rule: str
    finding: str
    remedy: str
