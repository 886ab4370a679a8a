"""One depth for each frame, from whatever holds depth: maps, clouds, tables, poses, lists of them, folders."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plenodepth.errors import InputError
from plenodepth.evaluate.frames.relative import median_depth
from plenodepth.io import read_poses, read_text, read_tree
from plenodepth.io.clouds.any_format import CLOUD_SUFFIXES, read_cloud
from plenodepth.io.frame_tables import read_depth_table
from plenodepth.io.libpleno.archive import Archive, is_archive
from plenodepth.io.libpleno.depth_lists import is_depth_list, read_depth_list
from plenodepth.io.libpleno.point_cloud import is_point_cloud
from plenodepth.io.maps.any_format import MAP_SUFFIXES, read_map
from plenodepth.io.raytrix import read_raytrix_pose
from plenodepth.progress import Progress, no_progress

NUMBER = re.compile(r"\d+")
# What a folder of results is searched for, the first that is there: maps of simulated frames and of `plenodepth depth`.
PATTERNS = ("*/depth.tiff", "*/*.depth.tiff", "*.depth.tiff", *(f"*{suffix}" for suffix in MAP_SUFFIXES), "*.ply")
# Where one depth a frame is enough, clouds and poses of other programs do, too, in the folder or in one for each frame.
OTHERS = tuple(f"{place}*{suffix}" for place in ("", "*/") for suffix in (".xyz", ".pts", ".ptx", ".mat"))
DEEPER = tuple(f"*/*{suffix}" for suffix in (*MAP_SUFFIXES, ".ply"))
TABLES = ("*.csv", "*.js")  # one of them alone speaks for all frames
LISTED_DEPTHS = ("maps", "csads", "pointclouds", "xyzs", "ptss", "csvs", "mats")


@dataclass(frozen=True)
class FrameDepth:
    """The depth of one frame, mm; NaN where its map has none."""

    frame: int
    depth: float
    source: str  # the file it came from


def frame_depths(paths: Sequence[Path], progress: Progress = no_progress) -> tuple[FrameDepth, ...]:
    """One depth for each frame, in order of the frames; a frame that comes twice is an error.

    A map gives the median of its depths, a cloud that of its z, a pose the size of its z. A table has lines
    `frame,depth`, or one for each entry of each map. Frames of files are numbered by their names.
    """
    jobs = [job for path in paths for job in _jobs(path)]
    found = list[FrameDepth]()
    for index, (path, frame) in enumerate(jobs):
        found += _depths(path, frame)
        progress(index + 1, len(jobs), "reading")
    seen: dict[int, FrameDepth] = {}
    for row in found:
        other = seen.setdefault(row.frame, row)
        if other is not row:
            raise _twice(row.source, row.frame, other.source)
    return tuple(seen[frame] for frame in sorted(seen))


@dataclass(frozen=True)
class FrameMatch:
    """Frames found and frames whose places are known, brought together."""

    used: tuple[FrameDepth, ...]  # found, and the place is known
    lost: tuple[int, ...]  # found, but without a place
    unseen: tuple[int, ...]  # places without a frame
    empty: tuple[int, ...]  # used, but without any depth

    @property
    def with_depth(self) -> int:
        """How many frames can be compared."""
        return len(self.used) - len(self.empty)

    @property
    def notes(self) -> list[str]:
        """What is to be said of the frames that do not count."""
        said = {
            "frames without a truth, left out": self.lost,
            "truths without a frame": self.unseen,
            "frames without any depth, left out": self.empty,
        }
        return [f"{what}: {listed_frames(frames)}" for what, frames in said.items() if frames]


def match_frames(found: Sequence[FrameDepth], places: Iterable[int]) -> FrameMatch:
    """Frames found against those, by number, whose places are known."""
    known, there = set(places), {row.frame for row in found}
    used = tuple(row for row in found if row.frame in known)
    return FrameMatch(
        used,
        tuple(row.frame for row in found if row.frame not in known),
        tuple(sorted(known - there)),
        tuple(row.frame for row in used if math.isnan(row.depth)),
    )


def listed_frames(numbers: Sequence[int], most: int = 12) -> str:
    """Numbers of frames in words, not too many of them."""
    shown = ", ".join(map(str, numbers[:most]))
    return f"{shown}, …" if len(numbers) > most else shown or "none"


def frame_files(folder: Path, patterns: Sequence[str] = PATTERNS) -> dict[int, Path]:
    """The maps of a folder by frame: all that fit the first of the patterns that any fit."""
    files = next((found for pattern in patterns if (found := sorted(folder.glob(pattern)))), [])
    if not files:
        raise InputError("holds no depth map", file=folder, fix=f"looked for {', '.join(patterns[:3])} and others")
    frames: dict[int, Path] = {}
    for file in files:
        other = frames.setdefault(_frame_of(file), file)
        if other is not file:
            raise _twice(file, _frame_of(file), other)
    return frames


def _twice(path: Path | str, frame: int, other: Path | str) -> InputError:
    fix = "the last number of a name, or of its folder, is the frame"
    return InputError(f"is frame {frame}, and so is {other}", file=path, fix=fix)


def _jobs(path: Path) -> Iterator[tuple[Path, int | None]]:
    """The files to read with their frames; None where the file itself tells, or has to be told by its name."""
    if path.is_dir():
        if (table := _table_alone(path)) is not None:
            yield from _jobs(table)
            return
        for frame, file in frame_files(path, (*PATTERNS, *OTHERS, *DEEPER)).items():
            yield file, frame
    elif path.suffix.lower() in (".js", ".json") and is_depth_list(read_tree(path)):
        listed = read_depth_list(path)
        kind = next((kind for kind in LISTED_DEPTHS if kind in listed.files), None)
        if kind is None:
            raise InputError(f"lists none of {', '.join(LISTED_DEPTHS)}", file=path)
        yield from ((file.path, file.frame) for file in listed.files[kind])
    else:
        yield path, None


def _table_alone(folder: Path) -> Path | None:
    """The table or list of a folder that holds no other depths."""
    tables = [file for pattern in TABLES for file in sorted(folder.glob(pattern))]
    others = (pattern for pattern in (*PATTERNS, *OTHERS, *DEEPER) if pattern not in TABLES)
    if len(tables) != 1 or any(any(folder.glob(pattern)) for pattern in others):
        return None
    return tables[0]


def _frame_of(path: Path) -> int:
    """The last number of a file's name or, where that has none, of its folder's (03/depth.tiff)."""
    for name in (path.name.split(".")[0], path.parent.name):
        if numbers := NUMBER.findall(name):
            return int(numbers[-1])
    raise InputError("has no number in its name, so no frame", file=path, fix="name it by its frame, as 03.tiff")


def _depths(path: Path, frame: int | None) -> list[FrameDepth]:
    """The depths of one file: those of all frames for a table or a file of poses, else that of `frame`."""
    name = path.name.lower()
    if name.endswith((".js", ".json")):
        return [FrameDepth(pose.frame, abs(float(pose.translation[2])), str(path)) for pose in read_poses(path)]
    if name.endswith(".csv"):
        return _table(path, frame)
    number = _frame_of(path) if frame is None else frame
    if name.endswith(".mat"):
        return [FrameDepth(number, abs(float(read_raytrix_pose(path).translation[2])), str(path))]
    cloud = is_point_cloud(Archive(path)) if is_archive(path) else name.endswith(CLOUD_SUFFIXES)
    if cloud:
        return [FrameDepth(number, float(np.median(read_cloud(path).points[:, 2])), str(path))]
    found = read_map(path)
    if any("virtual" in note for note in found.notes):
        raise InputError("holds virtual depth", file=path, fix="give depth in mm")
    return [FrameDepth(number, median_depth(found.values), str(path))]


def _table(path: Path, frame: int | None) -> list[FrameDepth]:
    """A table of depths by frame, or of the entries of maps by frame."""
    header = [word.strip().lower() for word in read_text(path).partition("\n")[0].split(",")]
    if "k" not in header:
        return [FrameDepth(number, depth, str(path)) for number, depth in read_depth_table(path).items()]
    if "frame" not in header:
        number = _frame_of(path) if frame is None else frame
        return [FrameDepth(number, median_depth(read_map(path).values), str(path))]
    table = read_depth_table(path)
    return [FrameDepth(number, depth, str(path)) for number, depth in table.items() if frame in (None, number)]
