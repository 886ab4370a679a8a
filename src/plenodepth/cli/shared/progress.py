"""Progress bars with time left, on stderr so that stdout stays clean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from plenodepth.progress import Progress as StepProgress


class RaysPerSecond(ProgressColumn):
    """Million rays per second so far."""

    def render(self, task: Task) -> Text:
        """The number, or a dash before there is one."""
        return Text("–" if not task.speed else f"{task.speed / 1e6:.1f} M rays/s")


class FrameProgress:
    """Counts what is done of the frame at hand; call it with (done, total)."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None)

    def __call__(self, done: int, total: int) -> None:
        """Done so far, of how many."""
        self._bar.update(self._task, completed=done, total=total)

    def describe(self, what: str) -> None:
        """Say what is being done, without starting anew."""
        self._bar.update(self._task, description=what)

    def note(self, line: str) -> None:
        """Print a line above the bar, on stderr; also where no bar is shown."""
        self._bar.console.print(line, markup=False, highlight=False)

    def frame(self, index: int, count: int | None, name: str) -> None:
        """Start the bar anew for frame `index` of `count`; None: nobody knows of how many."""
        number = f"{index + 1}" if count is None else f"{index + 1}/{count}"
        self._bar.reset(self._task, total=None, description=f"{number} {name}")


def step_progress(bar: FrameProgress) -> StepProgress:
    """A bar as the steps of the other rooms report to it: done, of how many, and what."""

    def report(done: int, total: int, what: str) -> None:
        bar.describe(what)
        bar(done, total)

    return report


def ray_progress(label: str, *, quiet: bool = False) -> AbstractContextManager[FrameProgress]:
    """A bar that counts rays, with their rate."""
    return _progress(label, quiet, RaysPerSecond())


def row_progress(label: str, *, quiet: bool = False) -> AbstractContextManager[FrameProgress]:
    """A bar that counts rows of micro-images."""
    return _progress(label, quiet)


@contextmanager
def _progress(label: str, quiet: bool, *more: ProgressColumn) -> Iterator[FrameProgress]:
    """Show a bar while the block runs; none when quiet or when stderr is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), *more)
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=quiet or not console.is_terminal
    ) as bar:
        progress = FrameProgress(bar)
        progress.frame(0, 1, label)
        yield progress
