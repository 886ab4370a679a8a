"""Residuals of poses: of a scanner's targets, and of boards in many frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from plenodepth.calib.lidar.pose import LidarPose

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # for colour-blind readers, too
SHOWN = 0.99  # quantile of residuals that the figure shows


def lidar_figure(found: LidarPose, names: Sequence[str]) -> Figure:
    """Residuals (u, v) of all views that count, each target in its colour, with its mean."""
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.subplots()
    counts = found.weights > 0
    for index, target in enumerate(np.unique(found.target).tolist()):
        mine = counts & (found.target == target)
        color = COLORS[index % len(COLORS)]
        u, v = found.residuals[mine, :2].T
        axes.plot(u, v, ".", color=color, markersize=3, alpha=0.5)
        if len(u):
            axes.plot(u.mean(), v.mean(), "P", color=color, markersize=9, markeredgecolor="black", label=names[target])
    end = float(np.quantile(np.abs(found.residuals[counts, :2]), SHOWN)) * 1.2 if counts.any() else 1.0
    axes.set_xlim(-end, end)
    axes.set_ylim(end, -end)
    axes.set_aspect("equal")
    axes.set_xlabel("u, predicted − seen [px]")
    axes.set_ylabel("v, predicted − seen [px]")
    axes.set_title(f"targets and their means; RMSE {found.rmse:.3f} px", fontsize="medium")
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.axvline(0, color="#999999", linewidth=0.8)
    axes.legend()
    return figure


def board_poses_figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """RMSE of each frame, and where the boards stand: `rows` have `frame`, `distance`, `tilt` and `rmse_uv`."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    bars, places = figure.subplots(1, 2)
    at = np.arange(len(rows))
    bars.bar(at, [row["rmse_uv"] for row in rows], color=COLORS[0])
    names = [f"{row['frame']}" + (f".{row['board']}" if row.get("board") else "") for row in rows]
    bars.set_xticks(at, names)
    bars.set_xlabel("frame")
    bars.set_ylabel("RMSE of (u, v) [px]")
    places.plot([row["distance"] for row in rows], [row["tilt"] for row in rows], "o", color=COLORS[0])
    for row, name in zip(rows, names, strict=True):
        places.annotate(name, (row["distance"], row["tilt"]), fontsize="x-small")
    places.set_xlabel("distance of the board's middle [mm]")
    places.set_ylabel("tilt [°]")
    for axes in (bars, places):
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure
