"""How far a batch is: a bar on a terminal, a line now and then in a log, or a line of JSON for each frame."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from plenodepth.cli.shared.progress import Intervals, draws_bars
from plenodepth.cli.shared.speech import Speech, say, speech
from plenodepth.io.yaml_json import null_for_nan

if TYPE_CHECKING:
    from plenodepth.batch import BatchSummary, Entry

SHOWN = 20  # frames that failed, or are doubtful, in the summary; all of them are in the manifest


class BatchReport:
    """Tells on stderr how far a batch is, and on stdout what came of it. To be used as a context."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        console = Console(stderr=True)
        self._silent = as_json or speech() is Speech.QUIET
        self._quiet = self._silent or not draws_bars()
        columns = (TextColumn("{task.description}", markup=False), BarColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=self._quiet)
        self._task = self._bar.add_task("", total=None)
        self._total = self._kept = self._failed = 0
        self._by_worker = Counter[str]()
        self._began, self._lines = time.monotonic(), Intervals()

    def __enter__(self) -> BatchReport:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def checking(self, done: int, total: int) -> None:
        """So many frames of an earlier run have been looked at."""
        self._show(done, total, f"looking at what is there: {done} of {total} frames")

    def started(self, total: int, kept: int) -> None:
        """The work begins."""
        self._total, self._kept, self._began = total, kept, time.monotonic()
        self._line({"event": "start", "frames": total, "kept": kept})
        self._show(kept, total, self._state())

    def said(self, line: str) -> None:
        """Something that the user should know."""
        if self._json:
            self._line({"event": "note", "note": line})
        elif not self._silent:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def finished(self, entry: Entry) -> None:
        """A frame is done, or has failed for good."""
        self._by_worker[entry.worker] += 1
        self._failed += bool(entry.error)
        left = {"files", "traceback", "program"}
        self._line({"event": "frame", **{key: value for key, value in asdict(entry).items() if key not in left}})
        if entry.error:
            self._say(f"plenodepth: {entry.error}")
        done = self._kept + self._by_worker.total()
        self._show(done, self._total, self._state())

    def stopped(self) -> None:
        """The user has stopped the run."""
        done = self._kept + self._by_worker.total()
        self._bar.stop()
        self._line({"event": "stopped", "done": done, "frames": self._total})
        self._say(f"plenodepth: stopped after {done} of {self._total} frames; the same command goes on")

    def ended(self, summary: BatchSummary, out: Path) -> None:
        """What came of all frames."""
        if self._json:
            self._line({"event": "end", **_figures(summary)})
            return
        for entry in summary.doubtful[:SHOWN]:
            self._say(f"plenodepth: {entry.frame}: do not trust this map: {entry.problem}")
        if len(summary.doubtful) > SHOWN:
            self._say(f"plenodepth: and {len(summary.doubtful) - SHOWN} more; see {out}/manifest.jsonl")
        figures = _figures(summary)
        rate = f", {figures['frames_per_second']:.2f} frames/s" if figures["made"] else ""
        print(
            f"{figures['frames']} frames: {figures['made']} made, {figures['kept']} there already, "
            f"{figures['failed']} failed, {figures['doubtful']} doubtful; {summary.seconds:.1f} s{rate}; "
            f"see {out}/manifest.jsonl"
        )

    def _state(self) -> str:
        done = self._by_worker.total()
        left = self._total - self._kept - done
        taken = time.monotonic() - self._began
        text = f"{self._kept + done} of {self._total} frames"
        if done:
            text += f", {done / taken:.2f} frames/s, {_duration(left * taken / done)} left"
        if self._failed:
            text += f", {self._failed} failed"
        if len(self._by_worker) > 1:
            text += f", {len(self._by_worker)} workers: " + ", ".join(
                f"{count}" for _, count in self._by_worker.most_common(8)
            )
        return text

    def _show(self, done: int, total: int, text: str) -> None:
        if not self._quiet:
            self._bar.update(self._task, completed=done, total=total, description=text)
        elif not self._silent and self._lines.due():
            say(text)

    def _say(self, line: str) -> None:
        """A line on stderr, above the bar if there is one."""
        if self._quiet:
            say(line)
        else:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _line(self, content: dict[str, Any]) -> None:
        if self._json:
            print(json.dumps(null_for_nan(content), ensure_ascii=False, allow_nan=False), flush=True)


def _figures(summary: BatchSummary) -> dict[str, Any]:
    made = len(summary.entries) - summary.kept
    return {
        "frames": len(summary.entries),
        "made": made - len(summary.failed),
        "kept": summary.kept,
        "failed": len(summary.failed),
        "doubtful": len(summary.doubtful),
        "seconds": round(summary.seconds, 3),
        "frames_per_second": round(made / summary.seconds, 3),
    }


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
