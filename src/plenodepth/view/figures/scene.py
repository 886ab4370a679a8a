"""A scene's central sub-aperture depth, true and found: maps, what they have in common, and how far apart they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from plenodepth.metric.picture import MISSING, depth_colors, reduced
from plenodepth.view.figures.style import BLUE, GREEN, GRID, SKY, hide_ticks

QUALITY_END = 50.0  # mm, the end of the colours of differences
MOST_PIXELS = 510  # of a picture's longer side
LINE_COLORS = (BLUE, SKY, GREEN)
BINARY: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1}

Map = NDArray[np.float32]


def scene_figure(truth: Map, maps: Mapping[str, Map], medians: Mapping[str, float], scene: str) -> Figure:
    """True depth (h, w), mm, beside up to three maps; below each, the pixels in common and |difference|, 0 … 50 mm.

    `maps` and `medians`, the median |difference| in mm, are by method; `scene` is the scene's name.
    """
    labels = list(maps)[: len(LINE_COLORS)]
    height, width = truth.shape
    columns = 1 + len(labels)
    figure = Figure(figsize=(3.1 * columns + 0.6, 3 * (3.1 * height / width + 0.28)), layout="constrained")
    panels = figure.subplots(3, columns, squeeze=False)
    present = truth[np.isfinite(truth)]
    ends = depth_colors(present) if present.size else {"vmin": 0, "vmax": 1}
    depths = {"cmap": "viridis_r", **ends}
    picture = _draw(panels[0, 0], truth, f"{scene}: truth", depths)
    _draw(panels[1, 0], np.isfinite(truth), f"truth: {100 * np.isfinite(truth).mean():.0f} % of the image", BINARY)
    quality = None
    for column, label in enumerate(labels, start=1):
        found = maps[label]
        common = np.isfinite(truth) & np.isfinite(found)
        difference = np.where(common, np.abs(found - truth), np.nan)
        share = common.sum() / max(present.size, 1)
        _draw(panels[0, column], found, label, depths)
        _draw(panels[1, column], common, f"{label}: mask, {100 * share:.0f} % of the truth", BINARY)
        text = f"{label}: median {medians[label]:.2f} mm" if np.isfinite(medians[label]) else label
        quality = _draw(panels[2, column], difference, text, {"cmap": "turbo", "vmin": 0, "vmax": QUALITY_END})
        _draw_share(panels[2, 0], difference, label, LINE_COLORS[column - 1])
    figure.colorbar(picture, ax=panels[0].tolist(), label="z [mm]", pad=0.01)
    if quality is not None:
        figure.colorbar(quality, ax=panels[2].tolist(), label="|difference| [mm]", extend="max", pad=0.01)
        _finish_share(panels[2, 0])
    return figure


def _draw(axes: Axes, values: NDArray[Any], title: str, style: Mapping[str, Any]) -> AxesImage:
    axes.set_facecolor(MISSING)
    hide_ticks(axes)
    axes.set_title(title, fontsize="medium")
    return axes.imshow(reduced(values, MOST_PIXELS), interpolation="nearest", **style)


def _draw_share(axes: Axes, difference: Map, label: str, color: str) -> None:
    """The share of the pixels in common whose difference is at most x, over x."""
    known = np.sort(difference[np.isfinite(difference)])
    if not len(known):
        return
    place = np.linspace(0, QUALITY_END, 101)
    share = 100 * np.searchsorted(known, place, side="right") / len(known)
    axes.plot(place, share, color=color, linewidth=1.5, label=label)


def _finish_share(axes: Axes) -> None:
    axes.set_xlim(0, QUALITY_END)
    axes.set_ylim(0, 100)
    axes.set_xlabel("|difference| up to [mm]", fontsize="small")
    axes.set_title("share of the mask [%]", fontsize="medium")
    axes.tick_params(labelsize="small")
    axes.grid(True, **GRID)
    if axes.lines:
        axes.legend(fontsize="small", loc="lower right")
