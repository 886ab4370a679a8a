"""The corners found in board images, drawn over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plenodepth.calib.features import Features

MOST_PANELS = 16
MOST_PIXELS = 700  # of a panel's longer side


def thumbnail(image: NDArray[Any]) -> tuple[NDArray[np.float32], int]:
    """A raw image (h, w) or (h, w, 3) as a small gray one, and how many pixels one of its pixels stands for."""
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
