"""Numbers as people write them: with their uncertainty, with few digits, as a duration."""

from __future__ import annotations

import math

MISSING = "–"  # stands for a number that is not known
PLAIN = (-4, 6)  # between these powers of ten a number is written without an exponent


def with_sigma(value: float, sigma: float | None) -> str:
    """`49.8853 ± 0.0021`: two digits of σ and as many places of the value; six digits where σ is not known."""
    if sigma is None or not (math.isfinite(sigma) and sigma > 0 and math.isfinite(value)):
        return f"{value:.6g}"
    size = math.floor(math.log10(max(abs(value), sigma)))
    power = 0 if PLAIN[0] < size < PLAIN[1] else size
    places = max(0, 1 - math.floor(math.log10(sigma)) + power)
    scaled = f"{value / 10**power:.{places}f} ± {sigma / 10**power:.{places}f}"
    return scaled if power == 0 else f"({scaled})·10{_superscript(power)}"


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def fixed(value: float | None, places: int, unit: str = "") -> str:
    """`0.142 px`: a number with so many places and its unit; a dash where it is None or not finite."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:.{places}f} {unit}".rstrip()


def cell_text(cell: str | float | bool | None) -> str:
    """The text of a table's cell: four digits of a number, a dash where there is none."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.1f}" if 1000 <= abs(cell) < 1e6 else f"{cell:.4g}"
    return str(cell)


def with_unit(value: float | None, unit: str) -> str:
    """`12.3 mm`: a number as in a cell with its unit; a dash where it is None."""
    return MISSING if value is None else f"{cell_text(value)} {unit}".rstrip()


def percentage(part: float, whole: float) -> str:
    """`0.31%`; `no` where the whole is zero."""
    return f"{part / whole:.2%}" if whole else "no"


def duration(seconds: float | None) -> str:
    """`95 s`, `12 min`, `3 h 05 min`."""
    if seconds is None:
        return MISSING
    if seconds < 120:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
