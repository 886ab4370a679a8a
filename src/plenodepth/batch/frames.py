"""Which frames there are: files, folders, patterns and sequences become a list of frames with a name each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plenodepth.errors import InputError
from plenodepth.io.image_formats import counted_frames, is_sequence
from plenodepth.io.image_formats.camera_raw import CAMERA_RAW_SUFFIXES
from plenodepth.io.image_formats.stored import frame_name
from plenodepth.io.image_formats.video import VIDEO_SUFFIXES

STILL_SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".pnm", ".exr", ".lfp", ".lfr")
SUFFIXES = (*STILL_SUFFIXES, *CAMERA_RAW_SUFFIXES, *VIDEO_SUFFIXES, ".yuv")
OWN = ".batch"  # how names of the batch's own unfinished files begin


@dataclass(frozen=True)
class BatchFrame:
    """One frame: its file, its number in a sequence (None: the file is one image), and the folder of its results."""

    path: Path
    number: int | None
    name: str  # below the output folder; with "/" where the folders of the images are kept

    @property
    def in_video(self) -> bool:
        """Whether the frame can be read only after all that come before it."""
        return self.number is not None and self.path.suffix.lower() not in (".tif", ".tiff", ".yuv")


def planned_frames(
    inputs: Sequence[Path | str],
    out: Path | str,
    *,
    frames: slice | None = None,
    size: tuple[int, int] | None = None,
    bits: int | None = None,
    tree: Path | str | None = None,
) -> list[BatchFrame]:
    """The frames of files, of the images of folders, of patterns (`shots/**/*.png`), and of sequences, in their order.

    Each is called as its file, a frame of a sequence with its number: clip-00012. With `tree` the folders below that
    one are kept: tree/day1/raw.png becomes day1/raw. Two frames of one name are an `InputError`. `frames` are those of
    every sequence; `size` and `bits` describe YUV files whose names do not.
    """
    target = Path(out)
    planned, by_name = list[BatchFrame](), dict[str, BatchFrame]()
    for path in _files(inputs, target):
        for frame in _frames_of(path, frames, size, bits, tree):
            twin = by_name.setdefault(os.path.normcase(frame.name).casefold(), frame)
            if twin is not frame:
                raise InputError(
                    f"its results would replace those of {twin.path}",
                    file=path,
                    fix="give --tree FOLDER, which keeps the folders below it, or each its own --out",
                )
            planned.append(frame)
    for frame in planned:
        if any(parent.as_posix().casefold() in by_name for parent in PurePosixPath(frame.name).parents):
            raise InputError("its results would lie among those of another image", file=frame.path, fix="rename it")
    return planned


def _files(inputs: Iterable[Path | str], out: Path) -> Iterator[Path]:
    """The files of all inputs, each once."""
    seen = set[str]()
    for given in inputs:
        for path in _files_of(Path(given), out):
            place = os.path.realpath(path)
            if place not in seen:
                seen.add(place)
                yield path


def _files_of(given: Path, out: Path) -> list[Path]:
    if given.is_dir():
        found = sorted(path for path in given.iterdir() if _is_image(path))
        if not found:
            raise InputError("holds no image", file=given, fix="give a folder with images, or a pattern in quotes")
        return found
    text = str(given)
    if os.path.lexists(given):
        return [given]
    if not glob.has_magic(text):
        raise InputError("does not exist", file=given, fix="check the path")
    inside = Path(os.path.realpath(out))
    found = sorted(Path(path) for path in glob.glob(text, recursive=True) if os.path.isfile(path))
    found = [path for path in found if not Path(os.path.realpath(path)).is_relative_to(inside)]
    if not found:
        raise InputError("matches no file", file=given, fix="check the pattern")
    return found


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()


def _frames_of(
    path: Path, frames: slice | None, size: tuple[int, int] | None, bits: int | None, tree: Path | str | None
) -> Iterator[BatchFrame]:
    folder = _folder(path, tree)
    if path.stem.startswith(OWN):
        raise InputError(f"begins with {OWN}, as unfinished results do", file=path, fix="rename it")
    try:
        sequence = is_sequence(path, size=size, bits=bits)
    except InputError:  # who reads it says why: a frame that fails does not stop the others
        sequence = False
    if not sequence:
        yield BatchFrame(path, None, f"{folder}{path.stem}")
        return
    count = counted_frames(path, size=size, bits=bits)
    for number in range(count)[frames or slice(None)]:
        yield BatchFrame(path, number, f"{folder}{frame_name(path, number)}")


def _folder(path: Path, tree: Path | str | None) -> str:
    """The folders that a file keeps, with a "/" at the end; none without `tree`."""
    if tree is None:
        return ""
    absolute, root = Path(os.path.abspath(path)), Path(os.path.abspath(tree))
    if not absolute.is_relative_to(root):
        raise InputError(f"does not lie below {tree}", file=path, field="--tree")
    parent = absolute.parent.relative_to(root).as_posix()
    return "" if parent == "." else f"{parent}/"
