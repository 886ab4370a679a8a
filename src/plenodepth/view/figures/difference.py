"""The differences of two depth maps: as a map and as a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenodepth.view.figures.depth import MOST_PIXELS

SHOWN = 0.95  # of the differences fit into the colours
BINS = 81


def difference_figure(signed: NDArray[np.floating[Any]], reading: str, reference: str) -> Figure:
    """Draw reading − reference (h, w), mm: red is too far, blue too near, dark is missing."""
    step = max(1, int(np.ceil(max(signed.shape) / MOST_PIXELS)))
    present = signed[np.isfinite(signed)]
    limit = max(float(np.quantile(np.abs(present), SHOWN)), 1e-6)
    figure = Figure(figsize=(12, 5), layout="constrained")
    picture, histogram = figure.subplots(1, 2, width_ratios=(3, 2))
    picture.set_facecolor("#222222")
    picture.set_title(f"{reading} − {reference}")
    picture.set_xticks([])
    picture.set_yticks([])
    drawn = picture.imshow(signed[::step, ::step], cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
    figure.colorbar(drawn, label="difference [mm]", shrink=0.8, extend="both")
    histogram.hist(np.clip(present, -limit, limit), bins=BINS, color="#0072b2")
    histogram.axvline(0, color="#999999", linewidth=0.8)
    histogram.axvline(float(np.median(present)), color="#d55e00", label=f"median {np.median(present):+z.2f} mm")
    histogram.set_xlabel("difference [mm] (the ends hold all beyond)")
    histogram.set_ylabel("pixels")
    histogram.legend(loc="best")
    return figure
