"""Cost curves of a micro-image."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plenodepth.depth.curves import CostCurve

COLORS = ("#0072b2", "#d55e00")


def cost_figure(curves: Mapping[str, CostCurve], title: str) -> Figure:
    """Cost over virtual depth, one line per variant, with its estimate ± σ."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
        found = f"v = {curve.estimate:.3f} ± {curve.sigma:.3f}" if np.isfinite(curve.estimate) else "no depth"
        axes.plot(1 / curve.virtual_depth, curve.cost, color=color, label=f"{name}: {found}")
        if np.isfinite(curve.estimate):
            axes.axvline(1 / curve.estimate, color=color, linewidth=0.8, linestyle=":")
    depths = [2, 2.5, 3, 4, 5, 7, 10, 20]
    axes.set_xticks([1 / v for v in depths], [f"{v:g}" for v in depths])
    axes.set_xlabel("virtual depth (evenly spaced in 1/v)")
    axes.set_ylabel("mean absolute difference of the views")
    axes.set_title(title)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend()
    return figure
