"""Blur and precision of a camera over distance."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from plenodepth.camera.model import Array
from plenodepth.camera.summary import CameraSummary, depth_table, shown_depths

TYPE_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # told apart by colour-blind readers, too
SAMPLES = 400


def camera_figure(summary: CameraSummary) -> Figure:
    """Signed blur radius per lens type, and the expected precision of depth, against distance."""
    camera = summary.camera
    table = depth_table(shown_depths(camera, SAMPLES, summary.virtual_range), camera, summary.disparity_precision)
    figure = Figure(figsize=(9, 7), layout="constrained")
    blur, precision = figure.subplots(2, 1, sharex=True)
    figure.suptitle(f"{camera.name}: F = {camera.main_lens.focal_length:.2f} mm{_aperture(summary)}")
    _draw_blur(blur, summary, table.depth, table.blur)
    precision.plot(table.depth, table.precision, color="#333333")
    precision.set_ylabel("expected σ of depth [mm]")
    precision.set_xlabel("distance from the main lens [mm]")
    precision.set_title(f"one pair of views, disparity good to {summary.disparity_precision:g} px", fontsize="medium")
    precision.set_yscale("log")
    for axes in (blur, precision):
        axes.set_xscale("log")
        axes.set_xlim(table.depth.min(), table.depth.max())
        axes.grid(True, color="#dddddd", linewidth=0.6)
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
    axes.axhline(0, color="#999999", linewidth=0.8)
    for index, focus in enumerate(summary.focus_planes):
        color = TYPE_COLORS[index % len(TYPE_COLORS)]
        label = f"type {index}" + (f", sharp at {focus:.0f} mm" if np.isfinite(focus) else ", sharp beyond infinity")
        axes.plot(depth, blur[:, index], color=color, label=label)
        if depth.min() <= focus <= depth.max():
            axes.axvline(focus, color=color, linewidth=0.8, linestyle=":")
    axes.set_title(f"grey: |ρ| ≤ {summary.blur_limit:g} px, in focus", fontsize="medium")
    axes.legend(loc="best", frameon=True)


# First digits of ticks, from few to many.
LEADS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    (1, 1.2, 1.5, 1.7, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9),
)
TICKS = 4  # at least


def _round_ticks(low: float, high: float) -> list[float]:
    """Round numbers that people use, since a log axis over less than a decade labels hardly any."""
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for leads in LEADS:
        ticks = [tick for e in exponents for lead in leads if low <= (tick := lead * 10.0**e) <= high]
        if len(ticks) >= TICKS:
            return ticks
    even = MaxNLocator(2 * TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in even if low <= tick <= high]
