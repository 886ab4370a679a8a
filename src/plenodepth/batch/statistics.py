"""The table of a batch: a row for each frame, for a spreadsheet or a plot over the frames of a sequence."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from plenodepth.batch.job import STATISTICS
from plenodepth.batch.manifest import Entry
from plenodepth.io import atomic_path

NAME = "frames.csv"
ABOUT = ("frame", "path", "number", "error", "problem", "seconds", "cpu_seconds", "worker", "attempts", "finished")


def write_statistics(entries: Iterable[Entry], folder: Path) -> None:
    """Write frames.csv: what each frame is, its statistics, and its times. What there is not is empty."""
    with atomic_path(folder / NAME) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*ABOUT[:3], *STATISTICS, *ABOUT[3:]])
        for entry in entries:
            about = [getattr(entry, name) for name in ABOUT]
            numbers = [entry.statistics.get(name) for name in STATISTICS]
            rounded = ["" if number is None else f"{number:.6g}" for number in numbers]
            writer.writerow([*about[:3], *rounded, *about[3:]])
