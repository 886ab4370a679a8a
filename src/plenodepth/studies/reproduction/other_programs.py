"""Results of other programs, compared with ours: a folder for each dataset, in it a depth for each frame.

They are read before the experiments run, so that a file that cannot be read is reported before the work, not after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plenodepth.errors import InputError
from plenodepth.evaluate.frames.depths import frame_depths, match_frames
from plenodepth.progress import Progress, no_progress
from plenodepth.sim.scenes.twins import REAL_TWINS
from plenodepth.studies.reproduction.methods import RELATIVE_METHODS
from plenodepth.studies.reproduction.sources import DATASET_SPECS, dataset_folder
from plenodepth.studies.reproduction.study import OtherProgramDepths

OPTION = "--other"
LEAST_FRAMES = 2


def labelled_folders(texts: Sequence[str]) -> list[tuple[str, Path]]:
    """Labels and folders of texts `LABEL=FOLDER`. A label must be new; a folder must hold one dataset or more."""
    found: list[tuple[str, Path]] = []
    for text in texts:
        label, equals, name = (part.strip() for part in text.partition("="))
        if not (label and equals and name):
            raise InputError(f"is '{text}', needs LABEL=FOLDER", field=OPTION, fix="as RTRX=results/rxlive")
        if label in (method.label for method in RELATIVE_METHODS):
            raise InputError(f"has the label {label}, which is a method of ours", field=OPTION, fix="give another")
        if label in (other for other, _ in found):
            raise InputError(f"has the label {label} twice", field=OPTION, fix="give each its own")
        folder = Path(name)
        if not folder.is_dir():
            raise InputError("is no folder", file=folder, field=OPTION)
        if not _dataset_folders(folder):
            wanted = ", ".join(_dataset_names())
            raise InputError("has no folder of a dataset", file=folder, field=OPTION, fix=f"one or more of {wanted}")
        found.append((label, folder))
    return found


def read_other_program(label: str, folder: Path, progress: Progress = no_progress) -> OtherProgramDepths:
    """One depth for each frame of each dataset below `folder`, as `evaluate relative` reads them."""
    read = []
    for name, place in _dataset_folders(folder).items():

        def on_frame(done: int, total: int, name: str = name) -> None:
            progress(done, total, f"{label}, {name}")

        read.append((name, frame_depths([place], on_frame)))
    return OtherProgramDepths(label, folder, tuple(read))


def depths_of_shots(
    other: OtherProgramDepths, name: str, frames: Sequence[int]
) -> tuple[list[float] | None, list[str]]:
    """Depths for the frames of a dataset, mm, NaN where there is none, and notes; None if they make no pair."""
    found = dict(other.datasets).get(name)
    if found is None:
        return None, [f"{name} left out: not in {other.folder}"]
    match = match_frames(found, frames)
    notes = [f"{name}: {note}" for note in match.notes]
    if match.with_depth < LEAST_FRAMES:
        return None, [*notes, f"{name} left out: {match.with_depth} frames with a depth, needs {LEAST_FRAMES}"]
    depth = {row.frame: row.depth for row in match.used}
    return [depth.get(frame, float("nan")) for frame in frames], notes


def _dataset_folders(folder: Path) -> dict[str, Path]:
    found = {name: dataset_folder(folder, name) for name in _dataset_names()}
    return {name: path for name, path in found.items() if path is not None}


def _dataset_names() -> list[str]:
    """Datasets of the paper with targets at known distances."""
    return [name for name, spec in DATASET_SPECS.items() if spec.shots is not None and name not in REAL_TWINS]
