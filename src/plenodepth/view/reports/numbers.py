"""Numbers with their uncertainty as people write them."""

from __future__ import annotations

import math

PLAIN = (-4, 6)  # powers of ten that are written out


def with_sigma(value: float, sigma: float | None) -> str:
    """`49.8853 ± 0.0021`: two digits of σ, and as many places of the value; six digits where σ is not known."""
    if sigma is None or not (math.isfinite(sigma) and sigma > 0 and math.isfinite(value)):
        return f"{value:.6g}"
    size = math.floor(math.log10(max(abs(value), sigma)))
    power = 0 if PLAIN[0] < size < PLAIN[1] else size
    places = max(0, 1 - math.floor(math.log10(sigma)) + power)
    scaled = f"{value / 10**power:.{places}f} ± {sigma / 10**power:.{places}f}"
    return scaled if power == 0 else f"({scaled})·10{_raised(power)}"


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
