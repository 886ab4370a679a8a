"""The grid of a camera as TLCT, the lenslet conversion tool, is told it: `calib.cfg`, lines of `key : value`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.reading import quoted, read_text, to_number

FloatArray = npt.NDArray[np.float64]

_OFFSETS = ("CentralMIOffsetX", "CentralMIOffsetY")
_CORNERS = tuple(
    f"{place}MICenter{axis}" for place in ("LeftTop", "RightTop", "LeftBottom", "RightBottom") for axis in "XY"
)
_KEYS = {
    "LensletWidth",
    "LensletHeight",
    "MIDiameter",
    "MLADirection",
    "IsKepler",
    "NearFocalLenType",
    *_OFFSETS,
    *_CORNERS,
}
_TELLING = re.compile(r"^[ \t]*+(LensletWidth|LensletHeight|MIDiameter)[ \t]*+:", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class TlctGrid:
    """The grid as the file gives it; it has either the central micro-image or the four corner ones."""

    width: int  # [px], of the image
    height: int
    diameter: float  # [px], of a micro-image, nominal where corners are given
    by_columns: bool  # the straight lines of lenses run vertically
    offset_from_centre: FloatArray | None  # (2,) [px], of one micro-image from the image centre, y UP
    corners: FloatArray | None  # (4, 2) [px], of the left top, right top, left bottom and right bottom micro-image
    is_kepler: bool | None  # None: the file does not say
    near_focal_type: int | None  # which of three lens types is focused nearest; None: there is one lens type


def is_tlct_text(text: str) -> bool:
    """Whether a text is TLCT's rather than YAML: it names the lenslet image or the micro-images in TLCT's words."""
    return _TELLING.search(text) is not None


def read_tlct_grid(path: Path | str) -> TlctGrid:
    """Reads TLCT's calibration; an unknown key is an error, for a misspelt one would silently not count."""
    entries = _Entries(path)
    given = [name for name in ("offset", "corners") if any(key in entries.texts for key in entries.keys_of(name))]
    if len(given) != 1:
        raise InputError(
            "has both a central micro-image and corners" if given else "has neither a central micro-image nor corners",
            file=path,
            field=f"{_OFFSETS[0]}, {_CORNERS[0]}",
            fix="give the one or the others",
        )
    place = np.array([entries.number(key) for key in entries.keys_of(given[0])])
    near = entries.whole("NearFocalLenType", -1, 2, -1)
    return TlctGrid(
        width=entries.whole("LensletWidth", 1, 2**31 - 1),
        height=entries.whole("LensletHeight", 1, 2**31 - 1),
        diameter=entries.positive("MIDiameter"),
        by_columns=entries.whole("MLADirection", 0, 1, 0) == 1,
        offset_from_centre=place if given == ["offset"] else None,
        corners=place.reshape(4, 2) if given == ["corners"] else None,
        is_kepler=entries.whole("IsKepler", 0, 1) == 1 if "IsKepler" in entries.texts else None,
        near_focal_type=None if near < 0 else near,
    )


class _Entries:
    """The values of a file by their keys."""

    def __init__(self, path: Path | str) -> None:
        self.path, self.texts = path, dict[str, str]()
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            key, colon, value = (part.strip() for part in line.partition(":"))
            if not colon:
                raise InputError(f"is not 'key : value': {quoted(line)}", file=path, field=f"line {number}")
            if key not in _KEYS:
                raise InputError(
                    f"unknown key {quoted(key)}",
                    file=path,
                    field=f"line {number}",
                    fix="correct its name, or remove the line",
                )
            if key in self.texts:
                raise InputError("is there twice", file=path, field=key, fix="give it once")
            self.texts[key] = value

    @staticmethod
    def keys_of(place: str) -> tuple[str, ...]:
        return _OFFSETS if place == "offset" else _CORNERS

    def number(self, key: str) -> float:
        if key not in self.texts:
            raise InputError("is missing", file=self.path, field=key, fix="give it once")
        try:
            return to_number(self.texts[key])
        except ValueError as error:
            raise InputError(str(error), file=self.path, field=key, fix="give a finite number") from None

    def positive(self, key: str) -> float:
        value = self.number(key)
        if value <= 0:
            raise InputError(f"is not positive: {value:g}", file=self.path, field=key, fix="give pixels > 0")
        return value

    def whole(self, key: str, least: int, most: int, default: int | None = None) -> int:
        if default is not None and key not in self.texts:
            return default
        value = self.number(key)
        if value != int(value) or not least <= value <= most:
            limits = f"{least} to {most}" if most < 100 else f"from {least}"
            raise InputError(f"is {value:g}", file=self.path, field=key, fix=f"give a whole number {limits}")
        return int(value)
