"""The image cut into tiles, one per micro-image, packed for the kernels.

A tile is `side` × `side` pixels of the image itself, not resampled: its micro-image's centre stands at a fractional
position inside it, and the shift between two views takes that into account. So only the target of a pair is ever
interpolated, and the reference stays sharp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.settings import DepthSettings

Float32 = NDArray[np.float32]

MIXTURE_VARIANCE = 1.5  # px²: the blurred copy that sharp views are mixed with
LENSES_AT_A_TIME = 2048  # while blurring; bounds memory


@dataclass(frozen=True, eq=False)
class Tiles:
    """All tiles, J = rows · columns, index l · columns + k."""

    side: int
    gray: Float32  # (J · side² + padding,), flat; NaN outside the usable disc
    detail: Float32  # same: what a unit of blur adds, see `blur_unit`
    origin: NDArray[np.int32]  # (J, 2) column and row of the tile's first pixel in the image
    center: Float32  # (J, 2) of the micro-image, px inside its tile
    radius: float  # of the usable disc, px
    blur_unit: float  # px² of variance (per axis) that adding `detail` once amounts to


def cut_tiles(gray: Float32, camera: PlenopticCamera | GridCamera, settings: DepthSettings) -> Tiles:
    """Pack an image (h, w)."""
    grid = camera.micro_images
    k, l = grid.lattice.indices()
    centers = grid.center(k, l).reshape(-1, 2)
    radius = grid.radius - settings.margin
    # Wide enough for the disc, and for half a window of nothing between the discs of neighbouring rows (`box_sums`).
    side = int(np.ceil(max(grid.lattice.diameter, 2 * radius + 1.5 + settings.window // 2)))
    side += side % 2
    first = np.rint(centers).astype(np.int64) - side // 2
    center = (centers - first).astype(np.float32)
    padded = np.pad(gray, side, constant_values=np.nan)
    height, width = padded.shape
    offset = np.arange(side)
    packed = np.empty((len(centers), side, side), np.float32)
    detail = np.empty_like(packed)
    for start in range(0, len(centers), LENSES_AT_A_TIME):
        part = slice(start, start + LENSES_AT_A_TIME)
        rows = (first[part, 1, None] + offset + side).clip(0, height - 1)
        columns = (first[part, 0, None] + offset + side).clip(0, width - 1)
        tile = padded[rows[:, :, None], columns[:, None, :]]
        # The rim that the margin keeps out of the comparison still helps to blur what is inside.
        reach = radius + min(settings.margin, 1.0)
        across = (offset - center[part, 0, None]) ** 2
        down = (offset - center[part, 1, None]) ** 2
        usable = (down[:, :, None] + across[:, None, :] <= reach**2) & np.isfinite(tile)
        tile = _smoothed(np.where(usable, tile, 0).astype(np.float32), usable, settings.smoothing)
        packed[part] = np.where(usable, tile, np.nan)
        detail[part] = _detail(tile, usable, settings)
    padding = np.zeros(4 * side, np.float32)
    unit = MIXTURE_VARIANCE if settings.equalisation == "mixture" else 2.0
    return Tiles(
        side,
        np.concatenate([packed.ravel(), padding]),
        np.concatenate([detail.ravel(), padding]),
        first.astype(np.int32),
        center,
        radius,
        unit,
    )


def _smoothed(tile: Float32, usable: NDArray[np.bool_], variance: float) -> Float32:
    """The tile blurred by `variance` px² inside its usable disc, 0 outside."""
    if variance == 0:
        return tile
    kernel = _gaussian(variance)
    weight = np.maximum(_separable(usable.astype(np.float32), kernel), 1e-3)
    return np.where(usable, _separable(tile, kernel) / weight, 0).astype(np.float32)


def _detail(tile: Float32, usable: NDArray[np.bool_], settings: DepthSettings) -> Float32:
    """What is added to a tile, times the wanted variance over `blur_unit`, to blur it.

    mixture: blurred minus sharp. A mixture of the sharp and a blurred copy has the wanted variance exactly, and never
    rings. s_transform: the Laplacian (the paper's; one explicit step of diffusion, unstable beyond 1 px²).
    """
    if settings.equalisation == "mixture":
        return np.where(usable, _smoothed(tile, usable, MIXTURE_VARIANCE) - tile, 0).astype(np.float32)
    weight, total = usable.astype(np.float32), np.zeros_like(tile)
    for axis, step in ((1, 1), (1, -1), (2, 1), (2, -1)):
        # Beyond the disc the nearest value continues: a neighbour that is not there adds nothing.
        total += np.roll(weight, step, axis) * (np.roll(tile, step, axis) - tile)
    return np.where(usable, total, 0).astype(np.float32)


def _separable(tile: Float32, kernel: Float32) -> Float32:
    once = correlate1d(tile, kernel, axis=1, mode="constant")
    return np.asarray(correlate1d(once, kernel, axis=2, mode="constant"), np.float32)


def _gaussian(variance: float) -> Float32:
    x = np.arange(-5, 6)
    kernel = np.exp(-(x**2) / (2 * variance))
    return np.asarray(kernel / kernel.sum(), np.float32)
