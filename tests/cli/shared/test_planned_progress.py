"""One bar over a plan: planned seconds of what is over, and of what is under way."""

from __future__ import annotations

from plenodepth.cli.shared.planned_progress import WIDTH, PlannedProgress

STAGES = [("r12-a: simulation", 100.0), ("r12-a: calibration", 50.0), ("scale", 30.0), ("absolute", 20.0)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_counts_up_to_the_plan_and_what_is_over_counts_in_full() -> None:
    clock, shown = Clock(), []
    progress = PlannedProgress(STAGES, lambda done, total, what: shown.append((done, total, what.strip())), clock)
    progress.experiment(0, 2, "scale")
    progress(0, 8, "r12-a: simulating boards/00")
    clock.now = 40
    progress(3, 8, "r12-a: simulating boards/03")
    clock.now = 300
    progress(7, 8, "r12-a: simulating boards/07")
    assert [(done, total) for done, total, _ in shown] == [(0, 200), (0, 200), (40, 200), (100, 200)]
    progress(0, 1, "r12-a, calibration: white images")
    clock.now = 310
    progress(0, 1, "r12-a, calibration: adjustment")
    assert shown[-1] == (110, 200, "r12-a, calibration: adjustment")
    progress(0, 16, "r12-a, BLADE: frame 3")
    assert shown[-1] == (150, 200, "r12-a, BLADE: frame 3 (1/16)")
    clock.now = 312
    progress.experiment(1, 2, "absolute")
    assert shown[-1] == (180, 200, "absolute")
    clock.now = 330
    progress(0, 12, "calib, B/C/S")
    assert shown[-1][0] == 198


def test_what_is_there_already_counts_at_once_and_words_keep_their_width() -> None:
    shown: list[tuple[float, str]] = []
    progress = PlannedProgress(STAGES, lambda done, total, what: shown.append((done, what)), Clock())
    progress.experiment(0, 1, "scale")
    progress(0, 1, f"r12-a, BLADE: {'x' * 80}")
    assert shown[-1][0] == 150
    assert {len(what) for _, what in shown} == {WIDTH}
