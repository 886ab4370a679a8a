"""What the readers and writers of clouds share: checks of points, colours and columns, and the unit, metres or mm."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError

Columns = dict[str, npt.NDArray[Any]]  # `points` (n, 3), `colors` (n, 3) and other columns (n,) by name
Unit = Literal["m", "mm"]

MM_PER_METRE = 1000.0
UNITS: dict[str, float] = {"m": MM_PER_METRE, "mm": 1.0}
# No scanned room spans 100 m and no scanned scene less than 100 mm: in between lies the border.
LARGEST_IN_METRES = 100.0
SAMPLE = 200_000  # points are enough to tell the extent
TAILS = (0.01, 0.99)  # stray points do not count
_FAR_AWAY = 1e30  # still a float32, which is how coordinates are written


def checked_points(points: npt.ArrayLike, path: Path | str) -> npt.NDArray[np.float64]:
    """Points (n, 3), finite, or an `InputError` that names the file."""
    array = np.asarray(points, dtype=np.float64)
    require_points(array, path)
    return array


def require_points(array: npt.NDArray[Any], path: Path | str) -> None:
    """Refuse all but finite points (n, 3)."""
    if array.ndim != 2 or array.shape[1] != 3:
        raise InputError(f"has the shape {array.shape}", file=path, field="points", fix="give (n, 3)")
    # NaN is neither below nor above; no array of the size of a cloud is made.
    if array.size and not (array.min() > -_FAR_AWAY and array.max() < _FAR_AWAY):
        fix = "leave points without depth out"
        raise InputError("holds a coordinate that is not finite", file=path, field="points", fix=fix)


def checked_colors(colors: npt.ArrayLike, count: int, path: Path | str) -> npt.NDArray[np.uint8]:
    """Colours (count, 3) uint8, or an `InputError` that names the file."""
    array = np.asarray(colors)
    if array.shape != (count, 3) or array.dtype != np.uint8:
        message = f"is {array.dtype} of the shape {array.shape}"
        raise InputError(message, file=path, field="colors", fix=f"give uint8 ({count}, 3)")
    return array


def checked_column(values: npt.ArrayLike, count: int, name: str, path: Path | str) -> npt.NDArray[np.float32]:
    """One number per point, (count,) float32, or an `InputError` that names the file."""
    array = np.asarray(values)
    if array.shape != (count,) or array.dtype.kind not in "biuf":
        message = f"is {array.dtype} of the shape {array.shape}"
        raise InputError(message, file=path, field=name, fix=f"give one number per point, ({count},)")
    if array.dtype == np.float32:
        return array.astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        single = array.astype(np.float32)
    if np.isinf(single).any() and not np.isinf(array).any():
        raise InputError("holds a number beyond the range of float32", file=path, field=name, fix="change the unit")
    return single


def is_count(digits: str) -> bool:
    """Whether a text is a whole number of points that a file can hold."""
    return digits.isascii() and digits.isdecimal() and len(digits) < 16


def bytes_from_floats(values: npt.NDArray[np.float64], field: str, path: Path | str) -> npt.NDArray[np.uint8]:
    """Whole numbers 0 … 255 that were written as text."""
    return as_integers(values, np.dtype(np.uint8), field, path)


def as_integers(values: npt.NDArray[np.float64], kind: Any, field: str, path: Path | str) -> npt.NDArray[Any]:
    """Whole numbers that were read as floats, in the integer type `kind`; an `InputError` where one does not fit."""
    limits = np.iinfo(kind)
    if not ((values >= limits.min) & (values <= limits.max) & (values == np.floor(values))).all():
        raise InputError(f"holds a number that is no {limits.dtype}", file=path, field=field, fix="repair the file")
    return values.astype(kind)


def checked_unit(unit: str | None, path: Path | str) -> Unit | None:
    """The unit of this name; None, where none is given, leaves it to be guessed from the points."""
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
