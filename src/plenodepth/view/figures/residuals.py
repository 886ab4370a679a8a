"""Residuals of a calibration: of corners, blur radii, micro-image centres, boards and a scanner's targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenodepth.calib.advice.facts import FitFacts, Profile, radial_slopes
from plenodepth.calib.bundle.observations import Fit
from plenodepth.calib.bundle.poses import BoardPlace
from plenodepth.calib.lidar.pose import LidarPose
from plenodepth.camera.model import Array
from plenodepth.view.figures.style import (
    BESIDE,
    BLUE,
    COLORS,
    DARK,
    GRID,
    ORANGE,
    ZERO,
    hide_ticks,
    type_color,
    type_label,
)

BINS = (5, 18)  # fewest and most cells along the image's width
IN_BIN = 12  # positions in a cell, on average
LEAST = 5  # positions in a cell, for its mean to be drawn
SHOWN = 0.995  # quantile of |residual| at the ends of a histogram
SHOWN_TARGETS = 0.99  # the same for targets


def residual_figure(facts: FitFacts) -> Figure:
    """Mean residual vectors over the image, and how large residuals are there; outliers left out."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    arrows, heat = figure.subplots(1, 2)
    uv, residual = facts.uv[facts.counts], facts.residual[facts.counts, :2]
    bins = _Bins(facts.size, uv)
    _draw_arrows(arrows, bins, residual)
    arrows.set_title("mean residual (predicted − observed)", fontsize="medium")
    rms = np.sqrt(bins.mean((residual**2).sum(axis=1)))
    picture = heat.imshow(rms, extent=bins.extent, cmap="viridis", vmin=0, interpolation="nearest")
    heat.set_title("RMSE in each cell", fontsize="medium")
    figure.colorbar(picture, ax=heat, label="px", shrink=0.8)
    _image_axes(heat, facts.size)
    return figure


def center_residual_figure(fit: Fit, size: tuple[int, int]) -> Figure | None:
    """Mean residuals of the micro-image centres over the image, and their histogram; None without centres."""
    if fit.centers is None or not len(fit.centers):
        return None
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    arrows, histogram = figure.subplots(1, 2)
    counts = fit.center_weight > 0
    _draw_arrows(arrows, _Bins(size, fit.centers.uv[counts]), fit.center_residuals[counts])
    arrows.set_title("mean residual of the micro-image centres", fontsize="medium")
    for axis, color, label in ((0, BLUE, "u"), (1, ORANGE, "v")):
        values = fit.center_residuals[counts, axis]
        end = float(np.quantile(np.abs(values), SHOWN)) if len(values) else 1.0
        histogram.hist(values, bins=60, range=(-end, end), histtype="step", color=color, label=label)
    histogram.set_xlabel("residual [px]")
    histogram.set_ylabel("centres")
    histogram.legend()
    histogram.grid(True, **GRID)
    return figure


def micro_image_residual_figure(facts: FitFacts, profiles: Sequence[Profile]) -> Figure:
    """Mean radial residual by lens type: over the distance from the micro-image's centre, and over depth."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    axes, spread = figure.subplots(1, 2)
    for profile in profiles:
        color, label = type_color(profile.lens_type), type_label(profile.lens_type)
        axes.errorbar(
            profile.offset, profile.mean, yerr=2 * profile.error, color=color, marker="o", markersize=4, label=label
        )
        depth, slope = radial_slopes(facts, profile.lens_type)
        spread.plot(depth, 100 * slope, color=color, marker="o", markersize=4, label=label)
    axes.axvline(facts.micro_radius, color=DARK, linewidth=1, linestyle=":")
    axes.set_xlabel("distance from the micro-image's centre [px]")
    axes.set_title("dotted: rim of the micro-image", fontsize="medium")
    spread.set_xlabel("distance of the corner [mm]")
    spread.set_title("the same, as a share of the distance from the centre", fontsize="medium")
    for panel in (axes, spread):
        panel.axhline(0, **ZERO)
        panel.grid(True, **GRID)
        if profiles:  # none where there is nothing but outliers
            panel.legend(loc="upper right")  # the longest bars are on the left
    axes.set_ylabel("mean radial residual [px]")
    spread.set_ylabel("radial residual [% of the offset]")
    return figure


def blur_residual_figure(facts: FitFacts) -> Figure | None:
    """Histogram of the blur radii's residuals by lens type; None where no blur radius is known."""
    known = np.isfinite(facts.residual[:, 2])
    if not known.any():
        return None
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    axes = figure.subplots()
    end = max(float(np.quantile(np.abs(facts.residual[known, 2]), SHOWN)), 1e-6)
    for kind in np.unique(facts.lens_type[known]).tolist():
        values = facts.residual[known & (facts.lens_type == kind), 2]
        label = f"{type_label(kind)}: mean {values.mean():+z.3f}, RMSE {np.sqrt((values**2).mean()):.3f} px"
        axes.hist(values, bins=60, range=(-end, end), histtype="step", color=type_color(kind), label=label)
    axes.axvline(0, **ZERO)
    axes.set_xlabel("residual of the blur radius ρ [px]")
    axes.set_ylabel("features")
    axes.legend()
    axes.grid(True, **GRID)
    return figure


class _Bins:
    """Square cells over an image, and for each position uv (n, 2) the cell that it falls into."""

    def __init__(self, size: tuple[int, int], uv: Array) -> None:
        self.size = size
        self.columns = int(np.clip(np.sqrt(len(uv) / IN_BIN * size[0] / size[1]), *BINS))
        self.step = size[0] / self.columns
        self.rows = max(1, round(size[1] / self.step))
        cell = np.floor((uv + 0.5) / [self.step, size[1] / self.rows]).astype(np.int64)
        column, row = np.clip(cell, 0, [self.columns - 1, self.rows - 1]).T
        self.place = row * self.columns + column
        self.count = np.bincount(self.place, minlength=self.rows * self.columns)
        self.extent = (-0.5, size[0] - 0.5, size[1] - 0.5, -0.5)

    def mean(self, values: Array) -> Array:
        """Mean of values (n,) in each cell (rows, columns); NaN where fewer than LEAST fall into it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.bincount(self.place, values, len(self.count)) / self.count
        return np.where(self.count >= LEAST, mean, np.nan).reshape(self.rows, self.columns)

    def middles(self) -> tuple[Array, Array]:
        """Positions u and v (rows, columns) of the cells' middles."""
        u = (np.arange(self.columns) + 0.5) * self.step - 0.5
        v = (np.arange(self.rows) + 0.5) * self.size[1] / self.rows - 0.5
        first, second = np.meshgrid(u, v)
        return first, second


def _draw_arrows(axes: Axes, bins: _Bins, residual: Array) -> None:
    u, v = bins.middles()
    du, dv = bins.mean(residual[:, 0]), bins.mean(residual[:, 1])
    length = np.hypot(du, dv)
    known = np.isfinite(length)
    _image_axes(axes, bins.size)
    if not known.any():
        axes.text(0.5, 0.5, "too few to average", transform=axes.transAxes, ha="center")
        return
    typical = max(float(np.quantile(length[known], 0.95)), 1e-9)
    scale = typical / (1.3 * bins.step)  # px of residual per px of the image
    arrows = axes.quiver(
        u[known], v[known], du[known], dv[known], angles="xy", scale_units="xy", scale=scale, width=0.004
    )
    key = float(f"{typical:.1g}")
    axes.quiverkey(arrows, 0.75, -0.06, key, f"{key:g} px", labelpos="W", coordinates="axes")


def _image_axes(axes: Axes, size: tuple[int, int]) -> None:
    axes.set_xlim(-0.5, size[0] - 0.5)
    axes.set_ylim(size[1] - 0.5, -0.5)
    axes.set_aspect("equal")
    hide_ticks(axes)


def lidar_residual_figure(found: LidarPose, names: Sequence[str]) -> Figure:
    """Residuals (u, v) of a scanner's targets, without outliers: each target in its colour, with its name and mean."""
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.subplots()
    counts = found.weights > 0
    for index, target in enumerate(np.unique(found.target).tolist()):
        mine = counts & (found.target == target)
        color = COLORS[index % len(COLORS)]
        u, v = found.residuals[mine, :2].T
        axes.plot(u, v, ".", color=color, markersize=3, alpha=0.5)
        if len(u):
            axes.plot(u.mean(), v.mean(), "P", color=color, markersize=11, mec="black", mew=0.7, label=names[target])
    end = float(np.quantile(np.abs(found.residuals[counts, :2]), SHOWN_TARGETS)) * 1.2 if counts.any() else 1.0
    axes.set_xlim(-end, end)
    axes.set_ylim(end, -end)
    axes.set_aspect("equal")
    axes.set_xlabel("u, predicted − seen [px]")
    axes.set_ylabel("v, predicted − seen [px]")
    axes.set_title(f"targets and their means; RMSE {found.rmse:.3f} px", fontsize="medium")
    axes.axhline(0, **ZERO)
    axes.axvline(0, **ZERO)
    axes.legend()
    return figure


def board_poses_figure(rows: Sequence[BoardPlace]) -> Figure:
    """RMSE of each frame, and where the boards stand."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    bars, places = figure.subplots(1, 2)
    at = np.arange(len(rows))
    bars.bar(at, [row.rmse_uv for row in rows], color=BLUE)
    names = [f"{row.frame}" + (f".{row.board}" if row.board else "") for row in rows]
    bars.set_xticks(at, names)
    bars.set_xlabel("frame")
    bars.set_ylabel("RMSE of (u, v) [px]")
    places.plot([row.distance for row in rows], [row.tilt for row in rows], "o", color=BLUE)
    for row, name in zip(rows, names, strict=True):
        places.annotate(name, (row.distance, row.tilt), **BESIDE)
    places.set_xlabel("distance of the board's middle [mm]")
    places.set_ylabel("tilt [°]")
    for axes in (bars, places):
        axes.grid(True, **GRID)
        axes.set_axisbelow(True)
    return figure
