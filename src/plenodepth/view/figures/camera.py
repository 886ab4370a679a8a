"""A camera over distance: blur, precision of depth, and the depth scale that its aperture causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from plenodepth.camera.model import Array
from plenodepth.camera.summary import CameraSummary, depth_table, shown_depths
from plenodepth.view.figures.style import (
    BLUE,
    DARK,
    GREEN,
    GRID,
    ORANGE,
    PINK,
    SKY,
    YELLOW,
    ZERO,
    type_color,
    type_label,
)

if TYPE_CHECKING:
    from plenodepth.calib.scale.prediction import ScalePrediction

SAMPLES = 400  # of a curve
APERTURE_COLORS = (SKY, BLUE, GREEN, YELLOW, ORANGE, PINK)
MAIN_WIDTH, OTHER_WIDTH = 2.4, 1.2
# Leading digits of ticks, from few to many.
LEADS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    (1, 1.2, 1.5, 1.7, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9),
)
TICKS = 4  # on an axis, at least


def camera_figure(summary: CameraSummary) -> Figure:
    """Signed blur radius per lens type, and the expected precision of depth, against distance."""
    camera = summary.camera
    table = depth_table(shown_depths(camera, SAMPLES, summary.virtual_range), camera, summary.disparity_precision)
    figure = Figure(figsize=(9, 7), layout="constrained")
    blur, precision = figure.subplots(2, 1, sharex=True)
    figure.suptitle(f"{camera.name}: F = {camera.main_lens.focal_length:.2f} mm{_aperture(summary)}")
    _draw_blur(blur, summary, table.depth, table.blur)
    precision.plot(table.depth, table.precision, color=DARK)
    precision.set_ylabel("expected σ of depth [mm]")
    precision.set_xlabel("distance from the main lens [mm]")
    precision.set_title(f"one pair of views, disparity good to {summary.disparity_precision:g} px", fontsize="medium")
    precision.set_yscale("log")
    for axes in (blur, precision):
        axes.set_xscale("log")
        axes.set_xlim(table.depth.min(), table.depth.max())
        axes.grid(True, **GRID)
    for axis in (precision.xaxis, precision.yaxis):
        ticks = _round_ticks(*axis.get_view_interval())
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_minor_locator(NullLocator())
    return figure


def _aperture(summary: CameraSummary) -> str:
    number = summary.camera.main_lens.f_number
    return "" if number is None else f", f/{number:g}"


def _draw_blur(axes: Axes, summary: CameraSummary, depth: Array, blur: Array) -> None:
    axes.set_ylabel("blur radius ρ [px]")
    if not blur.shape[1]:
        axes.text(0.5, 0.5, "pinholes: no blur", transform=axes.transAxes, ha="center", va="center")
        axes.set_yticks([])
        return
    axes.axhspan(-summary.blur_limit, summary.blur_limit, color="#eeeeee", zorder=0)
    axes.axhline(0, **ZERO)
    for index, focus in enumerate(summary.focus_planes):
        color = type_color(index)
        label = type_label(index) + (f", sharp at {focus:.0f} mm" if np.isfinite(focus) else ", sharp beyond infinity")
        axes.plot(depth, blur[:, index], color=color, label=label)
        if depth.min() <= focus <= depth.max():
            axes.axvline(focus, color=color, linewidth=0.8, linestyle=":")
    axes.set_title(f"grey: |ρ| ≤ {summary.blur_limit:g} px, in focus", fontsize="medium")
    axes.legend(loc="best", frameon=True)


def _round_ticks(low: float, high: float) -> list[float]:
    """Round numbers between the ends of a logarithmic axis, which by itself labels hardly any within a decade."""
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for leads in LEADS:
        ticks = [tick for e in exponents for lead in leads if low <= (tick := lead * 10.0**e) <= high]
        if len(ticks) >= TICKS:
            return ticks
    even = MaxNLocator(2 * TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in even if low <= tick <= high]


def predicted_scale_figure(predictions: Sequence[ScalePrediction], name: str, main: float) -> Figure:
    """Depth found when the aperture is not modelled, and its error, against true depth, for several apertures.

    `name` is the camera's; the curve of f-number `main` is drawn bold.
    """
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
            errors.plot(prediction.depth, left, ":", color=DARK, label=f"f/{main:g} after Γ")
    ends = np.array([min(p.depth.min() for p in ordered), max(p.depth.max() for p in ordered)])
    depths.plot(ends, ends, **ZERO, zorder=0)
    errors.axhline(0, **ZERO, zorder=0)
    depths.set_ylabel("depth found [mm]")
    errors.set_ylabel("depth found, too large by [%]")
    for axes in (depths, errors):
        axes.set_xlabel("true distance from the main lens [mm]")
        axes.grid(True, **GRID)
        axes.legend(loc="best")
    return figure
