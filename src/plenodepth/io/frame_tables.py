"""Tables of one distance for each frame, mm: true places, a simulated dataset's manifest, depths that were found."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.maps.csv import LARGEST_FRAME
from plenodepth.io.reading import quoted, read_bytes, read_text, to_number
from plenodepth.io.strict_text import parse_by_suffix
from plenodepth.io.text_tables import TextLines

NUMBER = re.compile(r"\d+", re.ASCII)
LONGEST_NUMBER = 18  # digits of a frame
SEPARATOR = re.compile(r"\s++(?:[,;]\s*+)?|[,;]\s*+")  # of which none looks at a blank twice
COMMENT = "#"
DEPTHS = ("d", "z", "depth", "depth_mm", "z_mm", "median_z_mm", "distance")  # names of a column of depths


def read_frame_distances(path: Path | str) -> dict[int, float]:
    """The distance of each frame, mm, in the order of the file.

    Blanks, commas or semicolons separate the two numbers of a line. Comments start with #. A first line of words is
    a header and left out.
    """
    distances: dict[int, float] = {}
    first = True
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = [word for word in SEPARATOR.split(line.partition(COMMENT)[0].strip()) if word]
        header, first = first and bool(words) and not any(_is_number(word) for word in words), first and not words
        if not words or header:
            continue
        field = f"line {number}"
        if len(words) != 2:
            raise InputError(f"has {len(words)} values", file=path, field=field, fix="give a frame and its distance")
        try:
            frame, distance = (to_number(word) for word in words)
        except ValueError as error:
            raise InputError(str(error), file=path, field=field, fix="give a frame and its distance, mm") from None
        if frame != int(frame):
            raise InputError(f"frame {frame:g} is no whole number", file=path, field=field)
        if int(frame) in distances:
            raise InputError(f"frame {int(frame)} is there twice", file=path, field=field, fix="keep one of them")
        distances[int(frame)] = distance
    if not distances:
        raise InputError("holds no distance", file=path, fix="give lines of a frame and its distance, mm")
    return distances


def read_places(path: Path | str) -> dict[int, float]:
    """The distance of each frame, mm, from a text file, or from a manifest's frames that have one (steps/03)."""
    return _of_manifest(path) if Path(path).suffix.lower() == ".json" else read_frame_distances(path)


def read_depth_table(path: Path | str) -> dict[int, float]:
    """The depth of each frame, mm: the median of its lines that are not 0; NaN where all are."""
    data = read_bytes(path)
    lines = TextLines(data.replace(b",", b" ").replace(b";", b" "), path)
    header = [word.lower() for word in lines.text(0).split()] if len(lines) else []
    depth = next((name for name in DEPTHS if name in header), None)
    if "frame" not in header or depth is None:
        words = quoted(TextLines(data, path).text(0)) if len(lines) else "nothing"
        raise InputError(f"starts with {words}", file=path, field="line 1", fix="name the columns: frame,depth")
    table = lines.table(1, len(lines))
    if not len(table):
        raise InputError("holds no depth", file=path)
    if table.shape[1] != len(header):
        raise InputError(f"has {table.shape[1]} values, the header {len(header)}", file=path, field="line 2")
    frames, values = table[:, header.index("frame")], table[:, header.index(depth)]
    if not ((np.abs(frames) < LARGEST_FRAME) & (frames == np.floor(frames))).all():
        raise InputError("holds a number that is no frame", file=path, field="frame")
    result: dict[int, float] = {}
    for frame in np.unique(frames).tolist():
        present = values[(frames == frame) & (values != 0)]
        result[int(frame)] = float(np.median(present)) if len(present) else float("nan")
    return result


def _of_manifest(path: Path | str) -> dict[int, float]:
    content = parse_by_suffix(read_text(path), path)
    frames = content.get("frames") if isinstance(content, dict) else None
    if not isinstance(frames, list):
        raise InputError("is no manifest of a dataset", file=path, fix="give lines of a frame and its distance, mm")
    distances: dict[int, float] = {}
    for index, entry in enumerate(frames):
        if not isinstance(entry, dict) or "distance" not in entry:
            continue
        numbers = NUMBER.findall(str(entry.get("folder", "")))
        field = f"frames.{index}"
        frame = int(numbers[-1]) if numbers and len(numbers[-1]) <= LONGEST_NUMBER else None
        if frame is None or frame in distances:
            raise InputError("has a folder without a number, or that of another", file=path, field=field)
        try:
            distances[frame] = to_number(entry["distance"])
        except ValueError as error:
            raise InputError(str(error), file=path, field=f"{field}.distance") from None
    if not distances:
        raise InputError("has no frame with a distance", file=path, fix="give lines of a frame and its distance, mm")
    return distances


def _is_number(word: str) -> bool:
    try:
        to_number(word)
    except ValueError:
        return False
    return True
