"""Processes that work ahead. Every step keeps its result on disk, so that what they have done need only be read."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from types import TracebackType
from typing import Any, NamedTuple, Self

from plenodepth.studies.reproduction.study import Study

# A worker's own: where it tells the progress it makes, and whether it is to stop.
_said: Any = None
_over: Any = None


class Task(NamedTuple):
    """A step to be done ahead: `work(study, *arguments)`, whose result is on disk then."""

    work: Callable[..., object]
    arguments: tuple[Any, ...]


class Crew:
    """`study.processes` workers, each with its share of the threads; none where one would do it all."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._pool: ProcessPoolExecutor | None = None
        self._queue: Any = None
        self._over: Any = None
        self._listener: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._study.processes > 1:
            context = multiprocessing.get_context("spawn")  # threads do not survive a fork
            self._queue = context.Queue()
            self._over = context.Event()
            self._pool = ProcessPoolExecutor(self._study.processes, context, _begin, (self._queue, self._over))
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            if error is not None:
                self._over.set()
            self._pool.shutdown(cancel_futures=True)
            self._queue.put(None)
        if self._listener is not None:
            self._listener.join()

    def work_ahead(self, tasks: Sequence[Task]) -> None:
        """Do tasks that do not need each other. The first error of one is raised; leaving the crew stops the others."""
        if self._pool is None or len(tasks) < 2:
            return
        threads = max(1, self._study.threads // self._study.processes)
        told = replace(self._study, threads=threads, processes=1, progress=_tell)
        begun = [self._pool.submit(_work, task, told) for task in tasks]
        done, _ = wait(begun, return_when=FIRST_EXCEPTION)
        try:
            for future in done:
                future.result()
        except BrokenProcessPool:
            # A worker was killed, most likely for its memory: one process goes on alone.
            self._pool.shutdown()
            self._pool = None
            self._queue.put(None)

    def _listen(self) -> None:
        while (message := self._queue.get()) is not None:
            self._study.progress(*message)


class StoppedError(Exception):
    """Ends a task whose result nobody waits for any more; what it was writing is cleaned up on the way."""


def _begin(queue: Any, over: Any) -> None:
    global _said, _over
    _said, _over = queue, over


def _tell(done: int, total: int, what: str) -> None:
    if _over.is_set():
        raise StoppedError
    _said.put((done, total, what))


def _work(task: Task, study: Study) -> None:
    if not _over.is_set():  # a pool fetches some tasks before they can be cancelled
        task.work(study, *task.arguments)
