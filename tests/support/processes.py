"""Runs of the command in processes of their own, which may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from commands import COMPILING, PROGRESS

SCRIPTS = Path(sysconfig.get_path("scripts"))
PLENODEPTH = SCRIPTS / "plenodepth"
DASK = SCRIPTS / "dask"
LIMIT = 240.0  # s, on a busy machine

Command = list[object]


def start(*command: object, folder: Path | None = None, **variables: str) -> subprocess.Popen[str]:
    """A process in a group of its own, as a shell starts one."""
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **variables},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a process that ends by itself; how far it was is left out, as in other tests."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        kill_group(process)
        raise
    return process.returncode, out, PROGRESS.sub("", COMPILING.sub("", err))


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=LIMIT)


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something to come true."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def children(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    import psutil

    return [child.pid for child in psutil.Process(process).children(recursive=True)]


@contextmanager
def scheduler_and_workers(folder: Path, *workers: list[str]) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """A scheduler on the loopback and workers started by hand, with these options each: its address and the workers."""
    with socket_port() as port:
        address = f"tcp://127.0.0.1:{port}"
    options = ("--host", "127.0.0.1", "--no-dashboard")
    started = [start(DASK, "scheduler", "--port", port, *options, folder=folder)]
    try:
        for number, own in enumerate(workers):
            name = ("--name", f"worker {number}", "--nthreads", "1", "--local-directory", folder / "workers")
            started.append(start(DASK, "worker", address, *options, *name, *own, folder=folder))
        yield address, started[1:]
    finally:
        for process in reversed(started):
            kill_group(process)


@contextmanager
def socket_port() -> Iterator[int]:
    """A free port."""
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield one.getsockname()[1]
