"""Draws the error maps of depth-scale.md into docs/images: `python docs/figures_field.py`. Takes minutes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.lib.stride_tricks import sliding_window_view

from plenodepth.depth.settings import DepthSettings
from plenodepth.view import write_figure

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "benchmarks"))  # what a benchmark measures is drawn here by its own functions

SLANTED_AT, WALL_AT = 900.0, 700.0  # mm
WIDE, NARROW = 20.0, 2.0  # %, ends of the two scales of colour
SIDE = 7  # micro-images
ROW_STEP = np.sqrt(3) / 2  # of a hexagonal array, in its columns' step


def error_maps() -> None:
    """Three scenes, without and with the correction on one scale of colour, and what is left of it, smoothed."""
    import bench_aperture_field as field

    scenes = {
        f"wall at {field.SLANT}° about y": lambda settings: field.slanted_errors("about y", SLANTED_AT, settings),
        f"wall at {WALL_AT:g} mm": lambda settings: field.wall_errors(WALL_AT, settings),
        "objects about the corners": field.corner_errors,
    }
    figure = Figure(figsize=(11, 9.9), layout="constrained")
    figure.suptitle("Error of depth, R12-ES at f/4, coarse, no Γ")
    grid = figure.subplots(len(scenes), 3)
    for row, (scene, measure) in zip(grid, scenes.items(), strict=True):
        off, per_pixel = (measure(DepthSettings(aperture_model=model)) for model in field.MODELS)
        _show(row[0], off.relative, WIDE)
        wide = _show(row[1], per_pixel.relative, WIDE)
        smoothed = _smoothed(per_pixel.relative)
        narrow = _show(row[2], smoothed, NARROW)
        row[0].set_ylabel(scene, fontsize=12)
        for axes, found in ((row[0], off), (row[1], per_pixel)):
            axes.set_xlabel(f"median {100 * found.bias:+.1f} %, of |error| {100 * found.typical:.1f} %")
        row[2].set_xlabel(f"half of it within {100 * np.nanmedian(np.abs(smoothed)):.1f} %")
    titles = ("off", "per pixel", f"per pixel, medians of {SIDE} × {SIDE}")
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(title, fontsize=13)
    for shown, below, shrink in ((wide, grid[-1, :2], 0.48), (narrow, grid[-1, 2], 0.96)):
        bar = figure.colorbar(shown, ax=below, location="bottom", shrink=shrink, aspect=22, extend="both")
        bar.set_label("error of depth [%]")
    write_figure(figure, IMAGES / "aperture-field.png", dpi=110)


def _show(axes: Axes, relative: np.ndarray, limit: float) -> AxesImage:
    axes.set_facecolor("#bbbbbb")  # where there is no depth
    axes.set(xticks=[], yticks=[])
    return axes.imshow(100 * relative, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect=ROW_STEP, interpolation="nearest")


def _smoothed(relative: np.ndarray) -> np.ndarray:
    """Medians of what is there of SIDE × SIDE micro-images: what random errors would hide."""
    padded = np.pad(relative, SIDE // 2, constant_values=np.nan)
    return np.nanmedian(sliding_window_view(padded, (SIDE, SIDE)).reshape(*relative.shape, -1), axis=-1)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    error_maps()
