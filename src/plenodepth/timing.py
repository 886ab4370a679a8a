"""What the stages of a frame take: seconds on the wall and of all processors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

STARTED = time.perf_counter()  # about when the program did: the command line imports this first of all


class Seconds(NamedTuple):
    """A time: by the clock on the wall, and summed over all processors."""

    wall: float = 0.0
    cpu: float = 0.0

    def plus(self, other: Seconds) -> Seconds:
        """Both times together."""
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)


class StageClock:
    """The times of the stages so far, by name, in the order in which they first ran."""

    def __init__(self, stages: dict[str, Seconds] | None = None) -> None:
        self.stages = dict(stages or {})

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add what the block takes to a stage."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.add(name, Seconds(time.perf_counter() - wall, time.process_time() - cpu))

    def add(self, name: str, taken: Seconds) -> None:
        """Add a time to a stage."""
        self.stages[name] = self.stages.get(name, Seconds()).plus(taken)

    @property
    def total(self) -> Seconds:
        """All stages together."""
        wall, cpu = (sum(part) for part in zip(*self.stages.values(), strict=True)) if self.stages else (0.0, 0.0)
        return Seconds(wall, cpu)
