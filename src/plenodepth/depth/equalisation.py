"""Blurring the sharper of two micro-images until both are equally blurred: for the matching and for measuring κ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]


def gaussian(variance: float) -> Float32:
    """Weights of a sampled Gaussian of that variance, px², at distances 1, 2, … to four standard deviations."""
    x = np.arange(1, int(np.ceil(4 * np.sqrt(variance))) + 1)
    weights = np.exp(-(x**2) / (2 * variance)) if variance else np.empty(0)
    return np.asarray(weights / (1 + 2 * weights.sum()), np.float32)


def smoothed(tile: Float32, usable: NDArray[np.bool_], kernel: Float32) -> Float32:
    """Tiles (J, side, side) blurred along both axes with a symmetric kernel: its weights at distances 1, 2, ….

    Pixels take part in pairs, left and right or above and below, if both are usable. A blur that took every pixel that
    is there would take more from inside at the rim, and shrink micro-images: disparities by 0.015 px on average.
    """
    for axis in (1, 2):
        tile = tile + sum(
            (weight * _second_difference(tile, usable, axis, n) for n, weight in enumerate(kernel, 1)),
            start=np.zeros_like(tile),
        )
    return tile


def blur_detail(tile: Float32, usable: NDArray[np.bool_], mixture: Float32) -> Float32:
    """The detail of tiles (J, side, side): adding it once blurs a tile by a unit of variance, adding half by half.

    With a kernel `mixture` the detail is the blurred copy minus the sharp tile, and the unit is the kernel's variance
    (`MIXTURE_VARIANCE`). A mixture of both has the wanted variance exactly, and up to the copy's own it never rings.
    With an empty kernel the detail is the Laplacian (the paper's S-transform; one explicit step of diffusion, unstable
    beyond 1 px²), and the unit is `LAPLACIAN_VARIANCE`.
    """
    if mixture.size:
        return smoothed(tile, usable, mixture) - tile
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
