"""What a calibration saw and what it promises: where the features lie, depth's uncertainty, radii of white images."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenodepth.calib.advice.fit_facts import FitFacts
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera.depth import depth_precision, virtual_from_metric
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.summary import DISPARITY_PRECISION
from plenodepth.view.figures.residuals import type_color, type_label

CELLS = 24  # along the image's width


def coverage_figure(facts: FitFacts, camera: PlenopticCamera) -> Figure:
    """Features over the image and over distance, with the range that each frame spans."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    place, distance = figure.subplots(1, 2)
    width, height = facts.size
    cells = facts.cells(CELLS, max(1, round(CELLS * height / width))).astype(np.float64)
    shown = np.where(cells > 0, cells, np.nan)
    place.set_facecolor("#bbbbbb")
    picture = place.imshow(
        shown, extent=(-0.5, width - 0.5, height - 0.5, -0.5), cmap="viridis", interpolation="nearest", vmin=0
    )
    place.set_xticks([])
    place.set_yticks([])
    place.set_title("features per cell (grey: none)", fontsize="medium")
    figure.colorbar(picture, ax=place, shrink=0.8)
    _draw_distances(distance, facts, camera)
    return figure


def _draw_distances(axes: Axes, facts: FitFacts, camera: PlenopticCamera) -> None:
    axes.hist(facts.depth, bins=30, color="#56b4e9")
    axes.set_xlabel("distance from the main lens [mm]")
    axes.set_ylabel("features")
    frames = axes.twinx()
    for row, frame in enumerate(sorted(facts.frames, key=lambda item: item.distance)):
        frames.plot([frame.near, frame.far], [row, row], color="#333333", linewidth=1.5, solid_capstyle="butt")
        frames.plot(frame.distance, row, ".", color="#333333", markersize=4)
    frames.set_yticks([])
    frames.set_ylim(-len(facts.frames) * 0.1 - 1, len(facts.frames) * 1.1)
    low, high = axes.get_xlim()
    ticks = np.linspace(facts.depth.min(), facts.depth.max(), 5)
    virtual = virtual_from_metric(ticks, camera, invalid="nan")
    above = axes.secondary_xaxis("top")
    above.set_xticks(ticks, [f"{v:.3g}" for v in virtual])
    above.set_xlabel("virtual depth")
    axes.set_xlim(low, high)


def calibration_depth_figure(curve: tuple[Array, Array], camera: PlenopticCamera) -> Figure:
    """σ of depth from the calibration over the calibrated range, in mm and %, beside that of matching."""
    depth, sigma = curve
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    absolute, relative = figure.subplots(1, 2)
    matching = depth_precision(depth, camera)
    for axes, scale, unit in ((absolute, np.ones_like(depth), "mm"), (relative, 100 / depth, "%")):
        axes.plot(depth, sigma * scale, color="#0072b2", label="from the calibration")
        label = f"of one pair of views, disparity ± {DISPARITY_PRECISION:g} px"
        axes.plot(depth, matching * scale, color="#999999", linestyle="--", label=label)
        axes.set_xlabel("distance from the main lens [mm]")
        axes.set_ylabel(f"σ of depth [{unit}]")
        axes.set_ylim(bottom=0)
        axes.grid(True, color="#dddddd", linewidth=0.6)
    absolute.legend()
    return figure


def white_figure(radii: WhiteRadii) -> Figure | None:
    """Radii of the micro-images in white images against 1/N, with R = m/N + q; None without any f-number."""
    known = np.isfinite(radii.f_numbers)
    if not known.any() or not np.isfinite(radii.slope):
        return None
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    axes, rest = figure.subplots(1, 2)
    inverse = 1 / radii.f_numbers[known]
    ends = np.array([0, 1.05 * inverse.max()])
    for kind, intercept in enumerate(radii.intercepts):
        color = type_color(kind)
        label = f"{type_label(kind)}: q = {intercept:.3f} ± {radii.intercept_errors[kind]:.3f} px"
        axes.plot(ends, radii.slope * ends + intercept, color=color, linewidth=1, label=label)
        axes.plot(inverse, radii.radii[known, kind], "o", color=color, markersize=4)
    rest.plot(inverse, radii.aperture[known] - radii.slope * inverse, "o", color="#333333", markersize=4)
    rest.axhline(0, color="#999999", linewidth=0.8)
    rest.set_ylabel("measured − line [px]")
    axes.set_ylabel("radius R [px]")
    axes.set_title(f"m = {radii.slope:.2f} ± {radii.slope_error:.2f} px", fontsize="medium")
    rest.set_title("residual, common to the types", fontsize="medium")
    numbers = radii.f_numbers[known]
    for panel in (axes, rest):
        panel.set_xticks(inverse, [f"{number:.3g}" for number in numbers])
        panel.set_xlabel("f-number N (evenly spaced in 1/N)")
        panel.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend()
    return figure
