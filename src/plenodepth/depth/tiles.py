"""The image cut into tiles, one per micro-image, packed for the kernels.

A tile is `side` × `side` pixels of the image itself, not resampled. The centre of its micro-image is at a fractional
position inside it, and the shift between two views takes that into account. So only the target of a pair is
interpolated, and the reference stays sharp. (Where the aperture's effect is undone, tiles are resampled later: see
`aperture.resampling`.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.equalisation import blur_detail, gaussian, smoothed
from plenodepth.depth.kernels.constants import (
    LAPLACIAN_VARIANCE,
    MISSING,
    MIXTURE_VARIANCE,
    RESAMPLING_VARIANCE,
    RIM,
    WIDE_RIM,
)
from plenodepth.depth.settings import DepthSettings

Float32 = NDArray[np.float32]


class NoiseGain(NamedTuple):
    """How interpolation and blur change the variance of pixel noise, compared with a view that has neither."""

    between: np.float32  # at a fraction w between pixels the variance is 1 − w (1 − w) between, along each axis
    blur: Float32  # (2,): after adding a times the detail the variance is 1 + blur[0] a + blur[1] a²


class Tiles(NamedTuple):
    """All tiles, J = rows · columns, index l · columns + k. A tuple, because that is what compiled functions take."""

    side: int
    gray: Float32  # (J · side² + padding,), flat; `MISSING` outside the usable disc
    detail: Float32  # the same shape: what blurs by `blur_unit` once added; 0 outside
    origin: NDArray[np.int32]  # (J, 2) column and row of the tile's first pixel in the image
    center: Float32  # (J, 2) of the micro-image, px inside its tile
    radius: np.float32  # of the disc that is compared, px
    reach: np.float32  # px from the centre: pixels up to here are usable, if only to interpolate and to blur
    blur_unit: np.float32  # px² of variance (per axis) that adding `detail` once amounts to
    noise: NoiseGain


class TileCutting(NamedTuple):
    """How tiles are cut and smoothed. Kernels are symmetric: the weights at distances 1, 2, … from the middle."""

    reach: np.float32  # px from the centre: pixels up to here are usable
    smoothing: Float32  # kernel along each axis that every tile is smoothed with
    mixture: Float32  # kernel along each axis of the blurred copy that makes `detail`; empty: `detail` is the Laplacian


def empty_tiles(camera: PlenopticCamera | GridCamera, settings: DepthSettings, model: ApertureModel = "off") -> Tiles:
    """Tiles with their places and sizes; their pixels are not set."""
    grid = camera.micro_images
    k, l = grid.lattice.indices()
    centers = grid.center(k, l).reshape(-1, 2)
    radius = grid.radius - settings.margin_for(model)
    # A tile holds the usable disc. Where windows are summed, half a window of zeros must lie between the disc's pixels
    # of one row and of the next (`box_sums`).
    reach = radius + min(settings.margin_for(model), WIDE_RIM if model == "per_pixel" else RIM)
    side = int(2 * reach) + 1
    if settings.refined:
        side = max(side, int(2 * radius) + 1 + settings.window // 2)
    origin = np.ceil(centers - reach).astype(np.int32)
    flat = len(centers) * side * side + 4 * side
    return Tiles(
        side=side,
        gray=np.empty(flat, np.float32),
        detail=np.empty(flat, np.float32),
        origin=origin,
        center=(centers - origin).astype(np.float32),
        radius=np.float32(radius),
        reach=np.float32(reach),
        blur_unit=np.float32(MIXTURE_VARIANCE if settings.equalisation == "mixture" else LAPLACIAN_VARIANCE),
        noise=_noise_gain(settings, smoothing_of(settings, model)),
    )


def smoothing_of(settings: DepthSettings, model: ApertureModel) -> float:
    """px² of variance by which all compared pixels are smoothed."""
    return settings.smoothing + (RESAMPLING_VARIANCE if model == "per_pixel" else 0)


def tile_cutting(reach: np.float32, settings: DepthSettings) -> TileCutting:
    """How tiles with a reach (px) are cut, by the settings."""
    mixture = gaussian(MIXTURE_VARIANCE) if settings.equalisation == "mixture" else np.empty(0, np.float32)
    return TileCutting(np.float32(reach), gaussian(settings.smoothing), mixture)


def cut_tiles(
    gray: Float32, camera: PlenopticCamera | GridCamera, settings: DepthSettings, model: ApertureModel = "off"
) -> Tiles:
    """Cut the tiles of an image (h, w), in plain NumPy; `kernels.cpu.cut` does the same, faster."""
    tiles = empty_tiles(camera, settings, model)
    cutting, side = tile_cutting(tiles.reach, settings), tiles.side
    offset = np.arange(side)
    height, width = gray.shape
    columns, rows = (tiles.origin[:, axis, None] + offset for axis in (0, 1))  # (J, side)
    in_image = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None]
    tile = gray[rows.clip(0, height - 1)[:, :, None], columns.clip(0, width - 1)[:, None, :]]
    across, down = ((offset.astype(np.float32) - tiles.center[:, axis, None]) ** 2 for axis in (0, 1))
    usable = in_image & (down[:, :, None] + across[:, None, :] <= cutting.reach**2) & np.isfinite(tile)
    tile = smoothed(np.where(usable, tile, 0).astype(np.float32), usable, cutting.smoothing)
    for values, out in (
        (np.where(usable, tile, MISSING), tiles.gray),
        (blur_detail(tile, usable, cutting.mixture), tiles.detail),
    ):
        out[: values.size] = values.ravel()
        out[values.size :] = 0
    return tiles


def noise_power(smoothing: float) -> float:
    """Share of the variance of pixel noise that is left after smoothing by so many px²."""
    weights = gaussian(smoothing).astype(np.float64)
    return float(((1 - 2 * weights.sum()) ** 2 + 2 * (weights**2).sum()) ** 2)


def _noise_gain(settings: DepthSettings, smoothing: float) -> NoiseGain:
    """The gains for independent pixel noise that is smoothed as all pixels are, then interpolated or blurred."""
    side = 2 * 16 + 1
    impulse, usable = np.zeros((1, side, side), np.float32), np.ones((1, side, side), np.bool_)
    impulse[0, side // 2, side // 2] = 1
    cutting = tile_cutting(np.float32(side), settings)
    pixel = smoothed(impulse, usable, gaussian(smoothing))
    detail = blur_detail(pixel, usable, cutting.mixture)
    power, common, beside = (float(np.sum(pixel * other)) for other in (pixel, detail, np.roll(pixel, 1, axis=2)))
    blur = np.array([2 * common, float(np.sum(detail**2))]) / power
    return NoiseGain(np.float32(2 * (1 - beside / power)), blur.astype(np.float32))
