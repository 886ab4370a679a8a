"""A depth map as a picture with a colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

MOST_PIXELS = 1200  # of a picture's longer side
MISSING = "#222222"  # colour of pixels without a depth
SHOWN_QUANTILES = (0.01, 0.99)  # of a map's depths lie within its colours; outliers would take them all


def depth_picture(values: NDArray[np.float32], title: str, unit: str) -> Figure:
    """A map of depth (h, w) in mm or of virtual depth. Near is bright; pixels without a depth are dark."""
    shown = reduced(values, MOST_PIXELS)
    figure = Figure(figsize=(9, 7), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor(MISSING)
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
    present = shown[np.isfinite(shown)]
    if not present.size:
        axes.text(0.5, 0.5, "no depth", transform=axes.transAxes, ha="center", color="white")
        axes.set_aspect(values.shape[0] / values.shape[1])
        return figure
    colors = "viridis_r" if unit == "mm" else "viridis"
    picture = axes.imshow(shown, cmap=colors, interpolation="nearest", **depth_colors(present))
    figure.colorbar(picture, label=f"z [{unit}]" if unit == "mm" else unit, shrink=0.8)
    return figure


def reduced(image: NDArray[Any], most_pixels: int) -> NDArray[Any]:
    """Every n-th pixel of an image (h, w), so that its longer side has at most `most_pixels`."""
    step = max(1, int(np.ceil(max(image.shape) / most_pixels)))
    return image[::step, ::step]


def depth_colors(depth: NDArray[Any]) -> dict[str, Any]:
    """The depths at the ends of the colours: `vmin` and `vmax` for finite depths (n,), at least one."""
    low, high = np.quantile(depth, SHOWN_QUANTILES)
    return {"vmin": float(low), "vmax": float(max(high, low + 1e-6))}
