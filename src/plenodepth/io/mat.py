"""A pose as RxLive exports it, .mat: five lines of header, then [R | t] in three lines of four numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.poses import rotation_fault
from plenodepth.io.reading import read_bytes
from plenodepth.io.text_lines import TextLines

HEADER_LINES = 5


@dataclass(frozen=True, eq=False)
class MatPose:
    """rotation (3, 3) and translation (3,) mm as stored; the file does not say from which frame to which."""

    rotation: npt.NDArray[np.float64]
    translation: npt.NDArray[np.float64]


def read_mat(path: Path | str) -> MatPose:
    """Reads the pose; what follows it is left out."""
    lines = TextLines(read_bytes(path), path)
    rows = np.array([lines.numbers(HEADER_LINES + row, 4, "a row of [R | t]") for row in range(3)])
    fault = rotation_fault(rows[:, :3])
    if fault:
        raise InputError(fault[0], file=path, field=f"lines {HEADER_LINES + 1} … {HEADER_LINES + 3}", fix=fault[1])
    return MatPose(rows[:, :3].copy(), rows[:, 3].copy())
