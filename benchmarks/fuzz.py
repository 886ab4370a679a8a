"""Tries every reader with files made a little wrong: each is read, or refused by our own error, within 5 s and 1 GB.

    python benchmarks/fuzz.py --count 100000 --seed 1

A worker process reads them; this one watches it. An error that is not ours, a crash, more than 5 s of CPU time, and
more than 1 GB of memory are failures: their inputs are kept in --keep. The same seed makes the same files.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import mmap
import os
import resource
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

SECONDS = 5.0  # of CPU time for one input
WAITING = 120.0  # seconds of the clock: an input that sleeps, on however busy a machine
MEMORY = 1 << 30  # bytes, more than the worker has before
AT_ONCE = 200  # inputs between two reports
TICKS = os.sysconf("SC_CLK_TCK")
NOW = struct.Struct("<qd")  # the input that is read, and the worker's CPU time before it
VIDEOS = (".avi", ".mkv", ".mp4")
FAILURES_SHOWN = 10
MOST_FAILURES = 50  # of a reader; then the next is tried


@dataclass
class Figures:
    """What became of the inputs of one reader."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    slowest: float = 0.0  # CPU-seconds
    seconds: float = 0.0  # CPU
    failures: list[str] = field(default_factory=list)


def main() -> int:
    """Run; 0: no failure."""
    from fuzz_readers import READERS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="inputs for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each reader; then the next is tried")
    parser.add_argument("--readers", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder for inputs that failed")
    parser.add_argument("--out", type=Path, help="figures as JSON")
    parser.add_argument("--list", action="store_true", help="name the readers")
    chosen = parser.parse_args()
    if chosen.list:
        print("\n".join(READERS))
        return 0
    names = chosen.readers or list(READERS)
    unknown = set(names) - set(READERS)
    if unknown:
        parser.error(f"no reader is called {', '.join(sorted(unknown))} (see --list)")
    found = dict[str, Figures]()
    print(
        f"{'reader':22} {'inputs':>8} {'read':>8} {'refused':>8} {'failed':>7} {'slowest':>8} {'a second':>8}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_memory_disk()) as folder:
        worker = Worker(Path(folder), chosen.keep, chosen.seed)
        try:
            for name in names:
                found[name] = tried(name, chosen, worker)
                print(line(name, found[name]), flush=True)
                for failure in found[name].failures[:FAILURES_SHOWN]:
                    print(f"    {failure}", flush=True)
                if chosen.out is not None:
                    content = {reader: vars(figures) for reader, figures in found.items()}
                    chosen.out.write_text(json.dumps({"seed": chosen.seed, "readers": content}, indent=1) + "\n")
        finally:
            worker.close()
    failed = sum(len(figures.failures) for figures in found.values())
    print(f"{sum(figures.inputs for figures in found.values())} inputs for {len(found)} readers, {failed} failures")
    return 1 if failed else 0


def line(name: str, figures: Figures) -> str:
    rate = figures.inputs / figures.seconds if figures.seconds else 0.0
    return (
        f"{name:22} {figures.inputs:8d} {figures.read:8d} {figures.refused:8d} {len(figures.failures):7d} "
        f"{figures.slowest:7.2f}s {rate:8.0f}"
    )


# --- watching ---------------------------------------------------------------------------------------------------


class Worker:
    """The process that reads. One that dies is replaced by the next order."""

    def __init__(self, folder: Path, keep: Path, seed: int) -> None:
        self.folder, self.keep, self.seed = folder, keep, seed
        self._board = folder / "now"
        self._board.write_bytes(bytes(NOW.size))
        self._process: subprocess.Popen[str] | None = None

    def reads(self, name: str, first: int, count: int, figures: Figures) -> int:
        """Let it read inputs of one reader; the number of the next one to read."""
        process = self._living()
        assert process.stdin is not None
        self._board.write_bytes(NOW.pack(first, 0.0))
        process.stdin.write(json.dumps([name, first, count]) + "\n")
        process.stdin.flush()
        seen, since, problem = -1, time.monotonic(), ""
        while not problem:
            if select.select([process.stdout], [], [], 0.5)[0]:
                assert process.stdout is not None
                report = process.stdout.readline()
                if report:
                    return _added(json.loads(report), figures)
                process.wait()
                problem = f"the worker ended with {process.returncode}"
                break
            now, before = NOW.unpack(self._board.read_bytes())
            if now != seen:
                seen, since = now, time.monotonic()
            problem = _too_long(process.pid, before, since)
        self.close()
        now, _ = NOW.unpack(self._board.read_bytes())
        figures.inputs += now - first + 1
        figures.failures.append(f"input {now}: {problem}")
        _keep(self.folder, self.keep, name, now)
        return int(now) + 1

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _living(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = [sys.executable, __file__, str(self.seed), str(self.folder), str(self.keep)]
            environment = {**os.environ, "FUZZ_WORKER": "1"}
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        return self._process


def tried(name: str, chosen: argparse.Namespace, worker: Worker) -> Figures:
    """The figures of one reader."""
    figures, started = Figures(), time.monotonic()
    position, end = chosen.first, chosen.first + chosen.count
    while position < end and time.monotonic() - started < chosen.seconds:
        position = worker.reads(name, position, min(AT_ONCE, end - position), figures)
        if len(figures.failures) >= MOST_FAILURES:
            break
    return figures


def _added(report: dict[str, Any], figures: Figures) -> int:
    for key in ("inputs", "read", "refused", "seconds"):
        setattr(figures, key, getattr(figures, key) + report[key])
    figures.slowest = max(figures.slowest, report["slowest"])
    figures.failures += report["failures"]
    return int(report["next"])


def _too_long(process: int, before: float, since: float) -> str:
    with contextlib.suppress(OSError, IndexError):
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        if before and (int(words[11]) + int(words[12])) / TICKS - before > 2 * SECONDS:  # else it tells by itself
            return f"more than {2 * SECONDS:g} s of CPU time"
    return f"more than {WAITING:g} s" if time.monotonic() - since > WAITING else ""


def _keep(folder: Path, keep: Path, name: str, number: int) -> None:
    inputs = list((folder / "input").glob("*"))
    keep.mkdir(parents=True, exist_ok=True)
    for path in inputs:
        (keep / f"{name.replace(' ', '-').replace(',', '')}-{number}-{path.name}").write_bytes(path.read_bytes())


def _memory_disk() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


# --- reading ----------------------------------------------------------------------------------------------------


def work(seed: int, folder: Path, keep: Path) -> None:
    """Read inputs as ordered by the lines of stdin, and report each order by a line."""
    import warnings

    import fuzz_readers  # noqa: F401  now, before stdout is nowhere

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    reports = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    last, good = "", b""
    with (folder / "now").open("r+b") as opened, mmap.mmap(opened.fileno(), NOW.size) as shared:
        for order in sys.stdin:
            name, first, count = json.loads(order)
            if name != last:
                last, good = name, prepared(name, folder / "input")
            figures = Figures()
            for number in range(first, first + count):
                shared[: NOW.size] = NOW.pack(number, time.process_time())
                problem = tried_once(name, good, f"{seed}:{name}:{number}", folder / "input", figures)
                if problem:
                    figures.failures.append(f"input {number}: {problem}")
                    _keep(folder, keep, name, number)
            print(json.dumps({**vars(figures), "next": first + count}), file=reports, flush=True)


def prepared(name: str, folder: Path) -> bytes:
    """The good file of a reader, which has been read once: what that loads is there before memory is limited."""
    from fuzz_readers import READERS

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    reader, path = READERS[name], folder / READERS[name].file
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    reader.make(path)
    good = path.read_bytes()
    path.write_bytes(reader.wrap(good))
    reader.read(path)
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    return good


def tried_once(name: str, good: bytes, seed: str, folder: Path, figures: Figures) -> str:
    """What is wrong with how an input was taken; empty if it was read or refused."""
    from fuzz_mutations import mutated
    from fuzz_readers import READERS

    reader = READERS[name]
    path = folder / reader.file
    path.write_bytes(reader.wrap(mutated(good, Random(seed))))
    started = time.process_time()
    problem = outcome(reader, path, figures)
    taken = time.process_time() - started
    figures.inputs += 1
    figures.seconds += taken
    figures.slowest = max(figures.slowest, taken)
    return problem or (f"took {taken:.1f} s of CPU time" if taken > SECONDS else "")


def outcome(reader: Any, path: Path, figures: Figures) -> str:
    """What is wrong with how a file was taken; empty if it was read or refused."""
    from plenodepth.errors import PlenodepthError

    try:
        reader.read(path)
    except PlenodepthError as error:
        figures.refused += 1
        if short_of_memory(error) and not taken_without_memory(reader, path):
            return f"more than 1 GB: {error}"
        return "" if len(str(error).splitlines()) == 1 else f"not one line: {error}"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:120]} ({Path(last.filename).name}:{last.lineno})"
    figures.read += 1
    return ""


def short_of_memory(error: BaseException | None) -> bool:
    """Whether a library ran out of memory, and our error hides that."""
    words = ("bad_alloc", "nsufficient memory", "annot allocate", "nable to allocate")
    while error is not None:
        if isinstance(error, MemoryError) or any(word in str(error) for word in words):
            return True
        error = error.__cause__ or error.__context__
    return False


def taken_without_memory(reader: Any, path: Path) -> bool:
    """Whether FFmpeg said that there is no memory for an absurd size: given eight times as much, it takes none."""
    if path.suffix not in VIDEOS:
        return False
    limit, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit + 7 * MEMORY, hard))
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    try:
        before = _memory("VmRSS")
        with contextlib.suppress(Exception):
            reader.read(path)
        return _memory("VmHWM") - before < MEMORY
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    if os.environ.get("FUZZ_WORKER"):
        work(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(main())
