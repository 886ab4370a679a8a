"""One bar over stages of planned length: it counts planned seconds, whatever order the stages come in."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

WIDTH = 48  # of what is said, so that the bar stays where it is
SIMULATION, CALIBRATION = "simulation", "calibration"


class PlannedProgress:
    """Follows a reproduction by what it says it does; `show(done, total, what)` gets planned seconds.

    Stages are those of `run.plan`: "r12-a: simulation", "r12-a: calibration", then experiments by their names. Within a
    stage the time since it began counts, up to what was planned; a stage that is over counts in full.
    """

    def __init__(
        self,
        stages: Sequence[tuple[str, float]],
        show: Callable[[float, float, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._planned = dict(stages)
        self._spent = dict.fromkeys(self._planned, 0.0)
        self._over: set[str] = set()
        self._show = show
        self._clock = clock
        self._experiment = ""
        self._stage = ""
        self._since = clock()

    def experiment(self, index: int, count: int, name: str) -> None:
        """Before each experiment; the one before is over."""
        del index, count
        self._account()
        self._over.add(self._experiment)
        self._experiment = self._stage = name
        self._tell(name)

    def __call__(self, done: int, total: int, what: str) -> None:
        """While it runs: what it does, and how much of that."""
        self._account()
        self._stage = self._stage_of(what)
        self._tell(f"{what} ({done + 1}/{total})" if total > 1 and done < total else what)

    def _stage_of(self, what: str) -> str:
        """The stage that a step belongs to; a dataset's earlier stages are over then."""
        dataset = what.split(":")[0].split(",")[0]
        simulation, calibration = f"{dataset}: {SIMULATION}", f"{dataset}: {CALIBRATION}"
        if what.startswith(f"{dataset}: simulating"):
            return simulation
        self._over.add(simulation)
        if what.startswith(f"{dataset}, {CALIBRATION}"):
            return calibration
        self._over.add(calibration)
        return self._experiment

    def _account(self) -> None:
        now = self._clock()
        if self._stage in self._spent:
            self._spent[self._stage] += now - self._since
        self._since = now

    def _tell(self, what: str) -> None:
        done = sum(
            planned if stage in self._over else min(self._spent[stage], planned)
            for stage, planned in self._planned.items()
        )
        text = what if len(what) <= WIDTH else f"{what[: WIDTH - 1]}…"
        self._show(done, sum(self._planned.values()), text.ljust(WIDTH))
