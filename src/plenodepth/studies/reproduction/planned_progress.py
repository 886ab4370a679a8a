"""How far a reproduction is, in planned seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.results import Stage

ShowProgress = Callable[[float, float, str], None]  # seconds done, seconds planned in all, what is being done


class PlannedProgress:
    """Watches jobs and counts planned seconds, in whatever order stages come.

    The jobs of a stage share its planned seconds by their weights. A job that runs counts the time since it began, up
    to its share; a job that is done counts its share in full. So does a stage that has nothing left to do.
    """

    def __init__(
        self, stages: Sequence[Stage], show: ShowProgress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stages = {stage.experiment: stage.seconds for stage in stages}
        self._shares: dict[Job[Any], float] = {}
        self._began: dict[Job[Any], float] = {}
        self._done = 0.0
        self._show = show
        self._clock = clock

    def planned(self, jobs: list[Job[Any]]) -> None:
        """Divide the seconds of stages among the jobs that will be done now."""
        for stage in {job.stage for job in jobs} & set(self._stages):
            weights = {job: job.weight for job in jobs if job.stage == stage}
            total = sum(weights.values())
            if total > 0:
                seconds = self._stages.pop(stage)
                self._shares |= {job: seconds * weight / total for job, weight in weights.items()}

    def stage_over(self, name: str) -> None:
        """A stage has nothing left to do: count it in full."""
        self._done += self._stages.pop(name, 0.0)

    def started(self, job: Job[Any]) -> None:
        """A job has begun."""
        self._began[job] = self._clock()
        if job.what:
            self._tell(job.what)

    def progressed(self, job: Job[Any], done: int, total: int, what: str) -> None:
        """A job says what it does."""
        if job in self._began:  # a message may come after the end
            text = f"{job.what}: {what}"
            self._tell(f"{text} ({done + 1}/{total})" if total > 1 and done < total else text)

    def finished(self, job: Job[Any]) -> None:
        """A job is done."""
        self._began.pop(job, None)
        self._done += self._shares.pop(job, 0.0)
        if job.what:
            self._tell(job.what)

    def _tell(self, what: str) -> None:
        now = self._clock()
        running = sum(min(now - began, self._shares.get(job, 0.0)) for job, began in self._began.items())
        left = sum(self._stages.values()) + sum(self._shares.values())
        self._show(self._done + running, self._done + left, what)
