"""Tiles cut out of the image, smoothed, and their detail: a fast version of `depth.tiles.cut_tiles`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.compiling import compiled, inner
from plenodepth.depth.kernels.constants import MISSING
from plenodepth.depth.tiles import TileCutting, Tiles

f4 = np.float32
u4 = np.uint32

Float32 = NDArray[np.float32]


def cut(first: int, last: int, image: Float32, tiles: Tiles, cutting: TileCutting) -> None:
    """Set gray and detail of the tiles first … last − 1 from an image (h, w)."""
    size = tiles.side * tiles.side
    cut_band(first, last, image, tiles, cutting, *(np.empty(size, f4) for _ in range(4)))


@compiled
def cut_band(first, last, image, tiles, cutting, usable, values, blurred, rows):
    """As `cut`; the last four (side²,) are buffers."""
    size = tiles.side * tiles.side
    for lens in range(first, last):
        load_pixels(image, tiles, cutting.reach, lens, usable, values)
        if len(cutting.smoothing) > 0:
            smooth(usable, values, tiles.side, cutting.smoothing, rows, blurred)
            for p in range(size):
                values[p] = blurred[p]
        if len(cutting.mixture) > 0:
            smooth(usable, values, tiles.side, cutting.mixture, rows, blurred)
        else:
            laplacian(usable, values, tiles.side, blurred)
        for p in range(size):
            tiles.gray[lens * size + p] = values[p] if usable[p] > 0 else MISSING
            tiles.detail[lens * size + p] = blurred[p] - values[p]


@inner
def load_pixels(image, tiles, reach, lens, usable, values):
    """Copy a tile's pixels; those outside the disc, outside the image or not finite become 0 and are not usable."""
    height, width = image.shape
    for row in range(tiles.side):
        for column in range(tiles.side):
            p = row * tiles.side + column
            u, v = tiles.origin[lens, 0] + column, tiles.origin[lens, 1] + row
            x, y = f4(column) - tiles.center[lens, 0], f4(row) - tiles.center[lens, 1]
            usable[p] = values[p] = f4(0)
            if u >= 0 and v >= 0 and u < width and v < height and y * y + x * x <= reach * reach:
                value = image[v, u]
                if np.isfinite(value):
                    usable[p], values[p] = f4(1), value


@inner
def smooth(usable, values, side, kernel, rows, out):
    """out = values (side²,) blurred along both axes, pairs of usable pixels at a time; `rows` (side²,) is a buffer."""
    size = side * side
    for p in range(size):
        rows[p] = values[p]
    for step in range(1, len(kernel) + 1):
        add_second_differences(usable, values, 0, size, step * side, kernel[step - 1], rows)
    for p in range(size):
        out[p] = rows[p]
    for row in range(side):
        for step in range(1, len(kernel) + 1):
            add_second_differences(usable, rows, row * side, side, step, kernel[step - 1], out)


@inner
def laplacian(usable, values, side, out):
    """out = values + their second differences along both axes."""
    for p in range(side * side):
        out[p] = values[p]
    add_second_differences(usable, values, 0, side * side, side, f4(1), out)
    for row in range(side):
        add_second_differences(usable, values, row * side, side, 1, f4(1), out)


@inner
def add_second_differences(usable, values, first, count, step, weight, out):
    """Add `weight` times the second differences, `step` apart, of `count` values from `first` on; usable ones only."""
    for n in range(max(count - 2 * step, 0)):
        before, here, after = u4(first + n), u4(first + n + step), u4(first + n + 2 * step)
        all_three = usable[before] * usable[here] * usable[after]
        out[here] += weight * all_three * (values[before] - f4(2) * values[here] + values[after])
