"""Targets that a laser scanner measured, and the pose found by them, on disk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plenodepth.calib.records import to_json
from plenodepth.camera.model import Array
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import (
    FramePose,
    atomic_path,
    json_text,
    parse_by_suffix,
    read_ply,
    read_pts,
    read_text,
    to_number,
    write_pose,
    yaml_text,
)

VERSION_KEY, VERSION = "plenodepth_lidar_pose", 1
SEPARATOR = re.compile(r"\s++(?:[,;]\s*+)?|[,;]\s*+")  # of which none looks at a blank twice
COMMENT = "#"
LIGHTNESS = np.array([0.2126, 0.7152, 0.0722])  # of red, green, blue
POSE_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, eq=False)
class Targets:
    """m targets, numbered from 0 as in their file."""

    points: Array  # (m, 3) mm, LIDAR frame
    names: tuple[str, ...]  # (m,)


def read_targets(path: Path | str) -> Targets:
    """A text file of one target a line: x, y, z in mm, and a name if there is one.

    Commas, semicolons or blanks between; what follows a # is left out, and so is a first line of words.
    """
    points, names = list[list[float]](), list[str]()
    lines = enumerate(read_text(path).splitlines(), start=1)
    cells = [(number, line.partition(COMMENT)[0].strip()) for number, line in lines]
    filled = [(number, SEPARATOR.split(line, maxsplit=3)) for number, line in cells if line]
    for place, (number, parts) in enumerate(filled):
        if place == 0 and not any(_is_number(part) for part in parts):
            continue  # a header
        if len(parts) < 3:
            raise InputError(
                f"has {len(parts)} values, needs x, y, z", file=path, field=f"line {number}", fix="complete the line"
            )
        try:
            points.append([to_number(part) for part in parts[:3]])
        except ValueError as error:
            raise InputError(str(error), file=path, field=f"line {number}", fix="give x, y, z in mm") from None
        names.append(parts[3].strip() if len(parts) > 3 and parts[3].strip() else str(len(names)))
    if not points:
        raise InputError("holds no target", file=path, fix="give x,y,z (mm) of one target a line")
    return Targets(np.array(points), tuple(names))


def write_targets(targets: Targets, path: Path | str) -> None:
    """Write targets in the form that `read_targets` reads."""
    rows = (f"{x:.6f},{y:.6f},{z:.6f},{name}" for (x, y, z), name in zip(targets.points, targets.names, strict=True))
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(["x,y,z,name", *rows]) + "\n", encoding="utf-8")


def read_scan(path: Path | str) -> tuple[Array, Array]:
    """Points (n, 3) mm and brightness (n,) of a scan: .pts (metres in the file) or .ply (mm).

    Brightness is the scanner's intensity, or without one the lightness of the colours.
    """
    readers = {".pts": read_pts, ".ply": read_ply}
    reader = readers.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError("does not tell the format by its suffix", file=path, fix=f"one of {', '.join(readers)}")
    columns = reader(path)
    if "intensity" in columns:
        brightness = np.asarray(columns["intensity"], dtype=np.float64)
    elif "colors" in columns:
        brightness = columns["colors"].astype(np.float64) @ LIGHTNESS
    else:
        raise InputError("has neither intensity nor colours", file=path, fix="export the scan with its intensity")
    return np.asarray(columns["points"], dtype=np.float64), brightness


def _is_number(text: str) -> bool:
    try:
        to_number(text)
    except ValueError:
        return "nan" in text.lower() or "inf" in text.lower()  # a number, if none that will do
    return True


def write_lidar_pose(record: object, path: Path | str) -> None:
    """Write cam_from_lidar with its uncertainty (a `LidarRecord` of `calib.lidar.step`) as YAML or JSON."""
    found = {name: value for name, value in to_json(record).items() if value is not None}
    content = {VERSION_KEY: VERSION, **found}
    if Path(path).suffix.lower() not in POSE_SUFFIXES:
        raise InputError("does not tell the format by its suffix", file=path, fix=f"one of {', '.join(POSE_SUFFIXES)}")
    text = json_text(content) if Path(path).suffix.lower() == ".json" else yaml_text(content)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_lidar_pose(path: Path | str) -> Pose:
    """The cam_from_lidar of a file by `write_lidar_pose`."""
    content = parse_by_suffix(read_text(path), path)
    pose = content.get("cam_from_lidar") if isinstance(content, dict) else None
    if not isinstance(pose, dict) or content.get(VERSION_KEY) != VERSION:
        raise InputError(f"is no pose of a lidar: {VERSION_KEY}: {VERSION} is missing", file=path)
    try:
        parts = [np.array(pose[name], dtype=np.float64) for name in ("rotation", "translation")]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("needs a rotation and a translation", file=path, field="cam_from_lidar") from None
    try:
        return Pose(*parts)
    except InputError as error:
        raise error.in_file(path) from None


def write_libpleno_lidar_pose(cam_from_lidar: Pose, path: Path | str, frame: int) -> None:
    """Write libpleno's file, which holds the inverse pose: the camera in the LIDAR frame."""
    inverse = cam_from_lidar.inverse()
    write_pose(FramePose(frame, inverse.rotation, inverse.translation), path)
