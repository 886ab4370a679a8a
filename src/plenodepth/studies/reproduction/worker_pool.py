"""Processes that do the jobs of a reproduction side by side."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from plenodepth.studies.reproduction.jobs import Job, JobWatcher, arguments_of, jobs_in_order, needed_jobs
from plenodepth.studies.reproduction.study import Study

T = TypeVar("T")

# Of a worker process: the queue for its messages, and the event that tells it to stop.
_messages: Any = None
_stop: Any = None


class WorkerPool:
    """Does jobs in `study.processes` processes that share the threads; in the calling process if that is one.

    Results are remembered: a job that two experiments need is done once.
    """

    def __init__(self, study: Study, watcher: JobWatcher | None = None) -> None:
        self._study = study
        self._watcher = watcher
        self._lock = threading.Lock()  # the watcher hears from this thread and from the listener
        self._results: dict[Job[Any], Any] = {}
        self._numbered: list[Job[Any]] = []  # messages name a job by its number
        self._executor: ProcessPoolExecutor | None = None
        self._queue: Any = None
        self._stop: Any = None
        self._listener: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._study.processes > 1:
            context = multiprocessing.get_context("spawn")  # threads do not survive a fork
            # As for commands: threads of BLAS that wait in a loop would take the cores from those that work.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            self._queue = context.Queue()
            self._stop = context.Event()
            self._executor = ProcessPoolExecutor(self._study.processes, context, _begin, (self._queue, self._stop))
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None and error is not None:
            self._stop.set()
        self._end_processes()

    def _end_processes(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None
        if self._listener is not None:
            self._queue.put(None)
            self._listener.join()
            self._listener = None

    def run(self, job: Job[T]) -> T:
        """The result of a job; it and all jobs that it needs are done. The first error is raised."""
        order = [one for one in jobs_in_order(job) if one not in self._results]
        self._tell("planned", order)
        if self._executor is not None:
            try:
                self._run_side_by_side(order)
            except BrokenProcessPool:
                self._end_processes()  # a worker was killed, most likely for its memory: this process goes on alone
        for one in order:
            if one not in self._results:
                self._run_here(one)
        result: T = self._results[job]
        return result

    def _run_side_by_side(self, order: list[Job[Any]]) -> None:
        waiting, running = dict.fromkeys(order), dict[Future[Any], Job[Any]]()
        while waiting or running:
            ready = [job for job in waiting if all(needed in self._results for needed in needed_jobs(job))]
            for job in ready:
                del waiting[job]
            here = [job for job in ready if job.in_caller]
            handed = [job for job in ready if not job.in_caller]
            for job in handed:
                running[self._submit(job, len(running) + len(handed))] = job
            for job in here:
                self._run_here(job)
            if here or not running:
                continue
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                job = running.pop(future)
                self._results[job] = future.result()
                self._tell("finished", job)

    def _submit(self, job: Job[Any], busy: int) -> Future[Any]:
        assert self._executor is not None
        threads = max(1, self._study.threads // min(self._study.processes, busy))
        study = replace(self._study, threads=threads, processes=1, progress=_say_nothing)
        self._numbered.append(job)
        arguments = arguments_of(job, self._results)
        return self._executor.submit(_work, len(self._numbered) - 1, job.work, study, arguments)

    def _run_here(self, job: Job[Any]) -> None:
        def progress(done: int, total: int, what: str) -> None:
            self._tell("progressed", job, done, total, what)

        self._tell("started", job)
        study = replace(self._study, processes=1, progress=progress)
        self._results[job] = job.work(study, *arguments_of(job, self._results))
        self._tell("finished", job)

    def _listen(self) -> None:
        while (message := self._queue.get()) is not None:
            event, number, *rest = message
            self._tell(event, self._numbered[number], *rest)

    def _tell(self, event: str, *what: Any) -> None:
        if self._watcher is not None:
            with self._lock:
                getattr(self._watcher, event)(*what)


class StoppedError(Exception):
    """Ends a job whose result nobody waits for any more; what it was writing is cleaned up on the way."""


def _begin(messages: Any, stop: Any) -> None:
    global _messages, _stop
    _messages, _stop = messages, stop
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker process when the process that started it is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _say_nothing(done: int, total: int, what: str) -> None:
    """Stands for the progress of a job until its worker process replaces it."""


def _work(number: int, work: Callable[..., Any], study: Study, arguments: tuple[Any, ...]) -> Any:
    def progress(done: int, total: int, what: str) -> None:
        if _stop.is_set():
            raise StoppedError
        _messages.put(("progressed", number, done, total, what))

    if _stop.is_set():  # the executor hands out some jobs before they can be cancelled
        raise StoppedError
    _messages.put(("started", number))
    return work(replace(study, progress=progress), *arguments)
