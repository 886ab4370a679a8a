"""Metres or millimetres: which unit a cloud from another program is in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError

Unit = Literal["m", "mm"]

MM_PER_METRE = 1000.0
UNITS: dict[str, float] = {"m": MM_PER_METRE, "mm": 1.0}
# No scanned room spans 100 m and no scanned scene less than 100 mm: in between lies the border.
LARGEST_IN_METRES = 100.0
SAMPLE = 200_000  # points are enough to tell the extent
TAILS = (0.01, 0.99)  # stray points do not count


def checked_unit(unit: str | None, path: Path | str) -> Unit | None:
    """A unit by its name, or None for "to be told from the points"."""
    if unit is None:
        return None
    if unit == "m":
        return "m"
    if unit == "mm":
        return "mm"
    raise InputError(f"is '{unit}'", file=path, field="unit", fix="use m or mm")


def guessed_unit(points: npt.NDArray[np.float64]) -> tuple[Unit, str]:
    """The unit that points (n, 3) are likely in, and a sentence that says why.

    Told by the diagonal of the box that holds all but the outermost hundredth along each axis: below 100 it is taken
    for metres. Where the scanner's zero lies plays no part.
    """
    if not len(points):
        return "mm", "no points, so no unit"
    sample = points[:: max(1, len(points) // SAMPLE)]
    low, high = np.quantile(sample, TAILS, axis=0)
    span = float(np.linalg.norm(high - low))
    if span < LARGEST_IN_METRES:
        return "m", f"coordinates span {span:.3g}: taken for metres"
    return "mm", f"coordinates span {span:.4g}: taken for millimetres"
