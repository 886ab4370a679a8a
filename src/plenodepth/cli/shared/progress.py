"""How far a command is, on stderr so that stdout stays clean.

On a terminal a bar with the time left, which is gone at the end. In a pipe or a log file lines instead: the first after
ten seconds, then one every ten seconds, and of long runs one for each tenth of the time so far. `--quiet` and `--json`
say nothing of it; `--verbose` says each step on a line of its own.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from plenodepth.cli.shared.speech import Speech, say, speech
from plenodepth.progress import Progress as StepProgress

T = TypeVar("T")

FIRST_LINE, LATER_LINES = 10.0, 0.1  # s to the first line and at least between two; part of the time so far between two


class RaysPerSecond(ProgressColumn):
    """Million rays per second so far."""

    def render(self, task: Task) -> Text:
        """The number, or a dash before there is one."""
        return Text("–" if not task.speed else f"{task.speed / 1e6:.1f} M rays/s")


class FrameProgress:
    """Counts what is done of the frame at hand; call it with (done, total). This one shows nothing but notes."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._label = self._what = ""
        self._steps = speech() is Speech.VERBOSE

    def __call__(self, done: int, total: int) -> None:
        """Done so far, of how many."""

    def counted(self, things: Iterable[T], total: int) -> Iterator[T]:
        """The things as they come, of `total`, counted when they are done with."""
        self(0, total)
        for done, thing in enumerate(things):
            yield thing
            self(done + 1, total)

    def describe(self, what: str) -> None:
        """Say what is being done, without starting anew."""
        self._start(self._label, what)

    def note(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        if speech() is not Speech.QUIET:
            say(line)

    def frame(self, index: int, count: int | None, name: str) -> None:
        """Start anew for frame `index` of `count`; None: nobody knows of how many."""
        number = f"{index + 1}" if count is None else f"{index + 1}/{count}"
        self._start(f"{number} {name}" if count != 1 else name, "")

    def _start(self, label: str, what: str) -> None:
        """Another frame, or another step of it."""
        what = what.rstrip()  # some descriptions keep their width
        if (label, what) == (self._label, self._what):
            return
        self._label, self._what = label, what
        if self._steps and self._title:
            self.note(f"{time.monotonic() - self._began:7.1f} s  {self._title}")

    @property
    def _title(self) -> str:
        return ": ".join(part for part in (self._label.strip(), self._what) if part)


class BarProgress(FrameProgress):
    """A bar on a terminal."""

    def __init__(self, bar: Progress) -> None:
        super().__init__()
        self._bar = bar
        self._task = bar.add_task("", total=None)

    def __call__(self, done: int, total: int) -> None:
        """Done so far, of how many."""
        self._bar.update(self._task, completed=done, total=total)

    def describe(self, what: str) -> None:
        """Say what is being done, without starting anew."""
        super().describe(what)
        self._bar.update(self._task, description=what)

    def note(self, line: str) -> None:
        """Print a line above the bar."""
        if speech() is not Speech.QUIET:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def frame(self, index: int, count: int | None, name: str) -> None:
        """Start the bar anew for frame `index` of `count`; None: nobody knows of how many."""
        super().frame(index, count, name)
        self._bar.reset(self._task, total=None, description=self._label)


class Intervals:
    """When a line is due in a log file: the first after ten seconds, later fewer and fewer."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.began = clock()
        self._next = self.began + FIRST_LINE

    def due(self) -> bool:
        """Whether a line is due; if so, the next one is due later."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + max(FIRST_LINE, LATER_LINES * (now - self.began))
        return True


class LineProgress(FrameProgress):
    """Lines at intervals, for pipes and log files."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lines = clock, Intervals(clock)
        self._began = self._since = self._lines.began
        self._done = self._total = 0

    def __call__(self, done: int, total: int) -> None:
        """Done so far, of how many."""
        now = self._clock()
        if total != self._total or done < self._done:  # the next pass over the frame
            self._since = now if self._total else self._since
        self._done, self._total = done, total
        if not total or not self._lines.due():
            return
        spent = now - self._since
        left = f", about {_duration(spent * (total - done) / done)} left" if done else ""
        title = f"{self._title}: " if self._title else ""
        self.note(f"{title}{100 * done / total:.0f} %, {_duration(now - self._began)} so far{left}")

    def _start(self, label: str, what: str) -> None:
        if label != self._label or not self._what:
            self._since, self._total = self._clock(), 0
        super()._start(label, what)


def _duration(seconds: float) -> str:
    """`45 s`, `3 min 05 s`, `2 h 10 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def step_progress(bar: FrameProgress) -> StepProgress:
    """A bar as the steps of the other rooms report to it: done, of how many, and what."""

    def report(done: int, total: int, what: str) -> None:
        bar.describe(what)
        bar(done, total)

    return report


def ray_progress(label: str, *, quiet: bool = False) -> AbstractContextManager[FrameProgress]:
    """Progress that counts rays, with their rate."""
    return _progress(label, quiet, RaysPerSecond())


def row_progress(label: str, *, quiet: bool = False) -> AbstractContextManager[FrameProgress]:
    """Progress that counts rows of micro-images, or steps."""
    return _progress(label, quiet)


@contextmanager
def _progress(label: str, quiet: bool, *more: ProgressColumn) -> Iterator[FrameProgress]:
    """Show how far the block is: a bar, lines, or nothing."""
    verbose = speech() is Speech.VERBOSE
    if (quiet and not verbose) or speech() is Speech.QUIET:
        yield FrameProgress()
        return
    if not draws_bars():
        lines = LineProgress()
        lines.frame(0, 1, label)
        yield lines
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), *more)
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        progress = BarProgress(bar)
        progress.frame(0, 1, label)
        yield progress


def draws_bars() -> bool:
    """Whether stderr is a terminal that moves its cursor; a variable that forces colours makes a log file none."""
    return sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
