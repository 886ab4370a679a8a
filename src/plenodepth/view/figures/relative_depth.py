"""Relative depth of many methods: errors over displacement, means beside the paper's, bias against the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenodepth.studies.reproduction.published import RELATIVE
from plenodepth.studies.reproduction.results import (
    DisparityResult,
    DisplacementMean,
    MeanAndSpread,
    RelativeErrors,
    RelativeResult,
)
from plenodepth.view.figures.style import BLUE, GREEN, GRID, ORANGE, PINK, SKY, YELLOW, ZERO

END = 12.0  # %, where the paper's plots end, too
BIAS_END = 25.0  # %
PAPER, INK = "#b3261e", "#222222"  # the paper's figures, and ours
DATASET_MARKERS = {"r12-a": "o", "r12-b": "s", "r12-c": "^"}

MAIN_METHODS = ("BLADE", "BLADEu", "DISP", "aware", "RTRX")  # all others are variants of these
REFERENCE = "BLADE"  # the method that variants are drawn beside
METHOD_COLORS = {
    "BLADE": BLUE,
    "BLADEu": SKY,
    "DISP": YELLOW,
    "aware": GREEN,
    "aware + Γ": "#003b2b",
    "BLADE, linear Γ": PINK,
    "golden section": ORANGE,
    "same-type blocks": "#666666",
    "RTRX": "#7b2d8e",
}
MARKERS = "osD^vP*Xp"
OTHER_MARKERS = "<>hd8H"

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class LineStyle:
    """Colour and marker of a method, the same in all figures."""

    color: str
    marker: str


def method_line(label: str) -> LineStyle:
    """The line of a method. One that is not known beforehand is black, with a marker chosen by its name."""
    if label not in METHOD_COLORS:
        return LineStyle("#000000", OTHER_MARKERS[crc32(label.encode()) % len(OTHER_MARKERS)])
    return LineStyle(METHOD_COLORS[label], MARKERS[list(METHOD_COLORS).index(label) % len(MARKERS)])


def method_groups(labels: Iterable[str]) -> list[list[str]]:
    """Methods in groups that fit into one figure each: the main ones, and the variants beside the reference."""
    present = list(labels)
    main = [label for label in MAIN_METHODS if label in present]
    variants = [label for label in present if label not in MAIN_METHODS]
    if not main or not variants:
        return [group for group in (main, variants) if group]
    return [main, [REFERENCE, *variants] if REFERENCE in present else variants]


def displacement_error_figure(datasets: Mapping[str, Mapping[str, RelativeErrors]], methods: Sequence[str]) -> Figure:
    """ε_z against the displacement for each dataset: mean and standard deviation of the pairs, cut off at 12 %."""
    rows = -(-len(datasets) // 2)
    figure = Figure(figsize=(10, 3.6 * rows + 0.6), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False).ravel()
    for axes, (name, found) in zip(panels, datasets.items(), strict=False):
        for label in methods:
            if label in found:
                _draw_displacements(axes, found[label], label)
        axes.set_title(name.upper(), fontsize="medium")
        axes.set_xlabel("displacement [mm]")
        axes.set_ylabel("$ε_z$ [%]")
        axes.set_ylim(0, END)
        axes.grid(True, **GRID)
    for axes in panels[len(datasets) :]:
        axes.set_axis_off()
    handles = {handle.get_label(): handle for axes in panels for handle in axes.get_legend_handles_labels()[0]}
    title = f"mean and σ over pairs of frames; cut off at {END:g} % (▲: the mean lies beyond)"
    figure.legend(handles=list(handles.values()), loc="outside upper center", ncols=5, frameon=False, title=title)
    return figure


def _draw_displacements(axes: Axes, found: RelativeErrors, label: str) -> None:
    place, mean, std = _columns(found.displacements)
    line = method_line(label)
    axes.fill_between(place, mean - std, mean + std, color=line.color, alpha=0.13, linewidth=0)
    axes.plot(place, mean, color=line.color, marker=line.marker, markersize=4, linewidth=1.5, label=label)
    beyond = mean > END
    axes.plot(place[beyond], np.full(beyond.sum(), 0.98 * END), "^", color=line.color, markersize=6)


def mean_error_figure(result: RelativeResult) -> Figure:
    """Mean ε_z over R12-A, B and C with its spread, single datasets as dots, and the paper's figures below each."""
    means = result.over_a_b_c
    labels = list(dict.fromkeys([*means, *result.others, *RELATIVE]))
    figure = Figure(figsize=(10, 0.55 * len(labels) + 1.6), layout="constrained")
    axes = figure.subplots()
    for row, label in enumerate(labels):
        parts = _dataset_means(label, result.datasets)
        if label in means:
            _draw_bar(axes, row, label, means[label], list(parts.values()))
        for name, mean in parts.items():
            text = name.upper() if row == 0 else None
            style: dict[str, Any] = {"color": INK, "markerfacecolor": "white", "markersize": 5, "ls": ""}
            axes.plot(mean, row, DATASET_MARKERS[name], **style, label=text)
        if label in RELATIVE:
            mean, spread = RELATIVE[label]
            first = label == next(name for name in labels if name in RELATIVE)
            text = "paper, real images: mean ± spread" if first else None
            below = row + 0.3 if parts else row
            axes.errorbar(mean, below, xerr=spread, color=PAPER, marker="D", markersize=6, capsize=3, label=text)
            axes.annotate(f"{mean:.2f} ± {spread:.2f}", (mean + spread, below), **_beside(PAPER))
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlim(left=0)
    axes.set_xlabel("mean $ε_z$ over R12-A, R12-B and R12-C [%]")
    axes.grid(True, axis="x", **GRID)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _dataset_means(label: str, datasets: Mapping[str, Mapping[str, RelativeErrors]]) -> dict[str, float]:
    """Mean ε_z of one method, %, on those of R12-A, B and C that it has; a program from elsewhere may lack some."""
    has = (name for name in DATASET_MARKERS if label in datasets.get(name, {}))
    return {name: 100 * datasets[name][label].mean for name in has}


def _draw_bar(axes: Axes, row: int, label: str, mean: MeanAndSpread, parts: Sequence[float]) -> None:
    center, spread = 100 * mean.mean, 100 * mean.spread
    texts = ("mean on these images", "spread of the datasets") if row == 0 else (None, None)
    axes.barh(row, center, height=0.36, color=method_line(label).color, alpha=0.75, label=texts[0])
    axes.errorbar(center, row, xerr=spread, color=INK, capsize=4, label=texts[1])
    axes.annotate(f"{center:.2f} ± {spread:.2f}", (max([center + spread, *parts]), row), **_beside(INK))


def _beside(color: str) -> dict[str, Any]:
    """Arguments of a label to the right of its point."""
    return {"xytext": (8, 0), "textcoords": "offset points", "va": "center", "color": color, "fontsize": "small"}


def depth_bias_figure(found: Mapping[str, RelativeErrors], name: str) -> Figure:
    """How much too far each frame of a dataset is found, in % of its true distance, by all methods."""
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    axes = figure.subplots()
    largest = 0.0
    for label, result in found.items():
        truth = np.array([frame.truth for frame in result.frames])
        depth = np.array([frame.depth for frame in result.frames])
        bias = 100 * (depth / truth - 1)
        largest = max(largest, float(np.nanmax(np.abs(bias), initial=0)))
        line = method_line(label)
        axes.plot(truth, bias, color=line.color, marker=line.marker, markersize=4, linewidth=1.3, label=label)
    axes.axhline(0, **ZERO, zorder=0)
    cut = largest > BIAS_END
    if cut:
        axes.set_ylim(-BIAS_END, BIAS_END)
    axes.set_title(f"{name.upper()}{f', cut off at ± {BIAS_END:g} %' if cut else ''}", fontsize="medium")
    axes.set_xlabel("true distance from the main lens [mm]")
    axes.set_ylabel("depth found, too far by [%]")
    axes.grid(True, **GRID)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def disparity_error_figure(result: DisparityResult) -> Figure:
    """ε_z against the displacement with the corrected and with the plain disparity."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    shown = (("corrected", result.corrected, BLUE), ("uncorrected", result.uncorrected, ORANGE))
    for label, found, color in shown:
        place, mean, std = _columns(found.displacements)
        axes.fill_between(place, mean - std, mean + std, color=color, alpha=0.13, linewidth=0)
        text = f"{label} disparity: mean over all pairs {100 * found.mean:.2f} %"
        axes.plot(place, mean, color=color, marker="o", markersize=4, label=text)
    axes.set_xlabel("displacement [mm]")
    axes.set_ylabel("$ε_z$ [%]")
    axes.set_ylim(bottom=0)
    axes.grid(True, **GRID)
    axes.legend()
    return figure


def _columns(rows: Sequence[DisplacementMean]) -> tuple[Float64, Float64, Float64]:
    """Displacements (n,), mm, with mean (n,) and σ (n,) of ε_z, %. A single pair has no σ: NaN, and no band."""
    place, mean, std = np.array([(row.displacement, row.mean, row.std) for row in rows]).reshape(-1, 3).T
    return place, 100 * mean, 100 * std
