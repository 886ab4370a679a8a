"""The image cut into tiles, one per micro-image, packed for the kernels.

A tile is `side` × `side` pixels of the image itself, not resampled: its micro-image's centre stands at a fractional
position inside it, and the shift between two views takes that into account. So only the target of a pair is
interpolated, and the reference stays sharp (but see kernels.layers, where the aperture's effect is undone).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.equalisation import LAPLACIAN_VARIANCE, MIXTURE_VARIANCE, blur_detail, gaussian, smoothed
from plenodepth.depth.settings import DepthSettings

Float32 = NDArray[np.float32]

# Missing pixels are a huge number instead of NaN: with NaN possible, a loop that skips them would not become vector
# instructions (970 instead of 150 ns per pair).
MISSING = np.float32(1e30)  # and however small its weight in an interpolation, it shows
UNUSABLE = np.float32(1e3)  # a value or a difference this large has a missing pixel in it
SNAP = np.float32(1e-4)  # px: shifts this near to a whole number are taken for it

# px beyond the compared disc, inside the margin, that interpolation and blurring may use: more where tiles are
# resampled first.
RIM = 1.0
WIDE_RIM = 2.5
RESAMPLED = 0.25  # px² of variance that resampled tiles are blurred by, wherever their pixels lie
LEAST_COMMON_WIDTH = 3.0  # px that two discs must have in common to be looked at


class NoiseGain(NamedTuple):
    """How interpolation and blur change the variance of pixel noise, compared with a view that has neither."""

    between: np.float32  # it falls by w (1 − w) times this along each axis, at a fraction w between pixels
    blur: Float32  # (2,): it is 1 + blur[0] a + blur[1] a² after adding a times the detail


class Tiles(NamedTuple):
    """All tiles, J = rows · columns, index l · columns + k. A tuple, because that is what compiled functions take."""

    side: int
    gray: Float32  # (J · side² + padding,), flat; `MISSING` outside the usable disc
    detail: Float32  # same: what a unit of blur adds, see `blur_unit`; 0 outside
    origin: NDArray[np.int32]  # (J, 2) column and row of the tile's first pixel in the image
    center: Float32  # (J, 2) of the micro-image, px inside its tile
    radius: np.float32  # of the disc that is compared, px
    reach: np.float32  # px from the centre: what is usable, if only to interpolate and to blur
    blur_unit: np.float32  # px² of variance (per axis) that adding `detail` once amounts to
    noise: NoiseGain


class Recipe(NamedTuple):
    """How tiles are made of pixels. Kernels are symmetric: the weights at distances 1, 2, … from the middle."""

    reach: np.float32  # px from the centre: what is usable
    smoothing: Float32  # kernel along each axis
    mixture: Float32  # kernel along each axis of the blur that `detail` leads to; empty: `detail` is the Laplacian


def empty_tiles(camera: PlenopticCamera | GridCamera, settings: DepthSettings, model: ApertureModel = "off") -> Tiles:
    """Where the tiles lie; their pixels are not set."""
    grid = camera.micro_images
    k, l = grid.lattice.indices()
    centers = grid.center(k, l).reshape(-1, 2)
    radius = grid.radius - settings.margin_for(model)
    # Wide enough for the usable disc, and, where windows are summed, for half a window of nothing between the discs of
    # neighbouring rows (`box_sums`).
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
    """px² of variance by which compared pixels are smoothed, whatever their type and depth."""
    return settings.smoothing + (RESAMPLED if model == "per_pixel" else 0)


def tile_recipe(reach: np.float32, settings: DepthSettings) -> Recipe:
    """What `cut_tiles` and its fast twin do to the pixels of tiles with a reach."""
    mixture = gaussian(MIXTURE_VARIANCE) if settings.equalisation == "mixture" else np.empty(0, np.float32)
    return Recipe(np.float32(reach), gaussian(settings.smoothing), mixture)


def cut_tiles(
    gray: Float32, camera: PlenopticCamera | GridCamera, settings: DepthSettings, model: ApertureModel = "off"
) -> Tiles:
    """Pack an image (h, w). Plain NumPy; kernels.cut does the same, faster."""
    tiles = empty_tiles(camera, settings, model)
    recipe, side = tile_recipe(tiles.reach, settings), tiles.side
    offset = np.arange(side)
    height, width = gray.shape
    columns, rows = (tiles.origin[:, axis, None] + offset for axis in (0, 1))  # (J, side)
    in_image = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None]
    tile = gray[rows.clip(0, height - 1)[:, :, None], columns.clip(0, width - 1)[:, None, :]]
    across, down = ((offset.astype(np.float32) - tiles.center[:, axis, None]) ** 2 for axis in (0, 1))
    usable = in_image & (down[:, :, None] + across[:, None, :] <= recipe.reach**2) & np.isfinite(tile)
    tile = smoothed(np.where(usable, tile, 0).astype(np.float32), usable, recipe.smoothing)
    for values, out in (
        (np.where(usable, tile, MISSING), tiles.gray),
        (blur_detail(tile, usable, recipe.mixture), tiles.detail),
    ):
        out[: values.size] = values.ravel()
        out[values.size :] = 0
    return tiles


def noise_power(smoothing: float) -> float:
    """The share of the variance of pixel noise that a smoothing by so many px² leaves."""
    weights = gaussian(smoothing).astype(np.float64)
    return float(((1 - 2 * weights.sum()) ** 2 + 2 * (weights**2).sum()) ** 2)


def _noise_gain(settings: DepthSettings, smoothing: float) -> NoiseGain:
    """Of independent noise, smoothed as all pixels are, then interpolated or blurred."""
    side = 2 * 16 + 1
    impulse, usable = np.zeros((1, side, side), np.float32), np.ones((1, side, side), np.bool_)
    impulse[0, side // 2, side // 2] = 1
    recipe = tile_recipe(np.float32(side), settings)
    pixel = smoothed(impulse, usable, gaussian(smoothing))
    detail = blur_detail(pixel, usable, recipe.mixture)
    power, common, beside = (float(np.sum(pixel * other)) for other in (pixel, detail, np.roll(pixel, 1, axis=2)))
    blur = np.array([2 * common, float(np.sum(detail**2))]) / power
    return NoiseGain(np.float32(2 * (1 - beside / power)), blur.astype(np.float32))
