"""Scale errors of boards before and after the correction Γ: of one calibration, and of datasets side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenodepth.calib.scale.step import ScaleRecord
from plenodepth.view.figures.style import BESIDE, BLUE, GREEN, GRID, ORANGE, PINK, YELLOW, ZERO

if TYPE_CHECKING:
    from plenodepth.studies.reproduction.results import ScaleErrors

SHOWN_METHODS = ("BLADE", "aware + Γ")  # in every dataset's panel
COMPARED = ("r12-c", "BLADE", "BLADE, linear Γ")  # the dataset on which the paper compares the orders of Γ
SHOWN_COLORS = (BLUE, GREEN)
DATASET_COLORS = (BLUE, YELLOW, GREEN, PINK, ORANGE)
ORDER_COLORS = (BLUE, ORANGE)


def board_scale_figure(record: ScaleRecord) -> Figure:
    """Scale errors of frames before and after Γ, and Γ itself."""
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    errors, scale = figure.subplots(1, 2)
    distance = np.array([row.distance for row in record.frames])
    for name, color, marker in (("before", ORANGE, "o"), ("after", BLUE, "s")):
        values = 100 * np.array([getattr(row, name) for row in record.frames])
        label = f"{name}: median {100 * getattr(record, f'median_{name}'):.3f} %"
        errors.plot(distance, values, marker, color=color, label=label)
    tested = record.held_out.get(record.order)
    if tested is not None and tested.median is not None:
        values = 100 * np.array([np.nan if error is None else error for error in tested.errors])
        label = f"each by the others: median {100 * tested.median:.3f} %"
        errors.plot(distance, values, "x", color=GREEN, label=label)
    for row in record.frames:
        errors.annotate(str(row.frame), (row.distance, 100 * row.before), **BESIDE)
    errors.set_xlabel("distance without Γ [mm]")
    errors.set_ylabel("scale error [%], positive: found too small")
    z = np.linspace(record.depth_range[0], record.depth_range[1], 100)
    gamma = np.polyval(record.depth_scale[::-1], z)
    scale.plot(z, 100 * (gamma / z - 1), color=BLUE)
    scale.set_xlabel("distance without Γ [mm]")
    scale.set_ylabel("Γ(z)/z − 1 [%]")
    scale.set_title(f"{record.order}, for aperture model {record.aperture_model}", fontsize="medium")
    for axes in (errors, scale):
        axes.axhline(0, **ZERO, zorder=0)
        axes.grid(True, **GRID)
    errors.legend()
    return figure


def scale_error_figure(datasets: Mapping[str, Mapping[str, ScaleErrors]]) -> Figure:
    """Each board's scale error over its distance, by dataset; and what linear and quadratic Γ leave on R12-C."""
    name, *orders = COMPARED
    compared = name in datasets and all(label in datasets[name] for label in orders)
    count = len(datasets) + compared + 1
    rows = -(-count // 2)
    figure = Figure(figsize=(10, 3.7 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False).ravel()
    for axes, (dataset, methods) in zip(panels, datasets.items(), strict=False):
        shown = [label for label in SHOWN_METHODS if label in methods] or list(methods)[: len(SHOWN_COLORS)]
        for label, color in zip(shown, SHOWN_COLORS, strict=False):
            _draw_before_and_after(axes, methods[label], label, color)
        axes.set_title(dataset.upper(), fontsize="medium")
    if compared:
        axes = panels[len(datasets)]
        for label, color in zip(orders, ORDER_COLORS, strict=True):
            _draw_order(axes, datasets[name][label], color)
        axes.set_title(f"{name.upper()}, {orders[0]}: what either order of Γ leaves", fontsize="medium")
    _draw_all_after(panels[count - 1], datasets)
    for axes in panels[:count]:
        axes.axhline(0, **ZERO, zorder=0)
        axes.set_xlabel("distance of the board [mm]")
        axes.set_ylabel("scale error [%]")
        axes.margins(y=0.08)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.38 * (high - low))  # room for the legend
        axes.grid(True, **GRID)
        axes.legend(loc="upper center", fontsize="small", ncols=1, framealpha=0.9)
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure


def _draw_before_and_after(axes: Axes, found: ScaleErrors, label: str, color: str) -> None:
    distance, before, after = _sorted(found)
    sizes = 100 * found.median_size_before, 100 * found.median_size_after
    style: dict[str, Any] = {"color": color, "linestyle": "", "markersize": 5}
    text = f"{label}: before, median size {sizes[0]:.2g} %"
    axes.plot(distance, before, marker="o", markerfacecolor="white", label=text, **style)
    text = f"{label}: after {found.order} Γ, median size {sizes[1]:.2g} %"
    axes.plot(distance, after, marker="o", label=text, **style)
    _draw_trend(axes, distance, before, 2, color, "--")
    _draw_trend(axes, distance, after, 1, color, "-")


def _draw_all_after(axes: Axes, datasets: Mapping[str, Mapping[str, ScaleErrors]]) -> None:
    """Scale errors after Γ on all datasets, at a scale that shows them."""
    for (dataset, methods), color, marker in zip(datasets.items(), DATASET_COLORS, "osD^v", strict=False):
        if SHOWN_METHODS[0] in methods:
            distance, _, after = _sorted(methods[SHOWN_METHODS[0]])
            median = 100 * methods[SHOWN_METHODS[0]].median_after
            text = f"{dataset.upper()}: median {median:+.3f} %"
            axes.plot(distance, after, marker, color=color, markersize=4, label=text)
    axes.set_title(f"{SHOWN_METHODS[0]}: after Γ, all datasets", fontsize="medium")


def _draw_order(axes: Axes, found: ScaleErrors, color: str) -> None:
    distance, _, after = _sorted(found)
    slope = _draw_trend(axes, distance, after, 1, color, "-")
    median = 100 * found.median_after
    text = f"{found.order}: median {median:+.3f} %, slope {1000 * slope:+.2g} %/m"
    axes.plot(distance, after, "o", color=color, markersize=5, label=text)


def _sorted(found: ScaleErrors) -> tuple[Any, Any, Any]:
    """Distance (n,), mm, and scale error before and after Γ (n,), %; nearest board first."""
    frames = sorted(found.frames, key=lambda frame: frame.distance)
    columns = np.array([(frame.distance, 100 * frame.before, 100 * frame.after) for frame in frames])
    distance, before, after = columns.reshape(-1, 3).T
    return distance, before, after


def _draw_trend(axes: Axes, distance: Any, error: Any, degree: int, color: str, style: str) -> float:
    """Draw the least-squares line or parabola through the errors; return its slope, NaN where there are too few."""
    known = np.isfinite(distance) & np.isfinite(error)
    if known.sum() <= degree:
        return float("nan")
    fitted = np.polynomial.Polynomial.fit(distance[known], error[known], degree)
    along = np.linspace(distance[known].min(), distance[known].max(), 60)
    axes.plot(along, fitted(along), style, color=color, linewidth=1, alpha=0.8)
    return float(fitted.convert().coef[1]) if len(fitted.convert().coef) > 1 else 0.0
