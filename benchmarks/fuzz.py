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
FAILURES_SHOWN = 10


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
    for name in names:
        found[name] = tried(name, chosen)
        print(line(name, found[name]), flush=True)
        for failure in found[name].failures[:FAILURES_SHOWN]:
            print(f"    {failure}", flush=True)
        if chosen.out is not None:
            content = {reader: vars(figures) for reader, figures in found.items()}
            chosen.out.write_text(json.dumps({"seed": chosen.seed, "readers": content}, indent=1) + "\n")
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


def tried(name: str, chosen: argparse.Namespace) -> Figures:
    """The figures of one reader. A worker that dies is replaced, and goes on after the input that it died of."""
    figures, started = Figures(), time.monotonic()
    position, end = chosen.first, chosen.first + chosen.count
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_memory_disk()) as folder:
        while position < end and time.monotonic() - started < chosen.seconds:
            count = min(end - position, round(AT_ONCE * 50))
            position = watched(name, position, count, chosen, Path(folder), figures, started)
    return figures


def watched(
    name: str, first: int, count: int, chosen: argparse.Namespace, folder: Path, figures: Figures, started: float
) -> int:
    """Let a worker read inputs; the number of the next one to read."""
    board = folder / "now"
    board.write_bytes(NOW.pack(first, 0.0))
    command = [sys.executable, __file__, name, str(chosen.seed), str(first), str(count), str(folder), str(chosen.keep)]
    with (
        board.open("r+b") as opened,
        mmap.mmap(opened.fileno(), NOW.size) as shared,
        subprocess.Popen([*command], stdout=subprocess.PIPE, env={**os.environ, "FUZZ_WORKER": "1"}) as worker,
    ):
        assert worker.stdout is not None
        done, seen, since, killed = first, first, time.monotonic(), ""
        try:
            while True:
                ready, _, _ = select.select([worker.stdout], [], [], 0.5)
                if ready:
                    report = worker.stdout.readline()
                    if not report:
                        break
                    done = _added(json.loads(report), figures)
                    if time.monotonic() - started > chosen.seconds:
                        worker.kill()
                        return done
                now, before = NOW.unpack(shared[: NOW.size])
                if now != seen:
                    seen, since = now, time.monotonic()
                killed = _too_long(worker.pid, before, since)
                if killed:
                    worker.kill()
                    break
        finally:
            if worker.poll() is None and sys.exc_info()[0] is not None:
                worker.kill()
        worker.wait()
        if not killed and worker.returncode == 0:
            return first + count
        now, _ = NOW.unpack(shared[: NOW.size])
        reason = killed or f"the worker ended with {worker.returncode}"
        figures.inputs += now - done + 1
        figures.failures.append(f"input {now}: {reason}")
        _keep(folder, chosen.keep, name, now)
        return int(now) + 1


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


def work(name: str, seed: int, first: int, count: int, folder: Path, keep: Path) -> None:
    """Read `count` inputs and report."""
    import warnings

    from fuzz_mutations import mutated
    from fuzz_readers import READERS

    warnings.simplefilter("ignore")
    reports = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    reader, inputs = READERS[name], folder / "input"
    inputs.mkdir(exist_ok=True)
    path = inputs / reader.file
    reader.make(path)
    good = path.read_bytes()
    path.write_bytes(reader.wrap(good))
    reader.read(path)  # which loads what it needs
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    figures = Figures()
    with (folder / "now").open("r+b") as opened, mmap.mmap(opened.fileno(), NOW.size) as shared:
        for number in range(first, first + count):
            rng = Random(f"{seed}:{name}:{number}")
            data = reader.wrap(mutated(good, rng))
            path.write_bytes(data)
            started = time.process_time()
            shared[: NOW.size] = NOW.pack(number, started)
            problem = outcome(reader, path, figures)
            taken = time.process_time() - started
            if not problem and taken > SECONDS:
                problem = f"took {taken:.1f} s of CPU time"
            figures.inputs += 1
            figures.seconds += taken
            figures.slowest = max(figures.slowest, taken)
            if problem:
                figures.failures.append(f"input {number}: {problem}")
                _keep(folder, keep, name, number)
            if figures.inputs == AT_ONCE or number == first + count - 1:
                print(json.dumps({**vars(figures), "next": number + 1}), file=reports, flush=True)
                figures = Figures()


def outcome(reader: Any, path: Path, figures: Figures) -> str:
    """What is wrong with how a file was taken; empty if it was read or refused."""
    from plenodepth.errors import PlenodepthError

    try:
        reader.read(path)
    except PlenodepthError as error:
        figures.refused += 1
        if short_of_memory(error):
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


if __name__ == "__main__":
    if os.environ.get("FUZZ_WORKER"):
        reader, seed, first, count, folder, keep = sys.argv[1:]
        work(reader, int(seed), int(first), int(count), Path(folder), Path(keep))
    else:
        sys.exit(main())
