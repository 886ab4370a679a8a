"""A scene's central sub-aperture depth, true and found: maps, what they have in common, and how far apart they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from plenodepth.studies.reproduction.results import AbsoluteResult
from plenodepth.view.figures.reproduction import GRID

QUALITY_END = 50.0  # mm
SHOWN_QUANTILES = (0.01, 0.99)  # outliers must not eat up the colours
MOST_PIXELS = 510  # of a picture's longer side
COLORS = ("#0072b2", "#56b4e9", "#009e73")
PAPERS = ("B/C/S", "B/R/S")

Map = NDArray[np.float32]


def shown_methods(result: AbsoluteResult) -> list[str]:
    """The paper's coarse and refined variant, and the best of ours that undo the aperture."""
    means = result.means
    ours = [label for label in means if label.startswith("A/") and np.isfinite(means[label])]
    return [label for label in PAPERS if label in means] + sorted(ours, key=means.__getitem__)[:1]


def read_pictures(out: Path, kept: Mapping[str, str]) -> dict[str, Map]:
    """The maps of a scene by method, mm, `truth` among them; those whose file is not there are left out."""
    maps = {}
    for label, name in kept.items():
        if (out / name).is_file():
            with np.load(out / name) as content:
                maps[label] = content["depth"]
    return maps


def scene_figure(scene: str, truth: Map, maps: Mapping[str, Map], medians: Mapping[str, float]) -> Figure:
    """Truth (height, width) beside up to three maps; below each, the pixels in common and |difference|, 0 … 50 mm."""
    labels = list(maps)[: len(COLORS)]
    height, width = truth.shape
    columns = 1 + len(labels)
    figure = Figure(figsize=(3.1 * columns + 0.6, 3 * (3.1 * height / width + 0.28)), layout="constrained")
    panels = figure.subplots(3, columns, squeeze=False)
    present = truth[np.isfinite(truth)]
    low, high = np.quantile(present, SHOWN_QUANTILES) if present.size else (0.0, 1.0)
    depths: dict[str, Any] = {"cmap": "viridis_r", "vmin": low, "vmax": max(high, low + 1e-6)}
    picture = _draw(panels[0, 0], truth, f"{scene}: truth", depths)
    _draw(panels[1, 0], np.isfinite(truth), f"truth: {100 * np.isfinite(truth).mean():.0f} % of the image", _BINARY)
    quality = None
    for column, label in enumerate(labels, start=1):
        found = maps[label]
        common = np.isfinite(truth) & np.isfinite(found)
        difference = np.where(common, np.abs(found - truth), np.nan)
        share = common.sum() / max(present.size, 1)
        _draw(panels[0, column], found, label, depths)
        _draw(panels[1, column], common, f"{label}: mask, {100 * share:.0f} % of the truth", _BINARY)
        text = f"{label}: median {medians[label]:.2f} mm" if np.isfinite(medians[label]) else label
        quality = _draw(panels[2, column], difference, text, {"cmap": "turbo", "vmin": 0, "vmax": QUALITY_END})
        _draw_share(panels[2, 0], difference, label, COLORS[column - 1])
    figure.colorbar(picture, ax=panels[0].tolist(), label="z [mm]", pad=0.01)
    if quality is not None:
        figure.colorbar(quality, ax=panels[2].tolist(), label="|difference| [mm]", extend="max", pad=0.01)
        _finish_share(panels[2, 0])
    return figure


_BINARY: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1}


def _draw(axes: Axes, values: NDArray[Any], title: str, style: Mapping[str, Any]) -> AxesImage:
    step = max(1, int(np.ceil(max(values.shape) / MOST_PIXELS)))
    axes.set_facecolor("#222222")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize="medium")
    return axes.imshow(values[::step, ::step], interpolation="nearest", **style)


def _draw_share(axes: Axes, difference: Map, label: str, color: str) -> None:
    """Share of the pixels in common that are off by no more than so much."""
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
