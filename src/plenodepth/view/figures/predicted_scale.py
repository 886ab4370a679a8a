"""True against uncorrected depth, as the optics predict it for several apertures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from plenodepth.calib.scale.prediction import ScalePrediction

APERTURE_COLORS = ("#56b4e9", "#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7")  # for colour-blind readers, too
MAIN_WIDTH, OTHER_WIDTH = 2.4, 1.2


def scale_figure(name: str, predictions: Sequence[ScalePrediction], main: float) -> Figure:
    """Depth found without correction, and how far that is off, against true depth; f-number `main` is drawn bold."""
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    depths, errors = figure.subplots(1, 2)
    figure.suptitle(f"{name}: depth that is found when the aperture is not taken into account")
    ordered = sorted(predictions, key=lambda prediction: prediction.f_number)
    for index, prediction in enumerate(ordered):
        color = APERTURE_COLORS[index % len(APERTURE_COLORS)]
        width = MAIN_WIDTH if prediction.f_number == main else OTHER_WIDTH
        for axes, values in ((depths, prediction.uncorrected), (errors, 100 * prediction.relative_error)):
            axes.plot(prediction.depth, values, color=color, linewidth=width, label=f"f/{prediction.f_number:g}")
        if prediction.f_number == main and prediction.gamma is not None:
            corrected = prediction.gamma.corrected(prediction.uncorrected)
            left = 100 * (corrected / prediction.depth - 1)
            errors.plot(prediction.depth, left, ":", color="#333333", label=f"f/{main:g} after Γ")
    ends = np.array([min(p.depth.min() for p in ordered), max(p.depth.max() for p in ordered)])
    depths.plot(ends, ends, color="#999999", linewidth=0.8, zorder=0)
    errors.axhline(0, color="#999999", linewidth=0.8, zorder=0)
    depths.set_ylabel("depth found [mm]")
    errors.set_ylabel("depth found, too large by [%]")
    for axes in (depths, errors):
        axes.set_xlabel("true distance from the main lens [mm]")
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.legend(loc="best")
    return figure
