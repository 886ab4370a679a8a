"""The relative depth error against the displacement, as the paper plots it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from plenodepth.evaluate.frames.relative import RelativeDepthError, by_displacement


def relative_figure(result: RelativeDepthError) -> Figure:
    """Every pair of frames as a point, the mean of each displacement as a line, and the mean of all."""
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.subplots()
    rows = by_displacement(result)
    lengths, means = (np.array([getattr(row, name) for row in rows]) for name in ("displacement", "mean"))
    axes.scatter(result.displacement, 100 * result.error, s=8, color="#bbbbbb", label="pairs of frames")
    axes.plot(lengths, 100 * means, "o-", color="#0072b2", label="mean of a displacement")
    axes.axhline(100 * result.mean, color="#d55e00", label=f"mean {100 * result.mean:.2f} %")
    low, high = result.interval
    if np.isfinite(low):
        axes.axhspan(100 * low, 100 * high, color="#d55e00", alpha=0.15, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("displacement [mm]")
    axes.set_ylabel("relative depth error ε_z [%]")
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend(loc="best")
    return figure
