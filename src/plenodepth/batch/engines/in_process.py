"""One frame after the other in this process, each on all threads; needs no other package."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from plenodepth.batch.engines.engine import Outcomes, Say
from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.job import Outcome, input_state, make_frame
from plenodepth.batch.queue import TaskQueue
from plenodepth.batch.recipe import Recipe
from plenodepth.batch.sequences import SequenceReader
from plenodepth.errors import PlenodepthError
from plenodepth.threads import thread_count

HERE = "this process"


@dataclass(frozen=True)
class InProcess:
    """`threads` of a frame: by default one per core."""

    threads: int | None = None

    def outcomes(self, queue: TaskQueue, recipe: Recipe, unfinished: Path, say: Say) -> Outcomes:
        """Make all frames of the queue."""
        recipe = replace(recipe, threads=thread_count(self.threads))
        with closing(SequenceReader(recipe)) as sequences:
            while (task := queue.take(HERE, {HERE})) is not None:
                outcome = _made(task.frame, recipe, unfinished, sequences)
                yield task, replace(outcome, worker=HERE)


def _made(frame: BatchFrame, recipe: Recipe, unfinished: Path, sequences: SequenceReader) -> Outcome:
    if not frame.in_video:
        return make_frame(frame, recipe, unfinished)
    try:
        given, stored = input_state(frame), sequences.read(frame)
    except PlenodepthError as error:
        return Outcome(error=str(error))
    return replace(make_frame(frame, recipe, unfinished, stored=stored), input=given)
