"""Depth: maps, cost curves, differences of two maps, and relative errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenodepth.evaluate.frames.relative import RelativeDepthError, by_displacement
from plenodepth.metric.picture import MISSING, reduced
from plenodepth.view.figures.style import BLUE, GRID, ORANGE, ZERO, hide_ticks

if TYPE_CHECKING:
    from plenodepth.depth.curves import CostCurve

MOST_PIXELS = 1200  # of a map's longer side
SHOWN_DIFFERENCES = 0.95  # quantile of |difference| at the ends of the colours
BINS = 81  # of the histogram of differences


def cost_figure(curves: Mapping[str, CostCurve], title: str) -> Figure:
    """Cost curves of a micro-image over virtual depth, up to two variants by name, each with its estimate ± σ."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    for color, (name, curve) in zip((BLUE, ORANGE), curves.items(), strict=False):
        found = f"v = {curve.estimate:.3f} ± {curve.sigma:.3f}" if np.isfinite(curve.estimate) else "no depth"
        axes.plot(1 / curve.virtual_depth, curve.cost, color=color, label=f"{name}: {found}")
        if np.isfinite(curve.estimate):
            axes.axvline(1 / curve.estimate, color=color, linewidth=0.8, linestyle=":")
    depths = [2, 2.5, 3, 4, 5, 7, 10, 20]
    axes.set_xticks([1 / v for v in depths], [f"{v:g}" for v in depths])
    axes.set_xlabel("virtual depth (evenly spaced in 1/v)")
    axes.set_ylabel("mean absolute difference of the views")
    axes.set_title(title)
    axes.grid(True, **GRID)
    axes.legend()
    return figure


def difference_figure(signed: NDArray[np.floating[Any]], reading: str, reference: str) -> Figure:
    """A map and a histogram of reading − reference (h, w), mm: red is too far, blue too near, dark is missing."""
    present = signed[np.isfinite(signed)]
    limit = max(float(np.quantile(np.abs(present), SHOWN_DIFFERENCES)), 1e-6)
    figure = Figure(figsize=(12, 5), layout="constrained")
    picture, histogram = figure.subplots(1, 2, width_ratios=(3, 2))
    picture.set_facecolor(MISSING)
    picture.set_title(f"{reading} − {reference}")
    hide_ticks(picture)
    drawn = picture.imshow(
        reduced(signed, MOST_PIXELS), cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest"
    )
    figure.colorbar(drawn, label="difference [mm]", shrink=0.8, extend="both")
    histogram.hist(np.clip(present, -limit, limit), bins=BINS, color=BLUE)
    histogram.axvline(0, **ZERO)
    histogram.axvline(float(np.median(present)), color=ORANGE, label=f"median {np.median(present):+z.2f} mm")
    histogram.set_xlabel("difference [mm] (the ends hold all beyond)")
    histogram.set_ylabel("pixels")
    histogram.legend(loc="best")
    return figure


def relative_error_figure(result: RelativeDepthError) -> Figure:
    """The relative depth error over the displacement: each pair of frames, the mean of each displacement, of all."""
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.subplots()
    rows = by_displacement(result)
    lengths, means = (np.array([getattr(row, name) for row in rows]) for name in ("displacement", "mean"))
    axes.scatter(result.displacement, 100 * result.error, s=8, color="#bbbbbb", label="pairs of frames")
    axes.plot(lengths, 100 * means, "o-", color=BLUE, label="mean of a displacement")
    axes.axhline(100 * result.mean, color=ORANGE, label=f"mean {100 * result.mean:.2f} %")
    low, high = result.interval
    if np.isfinite(low):
        axes.axhspan(100 * low, 100 * high, color=ORANGE, alpha=0.15, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("displacement [mm]")
    axes.set_ylabel("relative depth error ε_z [%]")
    axes.grid(True, **GRID)
    axes.legend(loc="best")
    return figure
