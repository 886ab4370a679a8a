"""What confidence and σ are worth: errors that remain without the least sure depths, σ predicted and observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from plenodepth.studies.reproduction.results import MethodConfidence, RemainingErrors
from plenodepth.view.figures.relative_depth import method_line
from plenodepth.view.figures.style import GRAY, GRID

CURVES = {"confidence": ("-", 2.0), "sigma": ("--", 1.6), "oracle": (":", 1.4)}  # line style and width
LABELS = {"confidence": "by confidence", "sigma": "by σ", "oracle": "oracle", "random": "at random"}
LEGEND: dict[str, Any] = {"fontsize": "small", "framealpha": 0.9, "edgecolor": "none"}
STYLE_COLOR = "#444444"  # of lines in legends that stand for all methods
ROBUST, RMS = "1.48 × median |error|", "RMS of the errors"


def confidence_figure(methods: Mapping[str, MethodConfidence], name: str) -> Figure:
    """Methods on the dataset `name`. Left: mean |error| of what remains. Right: errors of micro-images of like σ."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for label, found in methods.items():
        _draw_order(left, found.sparsification, method_line(label).color)
    _draw_reliability(right, methods)
    left.set_title(f"{name.upper()}: error of what remains", fontsize="medium")
    left.set_xlabel("taken away, least sure first [%]")
    left.set_ylabel("mean |error| of the rest [% of the true depth]")
    left.set_ylim(bottom=0)
    left.set_xlim(0, 100)
    right.set_title(f"{name.upper()}: does σ tell the size of errors?", fontsize="medium")
    right.set_xlabel("predicted σ [% of the true depth]")
    right.set_ylabel("observed [% of the true depth]")
    for axes in (left, right):
        axes.grid(True, **GRID)
    left.legend(handles=_style_handles(), **LEGEND)
    handles = [Line2D([], [], color=method_line(label).color, linewidth=3, label=label) for label in methods]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    return figure


def _draw_order(axes: Axes, order: RemainingErrors, color: str) -> None:
    removed = 100 * np.asarray(order.removed)
    axes.axhline(100 * order.random, color=color, linewidth=0.8, alpha=0.6)
    for curve, (style, width) in CURVES.items():
        axes.plot(
            removed, 100 * np.asarray(getattr(order, curve)), style, color=color, linewidth=width, label=f"_{curve}"
        )


def _style_handles() -> list[Line2D]:
    handles = [
        Line2D([], [], color=STYLE_COLOR, ls=style, lw=width, label=LABELS[curve])
        for curve, (style, width) in CURVES.items()
    ]
    return [*handles, Line2D([], [], color=STYLE_COLOR, lw=0.8, alpha=0.6, label=LABELS["random"])]


def _draw_reliability(axes: Axes, methods: Mapping[str, MethodConfidence]) -> None:
    seen = []
    for label, found in methods.items():
        color = method_line(label).color
        rows = np.array([(group.predicted, group.robust, group.observed) for group in found.sigma.bins])
        predicted, robust, rms = 100 * rows.reshape(-1, 3).T
        axes.plot(predicted, robust, "o-", color=color, markersize=5, linewidth=1.5, label=ROBUST)
        axes.plot(predicted, rms, "x:", color=color, markersize=5, linewidth=1, label=RMS)
        seen.append([predicted, np.minimum(np.minimum(robust, rms), predicted), np.maximum(robust, rms)])
    across, low, high = (np.concatenate(part) for part in zip(*seen, strict=True))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axline((1, 1), (2, 2), color=GRAY, linewidth=0.9, zorder=0)
    axes.set_xlim(0.8 * across.min(), 1.25 * across.max())
    axes.set_ylim(0.8 * low.min(), 1.25 * high.max())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    handles = [
        Line2D([], [], color=STYLE_COLOR, marker="o", label=ROBUST),
        Line2D([], [], color=STYLE_COLOR, marker="x", ls=":", label=RMS),
        Line2D([], [], color=GRAY, lw=0.9, label="as predicted"),
    ]
    axes.legend(handles=handles, **LEGEND)
