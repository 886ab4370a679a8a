"""What a camera says about the numbers of its raw images: colour filters and black level."""

from __future__ import annotations

from plenodepth.errors import InputError
from plenodepth.io.reading import quoted

BAYER_PATTERNS = ("RGGB", "GRBG", "GBRG", "BGGR")  # filters of the top-left 2 × 2 pixels, row by row


def bayer_pattern(name: str, field: str = "bayer") -> str:
    """One of `BAYER_PATTERNS`, given in capitals or not; else an `InputError` of `field`."""
    pattern = str(name).upper()
    if pattern not in BAYER_PATTERNS:
        raise InputError(f"is {quoted(name)}", field=field, fix=f"give one of {', '.join(BAYER_PATTERNS)}")
    return pattern


def require_black_level(level: float, field: str = "black_level") -> float:
    """The level, if it is a part of full scale, ≥ 0 and < 1; else an `InputError` of `field`."""
    if not 0 <= level < 1:  # a NaN is not
        raise InputError(
            f"is {level:g}, needs a number ≥ 0 and < 1",
            field=field,
            fix="give it as a part of full scale: 64 of 1023 is 0.06256",
        )
    return float(level) + 0.0  # without the sign of −0
