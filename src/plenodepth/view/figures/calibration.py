"""A calibration: white images, corners over the images, coverage, uncertainty of depth, and κ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenodepth.calib.advice.facts import FitFacts
from plenodepth.calib.blur.step import KappaRecord
from plenodepth.calib.features import Features
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera.depth import depth_precision, virtual_from_metric
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.summary import DISPARITY_PRECISION
from plenodepth.view.figures.style import BLUE, DARK, GRAY, GRID, ORANGE, SKY, ZERO, hide_ticks, type_color, type_label

CELLS = 24  # of the map of coverage, along the image's width
MOST_PANELS = 16  # frames in the figure of corners
MOST_PIXELS = 700  # of a panel's longer side


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
    hide_ticks(place)
    place.set_title("features per cell (grey: none)", fontsize="medium")
    figure.colorbar(picture, ax=place, shrink=0.8)
    _draw_distances(distance, facts, camera)
    return figure


def _draw_distances(axes: Axes, facts: FitFacts, camera: PlenopticCamera) -> None:
    axes.hist(facts.depth, bins=30, color=SKY)
    axes.set_xlabel("distance from the main lens [mm]")
    axes.set_ylabel("features")
    frames = axes.twinx()
    for row, frame in enumerate(sorted(facts.frames, key=lambda item: item.distance)):
        frames.plot([frame.near, frame.far], [row, row], color=DARK, linewidth=1.5, solid_capstyle="butt")
        frames.plot(frame.distance, row, ".", color=DARK, markersize=4)
    frames.set_yticks([])
    frames.set_ylim(-len(facts.frames) * 0.1 - 1, len(facts.frames) * 1.1)
    low, high = axes.get_xlim()
    ticks = np.linspace(facts.depth.min(), facts.depth.max(), 5)
    virtual = virtual_from_metric(ticks, camera, invalid="nan")
    above = axes.secondary_xaxis("top")
    above.set_xticks(ticks, [f"{v:.3g}" for v in virtual])
    above.set_xlabel("virtual depth")
    axes.set_xlim(low, high)


def depth_uncertainty_figure(curve: tuple[Array, Array], camera: PlenopticCamera) -> Figure:
    """σ of depth that the calibration causes, in mm and in %, beside that of one match.

    `curve` holds depths (n,) and their σ (n,), mm.
    """
    depth, sigma = curve
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    absolute, relative = figure.subplots(1, 2)
    matching = depth_precision(depth, camera)
    for axes, scale, unit in ((absolute, np.ones_like(depth), "mm"), (relative, 100 / depth, "%")):
        axes.plot(depth, sigma * scale, color=BLUE, label="from the calibration")
        label = f"of one pair of views, disparity ± {DISPARITY_PRECISION:g} px"
        axes.plot(depth, matching * scale, color=GRAY, linestyle="--", label=label)
        axes.set_xlabel("distance from the main lens [mm]")
        axes.set_ylabel(f"σ of depth [{unit}]")
        axes.set_ylim(bottom=0)
        axes.grid(True, **GRID)
    absolute.legend()
    return figure


def white_radii_figure(radii: WhiteRadii) -> Figure | None:
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
    rest.plot(inverse, radii.aperture[known] - radii.slope * inverse, "o", color=DARK, markersize=4)
    rest.axhline(0, **ZERO)
    rest.set_ylabel("measured − line [px]")
    axes.set_ylabel("radius R [px]")
    axes.set_title(f"m = {radii.slope:.2f} ± {radii.slope_error:.2f} px", fontsize="medium")
    rest.set_title("residual, common to the types", fontsize="medium")
    numbers = radii.f_numbers[known]
    for panel in (axes, rest):
        panel.set_xticks(inverse, [f"{number:.3g}" for number in numbers])
        panel.set_xlabel("f-number N (evenly spaced in 1/N)")
        panel.grid(True, **GRID)
    axes.legend()
    return figure


def thumbnail(image: NDArray[Any]) -> tuple[NDArray[np.float32], int]:
    """A raw image (h, w) or (h, w, 3) as a small gray one, and the side in pixels of the blocks that it averages."""
    gray = image.mean(axis=-1) if image.ndim == 3 else image
    step = max(1, int(np.ceil(max(gray.shape) / MOST_PIXELS)))
    height, width = (size // step * step for size in gray.shape)
    blocks = gray[:height, :width].reshape(height // step, step, width // step, step)
    return blocks.mean(axis=(1, 3), dtype=np.float32), step


def feature_figure(images: Mapping[int, tuple[NDArray[np.float32], int]], features: Features) -> Figure:
    """Thumbnails of frames with every view of a corner as a dot, one colour per corner of the board."""
    frames = sorted(images)[:MOST_PANELS]
    columns = min(4, len(frames))
    rows = -(-len(frames) // columns)
    height, width = next(iter(images.values()))[0].shape
    figure = Figure(figsize=(3.6 * columns, 3.6 * rows * height / width + 0.3 * rows), layout="constrained")
    for axes in figure.subplots(rows, columns, squeeze=False).flat:
        axes.set_axis_off()
    for axes, frame in zip(figure.axes, frames, strict=False):
        picture, step = images[frame]
        mine = features.where(features.frame == frame)
        axes.imshow(picture, cmap="gray", interpolation="nearest")
        if len(mine):
            place = (mine.uv + 0.5) / step - 0.5
            axes.scatter(place[:, 0], place[:, 1], c=(mine.corner * 7) % 20, cmap="tab20", s=1.2, linewidths=0)
            axes.set(xlim=(-0.5, picture.shape[1] - 0.5), ylim=(picture.shape[0] - 0.5, -0.5))
        axes.set_title(f"frame {frame}: {len(mine)} features", fontsize="small")
    return figure


def kappa_figure(record: KappaRecord) -> Figure:
    """κ of each frame alone with its standard error, and κ of all."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    rows = [row for row in record.frames if row.kappa is not None]
    place = np.arange(len(rows))
    errors = [row.standard_error or 0.0 for row in rows]
    values = [row.kappa for row in rows if row.kappa is not None]
    axes.errorbar(place, values, yerr=errors, fmt="o", color=BLUE, label="one frame alone")
    kappa, sigma = record.kappa, record.standard_error
    axes.axhline(kappa, color=ORANGE, label=f"all: {kappa:.4f} ± {sigma:.4f}")
    axes.axhspan(kappa - sigma, kappa + sigma, color=ORANGE, alpha=0.2, linewidth=0)
    axes.set_xticks(place, [str(row.frame) for row in rows])
    axes.set_xlabel("frame")
    axes.set_ylabel("κ = σ/ρ (bars: standard error)")
    axes.grid(True, **GRID)
    axes.legend()
    return figure
