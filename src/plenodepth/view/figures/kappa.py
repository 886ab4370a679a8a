"""κ by each frame alone, with its standard error, against κ by all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure


def kappa_figure(record: Mapping[str, Any]) -> Figure:
    """`record` as `calib.blur.step` writes it."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    rows = [row for row in record["frames"] if row["kappa"] is not None]
    place = np.arange(len(rows))
    errors = [row["standard_error"] or 0.0 for row in rows]
    axes.errorbar(place, [row["kappa"] for row in rows], yerr=errors, fmt="o", color="#0072b2", label="one frame alone")
    kappa, sigma = record["kappa"], record["standard_error"]
    axes.axhline(kappa, color="#d55e00", label=f"all: {kappa:.4f} ± {sigma:.4f}")
    axes.axhspan(kappa - sigma, kappa + sigma, color="#d55e00", alpha=0.2, linewidth=0)
    axes.set_xticks(place, [str(row["frame"]) for row in rows])
    axes.set_xlabel("frame")
    axes.set_ylabel("κ = σ/ρ (bars: standard error)")
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend()
    return figure
