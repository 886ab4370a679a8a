"""One frame after the other in this process, each on all threads; needs no other package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from plenodepth.batch.engines.engine import Outcomes, Say
from plenodepth.batch.job import make_frame
from plenodepth.batch.queue import TaskQueue
from plenodepth.batch.recipe import Recipe
from plenodepth.threads import thread_count

HERE = "this process"


@dataclass(frozen=True)
class InProcess:
    """`threads` of a frame: by default one per core."""

    threads: int | None = None

    def outcomes(self, queue: TaskQueue, recipe: Recipe, unfinished: Path, say: Say) -> Outcomes:
        """Make all frames of the queue."""
        recipe = replace(recipe, threads=thread_count(self.threads))
        while (task := queue.take(HERE, {HERE})) is not None:
            yield task, replace(make_frame(task.frame, recipe, unfinished), worker=HERE)
