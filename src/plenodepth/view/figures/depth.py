"""A depth map as a picture with a colour bar."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

SHOWN_QUANTILES = (0.01, 0.99)  # outliers must not eat up the colours
MOST_PIXELS = 1200  # of a picture's longer side


def depth_figure(values: NDArray[np.float32], title: str, unit: str) -> Figure:
    """Draw a map; missing values stay dark. Near is bright for depths in mm, and so it is for virtual depth."""
    step = max(1, int(np.ceil(max(values.shape) / MOST_PIXELS)))
    shown = values[::step, ::step]
    figure = Figure(figsize=(9, 7), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("#222222")
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
    present = shown[np.isfinite(shown)]
    if not present.size:
        axes.text(0.5, 0.5, "no depth", transform=axes.transAxes, ha="center", color="white")
        axes.set_aspect(values.shape[0] / values.shape[1])
        return figure
    low, high = np.quantile(present, SHOWN_QUANTILES)
    colors = "viridis_r" if unit == "mm" else "viridis"
    picture = axes.imshow(shown, cmap=colors, vmin=low, vmax=max(high, low + 1e-6), interpolation="nearest")
    figure.colorbar(picture, label=f"z [{unit}]" if unit == "mm" else unit, shrink=0.8)
    return figure
