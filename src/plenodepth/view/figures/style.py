"""What all figures share: colours, grids, how lens types are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
COLORS = (BLUE, ORANGE, GREEN, PINK, YELLOW, SKY)
TYPE_COLORS = (BLUE, ORANGE, GREEN, PINK)  # of the lens types, in all figures
DARK, GRAY = "#333333", "#999999"  # lines, lines of reference

GRID: dict[str, Any] = {"color": "#dddddd", "linewidth": 0.6}
ZERO: dict[str, Any] = {"color": GRAY, "linewidth": 0.8}
BESIDE: dict[str, Any] = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": "x-small"}  # a point's label


def type_color(lens_type: int) -> str:
    """The colour of a lens type in all figures; -1 stands for pinholes."""
    return TYPE_COLORS[max(lens_type, 0) % len(TYPE_COLORS)]


def type_label(lens_type: int) -> str:
    """The name of a lens type in all figures; -1 stands for pinholes."""
    return f"type {lens_type}" if lens_type >= 0 else "pinholes"


def hide_ticks(axes: Axes) -> None:
    """Remove the ticks of axes that show an image."""
    axes.set_xticks([])
    axes.set_yticks([])
