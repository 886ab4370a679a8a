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
MIXTURE_VARIANCE = 1.5  # px²: the blurred copy that sharp views are mixed with
LAPLACIAN_VARIANCE = 2.0  # px² that adding a Laplacian once amounts to


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
    tile = _smoothed(np.where(usable, tile, 0).astype(np.float32), usable, recipe.smoothing)
    for values, out in ((np.where(usable, tile, MISSING), tiles.gray), (_detail(tile, usable, recipe), tiles.detail)):
        out[: values.size] = values.ravel()
        out[values.size :] = 0
    return tiles


def gaussian(variance: float) -> Float32:
    """Weights of a sampled Gaussian of that variance, px², at distances 1, 2, … to four standard deviations."""
    x = np.arange(1, int(np.ceil(4 * np.sqrt(variance))) + 1)
    weights = np.exp(-(x**2) / (2 * variance)) if variance else np.empty(0)
    return np.asarray(weights / (1 + 2 * weights.sum()), np.float32)


def noise_power(smoothing: float) -> float:
    """The share of the variance of pixel noise that a smoothing by so many px² leaves."""
    weights = gaussian(smoothing).astype(np.float64)
    return float(((1 - 2 * weights.sum()) ** 2 + 2 * (weights**2).sum()) ** 2)


def _smoothed(tile: Float32, usable: NDArray[np.bool_], kernel: Float32) -> Float32:
    """Tiles (J, side, side) blurred along both axes.

    Pixels take part in pairs, left and right or above and below, if both are usable. A blur that took whatever is
    there would look inwards at the rim, and shrink micro-images: disparities by 0.015 px on average.
    """
    for axis in (1, 2):
        tile = tile + sum(
            (weight * _second_difference(tile, usable, axis, n) for n, weight in enumerate(kernel, 1)),
            start=np.zeros_like(tile),
        )
    return tile


def _detail(tile: Float32, usable: NDArray[np.bool_], recipe: Recipe) -> Float32:
    """What is added to a tile, times the wanted variance over `blur_unit`, to blur it.

    mixture: blurred minus sharp. A mixture of the sharp and a blurred copy has the wanted variance exactly, and up to
    the copy's own variance it never rings. s_transform: the Laplacian (the paper's; one explicit step of diffusion,
    unstable beyond 1 px²).
    """
    if recipe.mixture.size:
        return _smoothed(tile, usable, recipe.mixture) - tile
    return _second_difference(tile, usable, 1, 1) + _second_difference(tile, usable, 2, 1)


def _second_difference(tile: Float32, usable: NDArray[np.bool_], axis: int, step: int) -> Float32:
    """Before minus twice here plus after, `step` px apart; 0 where one of the three is not usable."""
    difference = np.zeros_like(tile)
    if 2 * step >= tile.shape[axis]:
        return difference

    def part(array: NDArray[np.generic], first: int) -> NDArray[np.generic]:
        count = tile.shape[axis] - 2 * step
        return np.take(array, np.arange(first, first + count), axis=axis)

    (before, here, after), (u, v, w) = ([part(array, n * step) for n in (0, 1, 2)] for array in (tile, usable))
    middle = [slice(None)] * 3
    middle[axis] = slice(step, tile.shape[axis] - step)
    difference[tuple(middle)] = np.where(u & v & w, before - np.float32(2) * here + after, 0)  # type: ignore[operator]
    return difference


def _noise_gain(settings: DepthSettings, smoothing: float) -> NoiseGain:
    """Of independent noise, smoothed as all pixels are, then interpolated or blurred."""
    side = 2 * 16 + 1
    impulse, usable = np.zeros((1, side, side), np.float32), np.ones((1, side, side), np.bool_)
    impulse[0, side // 2, side // 2] = 1
    recipe = tile_recipe(np.float32(side), settings)
    pixel = _smoothed(impulse, usable, gaussian(smoothing))
    detail = _detail(pixel, usable, recipe)
    power, common, beside = (float(np.sum(pixel * other)) for other in (pixel, detail, np.roll(pixel, 1, axis=2)))
    blur = np.array([2 * common, float(np.sum(detail**2))]) / power
    return NoiseGain(np.float32(2 * (1 - beside / power)), blur.astype(np.float32))
