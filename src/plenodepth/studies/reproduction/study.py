"""The settings of a reproduction, and the folders that it keeps its work in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plenodepth.cache import WorkFolder
from plenodepth.errors import InputError
from plenodepth.progress import Progress, no_progress

if TYPE_CHECKING:
    from plenodepth.evaluate.frames.depths import FrameDepth  # a worker process need not import that

RAYS, QUICK_RAYS = 64, 32  # per pixel


@dataclass(frozen=True)
class OtherProgramDepths:
    """Depths that another program found for targets at known distances, one per frame."""

    label: str
    folder: Path
    datasets: tuple[tuple[str, tuple[FrameDepth, ...]], ...]  # by name; only those that the folder has


@dataclass(frozen=True)
class Study:
    """Where a reproduction writes, and what it may use. Everything in `out/work` can be made again."""

    out: Path
    quick: bool = False  # small sensors
    seed: int = 0
    threads: int = 2
    data: Path | None = None  # folder with photographed datasets, in place of the twins
    twins: Path | None = None  # folder that keeps simulated datasets; default: out/work/twins
    progress: Progress = no_progress  # called by the steps of a job
    other_programs: tuple[OtherProgramDepths, ...] = ()  # to be compared, too
    since: float = 0.0  # seconds since the epoch; kept results that are older are made anew
    processes: int = 1  # that share the threads; more than one need a main module that can be imported

    @property
    def rays(self) -> int:
        """Rays per pixel of the simulation."""
        return QUICK_RAYS if self.quick else RAYS

    @property
    def twin_folder(self) -> Path:
        """Where simulated datasets are kept."""
        return self.twins if self.twins is not None else self.out / "work" / "twins"

    def work_folder(self, *parts: str) -> WorkFolder:
        """A folder below `out/work` that keeps results of jobs; made if it is not there."""
        path = self.out.joinpath("work", *parts)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=path, fix="give another --out") from None
        return WorkFolder(path, self.since)
