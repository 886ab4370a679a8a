"""Files and printing that the single steps of a calibration share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.camera import load_plenoptic_camera, save_camera
from plenodepth.camera.files.any_format import NATIVE_SUFFIXES
from plenodepth.cli.shared.common import console, print_json
from plenodepth.cli.shared.progress import FrameProgress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.features import Features
    from plenodepth.camera import PlenopticCamera

CalibratedOption = Annotated[
    str, typer.Option("--camera", help="Calibrated camera: a camera file (.yaml, .json, .js) or a preset.")
]
FeaturesOption = Annotated[
    Path, typer.Option("--features", help="Features: ours (.csv) or libpleno's (.csv, .bin.gz).")
]
BoardsOption = Annotated[Path, typer.Option("--boards", help="Folder of the images that the features were found in.")]
WhiteOption = Annotated[
    Path | None, typer.Option("--white", help="White image at the aperture of the board images.", show_default=False)
]
CameraOutOption = Annotated[Path, typer.Option("--out", help="Camera file to write (.yaml, .json).")]
StepFolderOption = Annotated[
    Path | None,
    typer.Option("--work", help="Folder for record and figure; default: beside --out, OUT-calibration."),
]

ApertureAwareOption = Annotated[
    bool | None,
    typer.Option(
        "--aperture-aware/--no-aperture-aware",
        help="Corners are where they appear through the aperture. Default: yes, but not for libpleno's features.",
    ),
]


def aperture_aware_for(wanted: bool | None, features_file: Path | None, camera: PlenopticCamera) -> bool:
    """Whether features lie where they appear through the camera's aperture; an error where it is not known.

    Without a file they are ours.
    """
    from plenodepth.calib.feature_files import is_foreign

    if not camera.type_count:
        return False
    known = camera.main_lens.f_number is not None
    if wanted and not known:
        raise InputError(
            f"camera '{camera.name}' has no f-number", field="--aperture-aware", fix="add main_lens.f_number"
        )
    if wanted is not None:
        return wanted
    return known and (features_file is None or not is_foreign(features_file))


def camera_and_features(camera_file: str, params: Path | None, features_file: Path) -> tuple[PlenopticCamera, Features]:
    """A calibrated camera, and features that its micro-images hold."""
    from plenodepth.calib.feature_check import require_features_of
    from plenodepth.calib.feature_files import read_features

    camera = load_plenoptic_camera(camera_file, parameters=params)
    features = read_features(features_file)
    try:
        require_features_of(features, camera)
    except InputError as error:
        raise error.in_file(features_file) from None
    return camera, features


def require_camera_out(out: Path) -> None:
    """Refuse, before the work, a file that a camera with κ and Γ cannot be written to."""
    if out.suffix.lower() not in NATIVE_SUFFIXES:
        raise InputError("is no camera file of ours", field="--out", fix=f"end it with {' or '.join(NATIVE_SUFFIXES)}")
    require_file_out(out)


def require_file_out(out: Path) -> None:
    """Refuse, before the work, a file that cannot be written."""
    folder = out.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError("is in no folder that can be written", file=out, fix="make the folder first")
    if out.is_dir():
        raise InputError("is a folder", file=out, fix="give a file")


def work_folder(work: Path | None, out: Path) -> Path:
    """The folder for what a step writes besides its result."""
    folder = work or out.with_name(f"{out.stem}-calibration")
    make_folder(folder)
    return folder


def make_folder(folder: Path) -> None:
    """Make a folder unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=folder, fix="give a writable folder") from None


def saved(camera: PlenopticCamera, out: Path) -> None:
    """Write a camera that is named after its file."""
    save_camera(replace(camera, name=out.stem), out)


def named_progress(bar: FrameProgress) -> Callable[[int, int, str], None]:
    """What steps report to: done, of how many, and what."""

    def progress(done: int, total: int, what: str) -> None:
        bar.frame(0, 1, what)
        bar(done, total)

    return progress


def say_notes(notes: Iterable[str]) -> None:
    """One line for each."""
    for note in notes:
        console().print(f"note: {note}")


def finish_step(
    record: dict[str, Any],
    files: dict[str, Path],
    show: Callable[[dict[str, Any]], None],
    *,
    fresh: bool,
    as_json: bool,
) -> None:
    """Say what a step found, as JSON or by `show`, where its files are, and whether an earlier run made them."""
    said = {name: value for name, value in record.items() if name not in ("key", "files")}
    if as_json:
        print_json({**said, **{name: str(path) for name, path in files.items()}, "up_to_date": not fresh})
        return
    show(said)
    say_notes(said.get("notes", []))
    places = "; ".join(f"{name}: {path}" for name, path in files.items())
    console().print(places if fresh else f"up to date; {places}")


def percent(part: float) -> str:
    """A share such as 0.00047 as 0.047 %."""
    return f"{100 * part:.3f} %"
