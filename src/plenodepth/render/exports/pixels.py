"""What the formats share: depth as 16-bit numbers, the picture of a view, and points of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import Pinhole
from plenodepth.errors import InputError
from plenodepth.io import write_image
from plenodepth.render.view import RenderedView

LARGEST = np.iinfo(np.uint16).max


class MetricView(NamedTuple):
    """A view whose pinhole is known, with its depth in mm."""

    view: RenderedView
    pinhole: Pinhole

    @property
    def name(self) -> str:
        """From which its files have theirs."""
        return self.view.name

    @property
    def depth(self) -> NDArray[np.float32]:
        """mm, NaN: none."""
        return self.view.depth

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, px."""
        return self.depth.shape[1], self.depth.shape[0]


class ColoredPoints(NamedTuple):
    """Points (n, 3) mm in the camera frame with colours sRGB (n, 3) and what a view knows of their depth (n,)."""

    points: NDArray[np.float32]
    colors: NDArray[np.uint8]
    sigma: NDArray[np.float32]  # mm
    confidence: NDArray[np.float32]


def sixteen_bits(depth: NDArray[np.float32], per_mm: float) -> NDArray[np.uint16]:
    """Depth (h, w) mm in whole numbers, `per_mm` to a mm; 0: none."""
    numbers = np.rint(np.nan_to_num(depth, nan=0.0) * np.float64(per_mm))
    return np.where((numbers >= 0) & (numbers <= LARGEST), numbers, 0).astype(np.uint16)


def numbers_per_mm(views: list[MetricView], choices: tuple[float, ...]) -> float:
    """The first of the choices, the finest first, with which all depths of the views fit into 16 bits."""
    most = max((float(np.nanmax(view.depth)) for view in views if np.isfinite(view.depth).any()), default=0.0)
    for per_mm in choices:
        if most * per_mm <= LARGEST:
            return per_mm
    raise InputError(f"reaches {most / 1000:.3g} m", field="depth", fix="export opencv: it also has maps of floats")


def write_picture(view: MetricView, path: Path) -> None:
    """The view as 8-bit sRGB."""
    write_image(np.ascontiguousarray(view.view.picture), path)


def colored_points(view: MetricView, step: int = 1) -> ColoredPoints:
    """Every pixel of every `step`-th row and column that has a depth, as a point."""
    there = np.isfinite(view.depth)
    kept = np.zeros_like(there)
    kept[step // 2 :: step, step // 2 :: step] = True
    kept &= there
    points = view.pinhole.points(view.depth)[kept]
    return ColoredPoints(points, view.view.picture[kept], view.view.sigma[kept], view.view.confidence[kept])
