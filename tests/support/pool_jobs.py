"""Work for the tests of the worker pool, in a module that worker processes can import by its name."""

from __future__ import annotations

import time
from typing import Any

from plenodepth.errors import InputError
from plenodepth.studies.reproduction.study import Study


def add(study: Study, *numbers: int) -> int:
    """The sum of numbers; written into a log, too."""
    study.progress(0, 1, "adding")
    with (study.out / "log.txt").open("a") as log:
        log.write(f"{sum(numbers)}\n")
    return sum(numbers)


def total(study: Study, numbers: tuple[int, ...]) -> int:
    """The sum of numbers."""
    return sum(numbers)


def collect(study: Study, *results: Any) -> tuple[Any, ...]:
    """What it is given."""
    return results


def threads(study: Study, number: int) -> int:
    """How many threads a job may use."""
    return study.threads


def fail(study: Study) -> None:
    """An error, once the other job waits."""
    while not (study.out / "waiting").is_file():
        time.sleep(0.01)
    raise InputError("is no dataset", file="r12-z")


def wait_for_the_end(study: Study) -> None:
    """Half a minute of nothing, or less if it is stopped."""
    for step in range(600):
        (study.out / "waiting").touch()
        study.progress(step, 600, "waiting")
        time.sleep(0.05)
