"""What a reproduction is run with, and how what it has computed is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenodepth.cache import WorkFolder, cache_key
from plenodepth.errors import InputError
from plenodepth.evaluate.frames.depths import FrameDepth
from plenodepth.progress import Progress, no_progress

RAYS, QUICK_RAYS = 64, 32  # per pixel


@dataclass(frozen=True)
class OtherResults:
    """Depths that another program found on the targets at known distances, one for each frame."""

    label: str
    folder: Path
    datasets: tuple[tuple[str, tuple[FrameDepth, ...]], ...]  # by name; those that the folder has


@dataclass(frozen=True)
class Study:
    """Where a reproduction writes, and what it may use. Everything in `out/work` can be made again."""

    out: Path
    quick: bool = False  # small sensors
    seed: int = 0
    threads: int = 2
    data: Path | None = None  # folder with the authors' datasets, in place of the twins
    twins: Path | None = None  # folder that keeps simulated datasets; default: out/work/twins
    progress: Progress = no_progress
    others: tuple[OtherResults, ...] = ()  # to be compared, too
    since: float = 0.0  # seconds since the epoch; kept results that are older are made anew
    processes: int = 1  # that share the threads; more than one need a main module that can be imported

    @property
    def rays(self) -> int:
        """Of the simulation, per pixel."""
        return QUICK_RAYS if self.quick else RAYS

    @property
    def twin_folder(self) -> Path:
        """Where simulated datasets are kept."""
        return self.twins if self.twins is not None else self.out / "work" / "twins"

    def folder(self, *parts: str) -> Path:
        """A folder for intermediate results; made if it is not there."""
        path = self.out.joinpath("work", *parts)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=path, fix="give another --out") from None
        return path

    def kept(
        self, folder: Path, name: str, depends_on: Mapping[str, Any], compute: Callable[[], Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The record `name` of a step: read if it was made of the same, else computed and written."""
        key, record, work = cache_key(depends_on), f"{name}.json", self.work(folder)
        known = work.kept(record, key)
        return known if known is not None else work.keep(record, key, [], compute())

    def work(self, folder: Path) -> WorkFolder:
        """A folder of kept results, of which those that are too old are not used."""
        return WorkFolder(folder, self.since)
