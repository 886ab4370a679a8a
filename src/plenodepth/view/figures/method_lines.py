"""One colour and one kind of line for each compared method, the same in all figures of a reproduction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

# The paper's methods and ours that needs no correction; all others are variants of these, or come from elsewhere.
MAIN = ("BLADE", "BLADEu", "DISP", "aware", "RTRX")
REFERENCE = "BLADE"  # that variants are drawn beside
COLORS = {  # for colour-blind readers, too
    "BLADE": "#0072b2",
    "BLADEu": "#56b4e9",
    "DISP": "#e69f00",
    "aware": "#009e73",
    "aware + Γ": "#003b2b",
    "BLADE, linear Γ": "#cc79a7",
    "golden section": "#d55e00",
    "same-type blocks": "#666666",
    "RTRX": "#7b2d8e",
}
MARKERS = "osD^vP*Xp"
OTHER_MARKERS = "<>hd8H"


@dataclass(frozen=True)
class Line:
    """How a method is drawn."""

    color: str
    marker: str


def method_line(label: str) -> Line:
    """Of a method; one that is not known beforehand is black, its marker chosen by its name."""
    if label not in COLORS:
        return Line("#000000", OTHER_MARKERS[crc32(label.encode()) % len(OTHER_MARKERS)])
    return Line(COLORS[label], MARKERS[list(COLORS).index(label) % len(MARKERS)])


def groups(labels: Iterable[str]) -> list[list[str]]:
    """Methods that fit into one figure: the main ones, and the variants beside the reference; none of no method."""
    present = list(labels)
    main = [label for label in MAIN if label in present]
    variants = [label for label in present if label not in MAIN]
    if not main or not variants:
        return [group for group in (main, variants) if group]
    return [main, [REFERENCE, *variants] if REFERENCE in present else variants]
