"""One frame from file to results, wherever it is made: what a worker does."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.manifest import FileState
from plenodepth.batch.recipe import Recipe
from plenodepth.cache import file_hash
from plenodepth.errors import InputError, PlenodepthError
from plenodepth.io.image_formats import StoredImage
from plenodepth.io.image_formats.files import open_binary
from plenodepth.metric.frame import estimate_depth
from plenodepth.metric.result import DepthSummary
from plenodepth.raw import RawImage, load_frames, load_raw
from plenodepth.threads import limited_threads

STATISTICS = (
    "valid_fraction",
    "median_confidence",
    "median_virtual_depth",
    "median_sigma_virtual_depth",
    "median_z_mm",
    "q25_z_mm",
    "q75_z_mm",
    "median_sigma_z_mm",
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one attempt at a frame: an error, or files in `folder`, or their bytes where no folder is shared."""

    input: FileState | None = None
    folder: Path | None = None
    files: dict[str, FileState] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    error: str = ""
    traceback: str = ""
    problem: str = ""
    note: str = ""
    statistics: dict[str, float | None] = field(default_factory=dict)
    stages: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    worker: str = ""


def make_frame(frame: BatchFrame, recipe: Recipe, unfinished: Path, *, stored: StoredImage | None = None) -> Outcome:
    """Make the results of a frame in a new folder below `unfinished`. What goes wrong is in the outcome.

    `stored`: the frame as it was read elsewhere.
    """
    began, processor = time.perf_counter(), time.process_time()
    try:
        with limited_threads(recipe.threads):
            outcome = _made(frame, recipe, unfinished, stored)
    except PlenodepthError as error:
        outcome = Outcome(error=str(error))
    except MemoryError:
        outcome = Outcome(error=f"{frame.path}: there was not enough memory")
    except OSError as error:
        outcome = Outcome(error=" ".join(f"{error.filename or frame.path}: {error.strerror or error}".split()))
    except Exception as error:  # a fault of ours: the other frames still finish
        said = " ".join(f"{frame.path}: {type(error).__name__}: {error}".split())
        outcome = Outcome(error=said, traceback=traceback.format_exc())
    taken = time.perf_counter() - began, time.process_time() - processor
    return replace(outcome, seconds=round(taken[0], 3), cpu_seconds=round(taken[1], 3))


def _made(frame: BatchFrame, recipe: Recipe, unfinished: Path, stored: StoredImage | None) -> Outcome:
    if not unfinished.is_dir():  # the run has been killed, and another one has swept
        raise InputError("is gone: its run has ended", file=unfinished)
    given = None if stored is not None else input_state(frame)
    image = load_frame(frame, recipe, stored)
    if given is not None and not unchanged(frame.path, given):
        raise InputError("has changed while it was read", file=frame.path, fix="run it again")
    notes = (recipe.camera_note,) if recipe.camera_note else ()
    settings = recipe.settings
    found = estimate_depth(
        replace(image, notes=(*notes, *image.notes)),
        recipe.camera,
        settings.depth,
        settings.filters,
        settings.dense,
        device=recipe.device,
        threads=recipe.threads,
    )
    folder = unfinished / secrets.token_hex(8)
    found.save(folder, recipe.outputs)
    if recipe.report:
        from plenodepth.view.reports import write_depth_report

        write_depth_report(found, folder / f"{found.name}.html")
    summary = found.summary
    return Outcome(
        input=given,
        folder=folder,
        files={path.name: file_state(path) for path in sorted(folder.iterdir())},
        problem=summary.quality.problem,
        note=summary.note,
        statistics=_statistics(summary),
        stages=summary.content()["stages"],
    )


def load_frame(frame: BatchFrame, recipe: Recipe, stored: StoredImage | None = None) -> RawImage:
    """The clean image of a frame, from its file or as it was read elsewhere."""
    cleaning = {"white": list(recipe.white) or None, "dark": recipe.dark, **recipe.cleaning}
    if stored is not None:
        return next(load_frames(frame.path, recipe.camera, stored=iter([stored]), **cleaning))
    if frame.number is None:
        return load_raw(frame.path, recipe.camera, **cleaning)
    chosen = slice(frame.number, frame.number + 1)
    images = load_frames(frame.path, recipe.camera, frames=chosen, size=recipe.size, bits=recipe.bits, **cleaning)
    with _closed(images):
        return next(images)


@contextmanager
def _closed(images: Iterator[RawImage]) -> Iterator[None]:
    """Close the file of a sequence of which no further frame is wanted."""
    try:
        yield
    finally:
        images.close()  # type: ignore[attr-defined]


def _statistics(summary: DepthSummary) -> dict[str, float | None]:
    return {name: getattr(summary, name) for name in STATISTICS if summary.metric or not name.endswith("_mm")}


def file_state(path: Path) -> FileState:
    """The state of a file."""
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        return FileState(hashlib.file_digest(file, "sha256").hexdigest(), state.st_size, state.st_mtime_ns)


def input_state(frame: BatchFrame) -> FileState:
    """The state of a frame's file; one that cannot be read is an `InputError`."""
    with open_binary(frame.path):  # says what is wrong
        pass
    if frame.number is None:
        return file_state(frame.path)
    state = os.stat(frame.path)  # a sequence is hashed once, not for each of its frames
    return FileState(file_hash(frame.path), state.st_size, state.st_mtime_ns)


def unchanged(path: Path, state: FileState) -> bool:
    """Whether a file has the size and the time of a state."""
    try:
        now = os.stat(path)
    except OSError:
        return False
    return (now.st_size, now.st_mtime_ns) == (state.size, state.mtime_ns)
