"""Many frames into one folder: what is there already stays, the rest is made, and every frame is accounted for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from plenodepth.batch.engines.engine import Engine
from plenodepth.batch.engines.in_process import InProcess
from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.job import Outcome, input_state, unchanged
from plenodepth.batch.manifest import Entry, Manifest
from plenodepth.batch.out_folder import Check, OutFolder, only_run
from plenodepth.batch.queue import Task, TaskQueue
from plenodepth.batch.recipe import Recipe, frame_key, program
from plenodepth.batch.statistics import write_statistics
from plenodepth.errors import InputError
from plenodepth.threads import thread_count

RETRIES = 1


class Report(Protocol):
    """What is told while a batch runs."""

    def checking(self, done: int, total: int) -> None:
        """So many frames of an earlier run have been looked at."""

    def started(self, total: int, kept: int) -> None:
        """So many frames in all, of which so many need not be made."""

    def said(self, line: str) -> None:
        """Something that the user should know."""

    def finished(self, entry: Entry) -> None:
        """A frame is done, or has failed for good."""


@dataclass(frozen=True)
class BatchSummary:
    """What became of the frames of a batch: all of them, also those that an earlier run made."""

    entries: list[Entry]
    kept: int  # made by an earlier run
    seconds: float

    @property
    def failed(self) -> list[Entry]:
        """The frames without results."""
        return [entry for entry in self.entries if entry.error]

    @property
    def doubtful(self) -> list[Entry]:
        """The frames whose maps are not to be trusted."""
        return [entry for entry in self.entries if entry.problem]


def run_batch(
    frames: Sequence[BatchFrame],
    recipe: Recipe,
    out: Path | str,
    *,
    engine: Engine | None = None,
    retries: int = RETRIES,
    check: Check = "outputs",
    report: Report | None = None,
) -> BatchSummary:
    """Make the results of frames (`planned_frames`), each in a folder of its own below `out`, with a manifest.

    A frame that an earlier run has made of the same image with the same camera, settings and program is not made again
    unless its files have changed: `check` says how that is looked at. One that fails is tried again, elsewhere if there
    is an elsewhere, `retries` times; then the manifest says why. A run that stops, however it does, loses at most the
    frames that were being made: the next one goes on.
    """
    began = time.perf_counter()
    if retries < 0:
        raise InputError(f"is {retries}, needs a number ≥ 0", field="retries")
    key = recipe.key()
    with only_run(out) as folder, Manifest(folder.path) as manifest, _table(folder, manifest):
        run = _Run(folder, manifest, recipe, key, report)
        kept = run.kept(frames, check)
        missing = [frame for frame in frames if frame.name not in kept]
        for frame in missing:
            folder.require_free(frame.name)
        queue = TaskQueue(missing, retries=retries)
        if report is not None:
            report.started(len(frames), len(kept))
        if len(queue):
            with closing((engine or InProcess()).outcomes(queue, recipe, folder.unfinished, run.said)) as outcomes:
                for task, outcome in outcomes:
                    if not (outcome.error and queue.again(task)):
                        run.settle(task, outcome)
        entries = [manifest.entries[frame.name] for frame in frames]
    return BatchSummary(entries, len(kept), time.perf_counter() - began)


@contextmanager
def _table(folder: OutFolder, manifest: Manifest) -> Iterator[None]:
    """Leave the table of all frames, also when a run is stopped."""
    try:
        yield
    finally:
        if manifest.entries:
            write_statistics((entry for _, entry in sorted(manifest.entries.items())), folder.path)


@dataclass(frozen=True)
class _Run:
    folder: OutFolder
    manifest: Manifest
    recipe: Recipe
    key: str
    report: Report | None

    def said(self, line: str) -> None:
        if self.report is not None:
            self.report.said(line)

    def kept(self, frames: Sequence[BatchFrame], check: Check) -> set[str]:
        """The names of the frames whose results are there, of the same input, and as they were made."""
        known = [frame for frame in frames if frame.name in self.manifest.entries]
        kept = set[str]()
        with ThreadPoolExecutor(thread_count()) as pool:
            found = pool.map(lambda frame: self._holds(frame, check), known)
            for done, (frame, holds) in enumerate(zip(known, found, strict=True)):
                if holds:
                    kept.add(frame.name)
                if self.report is not None:
                    self.report.checking(done + 1, len(known))
        return kept

    def _holds(self, frame: BatchFrame, check: Check) -> bool:
        entry = self.manifest.entries[frame.name]
        if entry.error or entry.input is None:
            return False
        content = entry.input.sha256
        if check == "all" or not unchanged(frame.path, entry.input):
            try:
                content = input_state(frame).sha256
            except (OSError, InputError):
                return False
        return entry.key == frame_key(self.key, frame, content) and self.folder.holds(entry, check)

    def settle(self, task: Task, outcome: Outcome) -> None:
        """Enter what became of a frame, then let its results appear, or vanish."""
        outcome = self.folder.received(outcome)
        entry = self._entry(task, outcome)
        self.manifest.add(entry)
        if outcome.folder is not None and not entry.error:
            self.folder.publish(outcome.folder, entry.frame)
        else:
            self.folder.withdraw(entry.frame)
        if self.report is not None:
            self.report.finished(entry)

    def _entry(self, task: Task, outcome: Outcome) -> Entry:
        frame = task.frame
        content = outcome.input.sha256 if outcome.input is not None else ""
        return Entry(
            frame=frame.name,
            path=str(frame.path),
            number=frame.number,
            key=frame_key(self.key, frame, content),
            input=outcome.input,
            files=outcome.files,
            error=outcome.error,
            problem=outcome.problem,
            note=outcome.note,
            statistics=outcome.statistics,
            stages=outcome.stages,
            seconds=outcome.seconds,
            cpu_seconds=outcome.cpu_seconds,
            worker=outcome.worker,
            attempts=len(task.tried_on),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            program=program(),
            traceback=outcome.traceback,
        )
