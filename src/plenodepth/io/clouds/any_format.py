"""One front door to clouds of any format: .ply, .pts, .ptx, .xyz, and libpleno's .bin and .bin.gz."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.clouds.columns import UNITS, Unit, checked_unit, guessed_unit
from plenodepth.io.clouds.ply import read_ply
from plenodepth.io.clouds.pts import read_pts
from plenodepth.io.clouds.ptx import read_ptx
from plenodepth.io.clouds.xyz import read_xyz
from plenodepth.io.libpleno.archive import is_archive
from plenodepth.io.libpleno.point_cloud import read_point_cloud

CLOUD_SUFFIXES = (".ply", ".pts", ".ptx", ".xyz", ".bin", ".bin.gz")


@dataclass(frozen=True, eq=False)
class Cloud:
    """n points, and what a reader should know about how they were read."""

    points: npt.NDArray[np.float64]  # (n, 3) mm
    colors: npt.NDArray[np.uint8] | None  # (n, 3)
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.points)


def read_cloud(path: Path | str, unit: str | None = None) -> Cloud:
    """A cloud in mm, its format told by the suffix.

    `unit` is "m" or "mm", as the file's numbers are. Where it is not given, .ply, libpleno's archives and its .xyz
    (with a count) are in mm; for other text files it is told from the cloud's extent, and the notes say so.
    """
    wanted = checked_unit(unit, path)
    name = Path(path).name.lower()
    colors: npt.NDArray[np.uint8] | None = None
    notes, known = list[str](), None
    if is_archive(path):
        archive = read_point_cloud(path)
        points, known = archive.points, "mm"
        colors = archive.colors if len(archive.colors) else None
    elif name.endswith(".ply"):
        vertices = read_ply(path)
        points, colors, known = vertices["points"], vertices.get("colors"), "mm"
    elif name.endswith(".pts"):
        columns = read_pts(path, "mm")  # as stored: the unit is yet to be told
        points, colors = columns["points"], columns.get("colors")
    elif name.endswith(".ptx"):
        points, colors, note = _joined_scans(path)
        notes.append(note)
    elif name.endswith(".xyz"):
        plain = read_xyz(path)
        points, colors, known = plain.points, plain.colors, "mm" if plain.counted else None
    else:
        raise InputError(
            f"has the suffix '{Path(path).suffix}'", file=path, fix=f"give a cloud: {', '.join(CLOUD_SUFFIXES)}"
        )
    if not len(points):
        raise InputError("holds no points", file=path, fix="give a cloud with points")
    used: Unit
    if wanted is not None:
        used = wanted
    elif known is not None:
        used = "mm"
    else:
        used, note = guessed_unit(points)
        notes.append(f"{note} (--unit says otherwise)")
    if used != "mm":
        points = points * UNITS[used]
    return Cloud(points, colors, tuple(notes))


def _joined_scans(path: Path | str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8] | None, str]:
    """The points of all scans in their common frame, their colours if every scan has them, and a note."""
    scans = read_ptx(path)
    filled = [scan for scan in scans if len(scan.points)]
    points = np.concatenate([scan.points for scan in scans])
    known = [scan.colors for scan in filled if scan.colors is not None]
    colors = np.concatenate(known) if known and len(known) == len(filled) else None
    missing = sum(scan.missing for scan in scans)
    plural = "s" if len(scans) > 1 else ""
    return points, colors, f"{len(scans)} scan{plural}, {len(points)} points, {missing} beams met nothing"
