"""What all figures share: colours, grids, how lens types are shown, and writing to files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.io import atomic_path

FORMATS = ("png", "pdf", "svg")

# The palette of Okabe and Ito, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
COLORS = (BLUE, ORANGE, GREEN, PINK, YELLOW, SKY)
TYPE_COLORS = (BLUE, ORANGE, GREEN, PINK)  # of the lens types, in all figures
DARK, GRAY, MISSING = "#333333", "#999999", "#222222"  # lines, lines of reference, pixels without a value

GRID: dict[str, Any] = {"color": "#dddddd", "linewidth": 0.6}
ZERO: dict[str, Any] = {"color": GRAY, "linewidth": 0.8}
SHOWN_QUANTILES = (0.01, 0.99)  # of a map's depths lie within its colours; outliers would take them all


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 150) -> None:
    """Write a figure in the format of the path's suffix: .png, .pdf or .svg."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(
            f"has the suffix '.{suffix}', which no figure can have", file=path, fix="use .png, .pdf or .svg"
        )
    with atomic_path(path) as temporary:
        temporary.write_bytes(figure_bytes(figure, suffix, dpi))


def figure_bytes(figure: Figure, suffix: str, dpi: int) -> bytes:
    """A figure as the content of a file of that format. Matplotlib's own PDF writer fails badly on a full disk."""
    drawn = BytesIO()
    figure.savefig(drawn, format=suffix, dpi=dpi)
    return drawn.getvalue()


def type_color(lens_type: int) -> str:
    """The colour of a lens type in all figures; -1 stands for pinholes."""
    return TYPE_COLORS[max(lens_type, 0) % len(TYPE_COLORS)]


def type_label(lens_type: int) -> str:
    """The name of a lens type in all figures; -1 stands for pinholes."""
    return f"type {lens_type}" if lens_type >= 0 else "pinholes"


def hide_ticks(axes: Axes) -> None:
    """Draw an image without ticks."""
    axes.set_xticks([])
    axes.set_yticks([])


def reduced(image: NDArray[Any], most_pixels: int) -> NDArray[Any]:
    """Every n-th pixel of an image (h, w), so that its longer side has at most `most_pixels`."""
    step = max(1, int(np.ceil(max(image.shape) / most_pixels)))
    return image[::step, ::step]


def depth_colors(depth: NDArray[Any]) -> dict[str, Any]:
    """The depths at the ends of the colours: `vmin` and `vmax` for finite depths (n,), at least one."""
    low, high = np.quantile(depth, SHOWN_QUANTILES)
    return {"vmin": float(low), "vmax": float(max(high, low + 1e-6))}
