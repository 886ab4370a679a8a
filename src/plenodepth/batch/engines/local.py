"""The workers of this machine: processes beside this one, as many as its cores and its memory take."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from plenodepth.batch.engines.clients import missing, quiet_client
from plenodepth.batch.engines.engine import Engine, Outcomes, Say
from plenodepth.batch.engines.in_process import InProcess
from plenodepth.batch.engines.sizing import bytes_of_frame, local_workers
from plenodepth.batch.queue import TaskQueue
from plenodepth.batch.recipe import Recipe
from plenodepth.threads import thread_count

if TYPE_CHECKING:
    from distributed import Client

NEEDED = "distributed"
GENEROUS = 2  # times the memory of a frame: what a worker may take at least before it is started anew
FEW = 2  # frames for each worker: fewer are done before the workers have started
# What Dask does beside the frames took 77 ms of CPU time in each second of a run with two workers; so it takes 10.
SETTINGS = {
    "distributed.worker.preload": ["plenodepth.batch.engines.worker_start"],
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
}


@dataclass(frozen=True)
class Local:
    """This machine. `workers`: by default by its cores and memory; 1: this process. `threads` are those of a frame."""

    workers: int | None = None
    threads: int | None = None
    ship: bool = False

    def outcomes(self, queue: TaskQueue, recipe: Recipe, unfinished: Path, say: Say) -> Outcomes:
        """Make all frames of the queue."""
        yield from self._engine(len(queue), recipe, say).outcomes(queue, recipe, unfinished, say)

    def _engine(self, frames: int, recipe: Recipe, say: Say) -> Engine:
        if self.workers == 1:
            return InProcess(self.threads)
        if not is_installed():
            if self.workers is not None:
                raise missing("--workers")
            say('one frame at a time; pip install "plenodepth[cluster]" makes several at a time')
            return InProcess(self.threads)
        from plenodepth.batch.engines.cluster import Cluster

        cores, memory = _machine()
        count = self.workers or min(local_workers(cores // (self.threads or 1), memory, recipe), frames // FEW)
        if count <= 1 and self.workers is None:
            return InProcess(self.threads)
        threads = self.threads or max(1, cores // count)
        limit = max(memory // count, GENEROUS * bytes_of_frame(recipe))
        return Cluster(partial(_started, count, threads, limit), ship=self.ship, threads=threads)


def is_installed() -> bool:
    """Whether the package is there that brings workers."""
    return find_spec(NEEDED) is not None


def _machine() -> tuple[int, int]:
    """Cores and free memory (bytes) that this process may use."""
    import psutil
    from dask.system import CPU_COUNT
    from distributed.system import MEMORY_LIMIT

    return min(CPU_COUNT, thread_count()), min(MEMORY_LIMIT, psutil.virtual_memory().available)


@contextmanager
def _started(
    count: int, threads: int, memory: int, recipe: Recipe, unfinished: Path, frames: int, say: Say
) -> Iterator[Client]:
    """A client of a cluster of processes on this machine, which end with the block, or with this process."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set(SETTINGS),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=min(count, max(1, frames)),
            threads_per_worker=threads,
            memory_limit=memory,
            processes=True,
            host="127.0.0.1",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            local_directory=str(unfinished / "workers"),
        ) as cluster,
        quiet_client(cluster, say) as client,
    ):
        yield client
