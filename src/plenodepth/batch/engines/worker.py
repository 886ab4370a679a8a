"""What runs on a worker of a cluster. The driver sends it frames; it keeps the recipe of each run that it knows."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Semaphore
from typing import Any

import cv2
from distributed import get_worker

from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.job import Outcome, make_frame
from plenodepth.batch.recipe import Recipe, program, unlike
from plenodepth.io.image_formats import StoredImage
from plenodepth.memory import keep_freed_memory

RUNS_KEPT = 4  # of other drivers, on a cluster that serves several


@dataclass(frozen=True)
class Order:
    """What a worker is told once: the recipe, and the files that it needs if it cannot read ours."""

    recipe: Recipe
    slots: int  # frames at a time
    contents: dict[Path, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class _Run:
    recipe: Recipe
    slots: Semaphore
    folder: Path  # for files that are shipped


_runs = OrderedDict[str, _Run]()


def welcome(own: dict[str, str], run: str, order: bytes) -> str:
    """Take the order of a run if this worker makes the same results as its driver; otherwise say what is different."""
    different = unlike(program(), own)
    if different:
        return different
    if run not in _runs:
        keep_freed_memory()
        _use_memory()
        _runs[run] = _prepared(pickle.loads(order))
    while len(_runs) > RUNS_KEPT:
        farewell(next(iter(_runs)))
    return ""


def _use_memory() -> None:
    """Let frames use the memory up to the limit, where Dask starts a worker anew.

    Below that it would write what it keeps to the disk, which is next to nothing, and then wait for memory that this
    process does not give back.
    """
    manager: Any = get_worker().memory_manager
    manager.memory_spill_fraction = manager.memory_pause_fraction = False


def _prepared(order: Order) -> _Run:
    cv2.setNumThreads(order.recipe.threads)
    folder = Path(tempfile.mkdtemp(prefix="plenodepth-", dir=get_worker().local_directory))
    places = dict[Path, Path]()
    for number, (path, content) in enumerate(order.contents.items()):
        places[path] = folder / f"{number}" / path.name
        places[path].parent.mkdir()
        places[path].write_bytes(content)
    return _Run(order.recipe.moved(places), Semaphore(order.slots), folder)


def farewell(run: str) -> None:
    """Forget a run and remove its files."""
    known = _runs.pop(run, None)
    if known is not None:
        shutil.rmtree(known.folder, ignore_errors=True)


def work(run: str, frame: BatchFrame, unfinished: Path) -> Outcome:
    """Make a frame of a file that this worker can read, in a folder that the driver can."""
    known = _runs[run]
    with known.slots:
        return make_frame(frame, known.recipe, unfinished)


def work_shipped(run: str, frame: BatchFrame, shipped: bytes | StoredImage, unfinished: Path | None) -> Outcome:
    """Make a frame of the bytes of its file, or of its image. Without a folder that the driver can read, too, the
    results go back as bytes.
    """
    known = _runs[run]
    with known.slots, tempfile.TemporaryDirectory(dir=known.folder, ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        if isinstance(shipped, StoredImage):
            outcome = make_frame(frame, known.recipe, unfinished or folder, stored=shipped)
        else:
            place = folder / frame.path.name
            place.write_bytes(shipped)
            outcome = make_frame(replace(frame, path=place), known.recipe, unfinished or folder)
            outcome = replace(outcome, error=outcome.error.replace(str(place), str(frame.path)))
        if outcome.folder is None or unfinished is not None:
            return outcome
        contents = {name: (outcome.folder / name).read_bytes() for name in outcome.files}
        return replace(outcome, folder=None, files={}, contents=contents)
