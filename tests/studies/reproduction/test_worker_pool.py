"""Jobs are done once, in order, side by side; their results, what they say and their errors reach the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pool_jobs import add, collect, fail, threads, total, wait_for_the_end

from plenodepth.errors import InputError
from plenodepth.studies.reproduction.jobs import Job, jobs_in_order
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import WorkerPool


class Watcher:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []

    def planned(self, jobs: list[Job[Any]]) -> None:
        self.events += [("planned", job.what) for job in jobs]

    def started(self, job: Job[Any]) -> None:
        self.events.append(("started", job.what))

    def progressed(self, job: Job[Any], done: int, total: int, what: str) -> None:
        self.events.append((what, job.what))

    def finished(self, job: Job[Any]) -> None:
        self.events.append(("finished", job.what))


def job(work: Callable[..., Any], *arguments: Any, what: str = "") -> Job[Any]:
    return Job(work, arguments, "stage", what)


def nested() -> Job[int]:
    """1 + 2 = 3 twice, 3 + 4 = 7, 7 + 3 = 10."""
    three = job(add, 1, 2, what="3")
    return job(total, (job(add, three, 4, what="7"), job(add, 1, 2, what="3 again")), what="10")


def test_a_job_comes_after_those_that_it_needs_and_equal_jobs_are_one() -> None:
    assert [one.what for one in jobs_in_order(nested())] == ["3", "7", "10"]


def test_one_process_does_each_job_once_and_remembers_it(tmp_path: Path) -> None:
    watcher = Watcher()
    with WorkerPool(Study(tmp_path), watcher) as pool:
        assert pool.run(nested()) == 10
        assert pool.run(job(add, 1, 2)) == 3
    assert (tmp_path / "log.txt").read_text() == "3\n7\n"
    assert watcher.events[:6] == [
        ("planned", "3"), ("planned", "7"), ("planned", "10"), ("started", "3"), ("adding", "3"), ("finished", "3"),
    ]  # fmt: skip


def test_several_processes_give_the_same_and_an_error_ends_all_of_them(tmp_path: Path) -> None:
    # One pool for all, since processes take a second to start.
    watcher = Watcher()
    with pytest.raises(InputError, match="is no dataset"):
        run_in_two_processes(Study(tmp_path, threads=4, processes=2), watcher)
    assert {("started", "3"), ("adding", "3"), ("finished", "3"), ("finished", "10")} <= set(watcher.events)
    assert ("finished", "a job that waits") not in watcher.events


def run_in_two_processes(study: Study, watcher: Watcher) -> None:
    with WorkerPool(study, watcher) as pool:
        assert pool.run(nested()) == 10
        assert sorted((study.out / "log.txt").read_text().split()) == ["3", "7"]
        assert pool.run(job(threads, 0)) == 4  # one job has all threads
        shared = Job(collect, tuple(job(threads, number) for number in (1, 2)), "stage", in_caller=True)
        assert pool.run(shared) == (2, 2)
        pool.run(job(collect, job(wait_for_the_end, what="a job that waits"), job(fail)))


def test_a_study_can_be_told_from_another(tmp_path: Path) -> None:
    assert len({Study(tmp_path), replace(Study(tmp_path), seed=1), Study(tmp_path)}) == 2
