"""One bar over a plan: planned seconds of the jobs that are done, and of those that run."""

from __future__ import annotations

from typing import Any

import pytest

from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.planned_progress import PlannedProgress
from plenodepth.studies.reproduction.results import Stage

STAGES = [Stage("simulation", 100.0), Stage("calibration", 50.0), Stage("scale", 30.0), Stage("absolute", 20.0)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def job(stage: str, number: int = 0, weight: float = 1.0) -> Job[Any]:
    return Job(print, (number,), stage, f"{stage} {number}", weight)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shown() -> list[tuple[float, float, str]]:
    return []


@pytest.fixture
def progress(clock: Clock, shown: list[tuple[float, float, str]]) -> PlannedProgress:
    return PlannedProgress(STAGES, lambda *what: shown.append(what), clock)


def test_time_counts_up_to_the_plan_and_what_is_done_counts_in_full(
    progress: PlannedProgress, clock: Clock, shown: list[tuple[float, float, str]]
) -> None:
    one = job("simulation")
    progress.planned([one])
    progress.started(one)
    clock.now = 40
    progress.progressed(one, 3, 8, "boards/03")
    assert shown[-1] == (40, 200, "simulation 0: boards/03 (4/8)")
    clock.now = 300
    progress.progressed(one, 7, 8, "boards/07")
    assert shown[-1][0] == 100
    progress.finished(one)
    assert shown[-1][:2] == (100, 200)


def test_jobs_share_the_seconds_of_their_stage_by_weight(
    progress: PlannedProgress, shown: list[tuple[float, float, str]]
) -> None:
    light, heavy = job("scale", 1), job("scale", 2, weight=9)
    progress.planned([light, heavy, job("nothing of the plan", 3)])
    progress.finished(light)
    assert shown[-1][:2] == (3, 200)
    progress.finished(heavy)
    assert shown[-1][:2] == (30, 200)


def test_a_stage_without_jobs_counts_in_full_and_late_messages_are_left_out(
    progress: PlannedProgress, shown: list[tuple[float, float, str]]
) -> None:
    one = job("scale")
    progress.planned([one])
    progress.started(one)
    progress.finished(one)
    progress.stage_over("scale")
    progress.stage_over("absolute")
    told = len(shown)
    progress.progressed(one, 0, 1, "late")
    assert len(shown) == told
    progress.started(job("calibration"))
    assert shown[-1] == (50, 200, "calibration 0")
