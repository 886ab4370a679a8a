"""Frames on the workers of a cluster of Dask's.

Dask carries messages and data and knows which workers there are; which frame goes to which worker is decided here. So a
frame that failed goes to another worker, one that was being made by a worker that is lost counts as tried there, no
worker of another version gets any, and each has no more frames waiting than are stated.
"""

from __future__ import annotations

import pickle
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from plenodepth.batch.engines.engine import Outcomes, Say
from plenodepth.batch.engines.sizing import frames_at_a_time
from plenodepth.batch.engines.worker import Order, work, work_shipped
from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.job import Outcome, input_state
from plenodepth.batch.manifest import FileState
from plenodepth.batch.queue import Task, TaskQueue
from plenodepth.batch.recipe import Recipe, program
from plenodepth.batch.sequences import SequenceReader
from plenodepth.errors import InputError, PlenodepthError
from plenodepth.io import read_bytes
from plenodepth.io.image_formats import StoredImage

if TYPE_CHECKING:
    from distributed import Client, Future

WAITING = 1  # frames that a worker has besides those that it makes, so that it never waits for the next
LOOK = 1.0  # s between two looks at the workers
PATIENCE = 300.0  # s without any worker
GRACE = 30.0  # s for others to come where all that are there are refused
FETCH = 60.0  # s for a result of a finished frame

Connect = Callable[[Recipe, Path, int, Say], AbstractContextManager["Client"]]


@dataclass(frozen=True)
class Cluster:
    """Workers that `connect` brings: by path where they see our files, or by `ship`, in bytes both ways.

    `resource`: only workers with this tag, as many frames at a time as they have of it. `threads` of a frame: by
    default those of the worker, shared by as many frames as its memory takes.
    """

    connect: Connect
    ship: bool = False
    resource: str | None = None
    threads: int | None = None
    waiting: int = WAITING
    patience: float = PATIENCE

    def outcomes(self, queue: TaskQueue, recipe: Recipe, unfinished: Path, say: Say) -> Outcomes:
        """Make all frames of the queue."""
        with self.connect(recipe, unfinished, len(queue), say) as client:
            driver = _Driver(self, client, queue, recipe, unfinished.absolute(), say)
            try:
                yield from driver.run()
            finally:
                driver.end()


@dataclass(eq=False)
class _Worker:
    address: str
    name: str
    slots: int
    greeting: Any = None  # the future of its answer; None once it is welcome
    refused: bool = False
    tasks: dict[Task, Any] = field(default_factory=dict)  # and their futures, in the order in which they were sent


class _Driver:
    """One run on a cluster."""

    def __init__(
        self, cluster: Cluster, client: Client, queue: TaskQueue, recipe: Recipe, unfinished: Path, say: Say
    ) -> None:
        self._cluster, self._queue, self._say = cluster, queue, say
        self._client: Any = client
        self._recipe, self._unfinished = recipe, unfinished
        self._run = secrets.token_hex(8)
        self._workers = dict[str, _Worker]()
        self._finished = SimpleQueue[tuple[_Worker, Task | None, Any]]()
        self._sequences = SequenceReader(recipe)
        self._inputs = dict[Task, FileState]()
        self._contents = {path: read_bytes(path) for path in recipe.files} if cluster.ship else {}
        self._looked = self._idle_since = 0.0

    def run(self) -> Outcomes:
        """Send frames to workers as these have room, until all have come back."""
        while len(self._queue) or any(worker.tasks for worker in self._workers.values()):
            yield from self._look()
            yield from self._send()
            yield from self._receive()

    def end(self) -> None:
        """Drop what is still under way, and what was sent."""
        self._sequences.close()
        for worker in self._workers.values():
            for future in [worker.greeting, *worker.tasks.values()]:
                if future is not None:
                    with suppress(Exception):  # the scheduler may be gone
                        future.cancel(force=True)

    def _look(self) -> Outcomes:
        """See which workers have come and gone; the frames of those that are lost come back."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self._client.status != "running":
            raise InputError("is gone", field="the scheduler", fix="start it, and run the same command again")
        there: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        for address in [address for address in self._workers if address not in there]:
            yield from self._lost(self._workers.pop(address))
        for address, state in there.items():
            if address not in self._workers and state.get("status", "running") in ("running", "paused"):
                self._meet(address, state)
        self._require_workers(now, len(there))

    def _meet(self, address: str, state: dict[str, Any]) -> None:
        """Greet a worker: it answers whether its program is ours, and takes the recipe."""
        slots = frames_at_a_time(int(state["nthreads"]), int(state.get("memory_limit") or 0), self._recipe)
        tag = self._cluster.resource
        if tag is not None:
            slots = int(state.get("resources", {}).get(tag, 0))
        threads = self._cluster.threads or max(1, int(state["nthreads"]) // max(slots, 1))
        worker = self._workers[address] = _Worker(address, str(state.get("name", address)), slots)
        if slots == 0:  # has not the tag
            worker.refused = True
            return
        order = pickle.dumps(Order(self._absolute(replace(self._recipe, threads=threads)), slots, self._contents))
        worker.greeting = self._submit(worker, None, _greeting(), program(), self._run, order)

    def _absolute(self, recipe: Recipe) -> Recipe:
        """The recipe for workers that stand in another folder; the paths of files that are shipped are but names."""
        return recipe if self._contents else recipe.moved({path: path.absolute() for path in recipe.files})

    def _require_workers(self, now: float, count: int) -> None:
        """Stop a run that nobody works for."""
        if any(not worker.refused for worker in self._workers.values()):
            self._idle_since = 0.0
            return
        if not self._idle_since:
            self._idle_since = now
            self._say("waiting for workers")
        waited, tag = now - self._idle_since, self._cluster.resource
        if self._workers and waited > min(GRACE, self._cluster.patience):
            why = f" that has the resource {tag} and" if tag else ""
            raise InputError(f"has no worker{why} whose program is ours", field="the cluster", fix="see docs/batch.md")
        if waited > self._cluster.patience:
            raise InputError(f"has had no worker for {waited:.0f} s", field="the cluster", fix="start some")

    def _send(self) -> Outcomes:
        """Give every worker as many frames as it has room for; first those that have none."""
        ready = [worker for worker in self._workers.values() if not worker.refused and worker.greeting is None]
        names = {worker.address for worker in ready}
        for room in range(max((worker.slots for worker in ready), default=0) + self._cluster.waiting):
            for worker in ready:
                if len(worker.tasks) > room or room >= worker.slots + self._cluster.waiting:
                    continue
                task = self._queue.take(worker.address, names)
                if task is None:
                    continue
                try:
                    self._send_to(worker, task)
                except PlenodepthError as error:  # its file cannot be read here, so cannot be shipped
                    yield task, Outcome(error=str(error), worker=worker.name)

    def _send_to(self, worker: _Worker, task: Task) -> None:
        frame = task.frame
        if not (self._cluster.ship or frame.in_video):
            absolute = replace(frame, path=frame.path.absolute())
            worker.tasks[task] = self._submit(worker, task, work, self._run, absolute, self._unfinished)
            return
        shipped = self._read(frame)
        self._inputs[task] = input_state(frame)
        [data] = self._client.scatter([shipped], workers=[worker.address], hash=False)
        place = None if self._cluster.ship else self._unfinished
        worker.tasks[task] = self._submit(worker, task, work_shipped, self._run, frame, data, place)

    def _read(self, frame: BatchFrame) -> bytes | StoredImage:
        return read_bytes(frame.path) if frame.number is None else self._sequences.read(frame)

    def _submit(self, worker: _Worker, task: Task | None, function: Any, *arguments: Any) -> Future[Any]:
        """Call a function on a worker, and on no other; what it returns goes to `_finished`."""
        options = {} if self._cluster.resource is None or task is None else {self._cluster.resource: 1}
        future: Future[Any] = self._client.submit(
            function,
            *arguments,
            key=f"plenodepth-{self._run}-{secrets.token_hex(4)}",
            workers=[worker.address],
            allow_other_workers=False,
            resources=options or None,
            pure=False,
        )
        finished = self._finished
        future.add_done_callback(lambda _: finished.put((worker, task, future)))  # type: ignore[no-untyped-call]
        return future

    def _receive(self) -> Outcomes:
        """Take what has come back, if only after a moment."""
        try:
            worker, task, future = self._finished.get(timeout=LOOK / 4)
        except Empty:
            return
        if task is None:
            self._answered(worker, future)
        elif task in worker.tasks and worker.tasks[task] is future:
            try:
                outcome = future.result(timeout=FETCH)
            except Exception as error:
                if self._client.status != "running" or _is_loss(error):
                    return  # `_look` finds out, and counts what was lost
                said = " ".join(f"{task.frame.path}: {type(error).__name__}: {error}".split())
                outcome = Outcome(error=said)
            del worker.tasks[task]
            given = self._inputs.pop(task, None)
            yield task, replace(outcome, worker=worker.name, input=given or outcome.input)

    def _answered(self, worker: _Worker, future: Any) -> None:
        """A worker has answered the greeting."""
        try:
            different = future.result(timeout=FETCH)
        except Exception as error:
            if _is_loss(error):
                return
            different = " ".join(f"{type(error).__name__}: {error}".split())
        worker.greeting = None
        if different:
            worker.refused = True
            self._say(f"worker {worker.name} ({worker.address}) is refused: {different}")

    def _lost(self, worker: _Worker) -> Outcomes:
        """A worker is gone: the frames that it was making have been tried there, those that waited have not."""
        if not worker.tasks:
            return
        self._say(f"worker {worker.name} ({worker.address}) is lost")
        for place, (task, future) in enumerate(worker.tasks.items()):
            with suppress(Exception):
                future.cancel(force=True)
            self._inputs.pop(task, None)
            if place < worker.slots:
                error = f"{task.frame.path}: the worker {worker.name} was lost while it made this frame"
                yield task, Outcome(error=error, worker=worker.name)
            else:
                self._queue.untried(task)


def _is_loss(error: Exception) -> bool:
    """Whether an error says that the worker is gone, and nothing of the frame."""
    from asyncio import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    return isinstance(error, CancelledError | FutureCancelledError | KilledWorker | TimeoutError | OSError)


def _greeting() -> Callable[..., str]:
    """The greeting, a function inside a function: Dask sends its code, which a worker without this package can run."""

    def greet(own: dict[str, str], run: str, order: bytes) -> str:
        try:
            from plenodepth.batch.engines.worker import welcome
        except Exception as error:
            return f"it has no such plenodepth ({error})"
        return welcome(own, run, order)

    return greet
