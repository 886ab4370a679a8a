"""What every engine does."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Protocol

from plenodepth.batch.job import Outcome
from plenodepth.batch.queue import Task, TaskQueue
from plenodepth.batch.recipe import Recipe

Outcomes = Generator[tuple[Task, Outcome]]
Say = Callable[[str], None]


class Engine(Protocol):
    """Makes frames until the queue is empty. Closing the generator stops the work."""

    def outcomes(self, queue: TaskQueue, recipe: Recipe, unfinished: Path, say: Say) -> Outcomes:
        """What came of each task; one that failed may be put back into the queue before the next is asked for."""
