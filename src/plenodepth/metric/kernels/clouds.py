"""Point clouds: which pixels give a point, and their points, in the order of the pixels."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.camera.kernels.owners import nearest_node
from plenodepth.compiling import compiled, inlined
from plenodepth.metric.kernels.points import (
    centroid_at,
    entry_of,
    is_dark,
    object_scale,
    undistort,
    virtual_point,
)

f4 = np.float32
f8 = np.float64

HALVINGS = 40  # of the micro-image's radius: as far as it matters
START_ENTRIES = 4096  # of light from 0 to 1


@inlined
def apparent_place(optics, lens, target, gap):
    """Distance, px, from the pupil's image of the pixel that looks `target` px away from it; NaN if none does.

    `gap` is 1/v − 1/v0. The inverse of `chief_ray`, by halving.
    """
    low, high = 0.0, 1 / optics.per_pixel[lens]
    if high + gap * centroid_at(optics, lens, high) < target:
        return math.nan
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle + gap * centroid_at(optics, lens, middle) > target:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@compiled
def find_shares(optics, center, depth, reach, share):
    """How much larger the part of each micro-image is that it shows best, where the aperture clips; into share (J,).

    `center` (J, 2) px of the micro-images, `depth` (J,) their virtual depths, `reach` (J,) px how far the part reaches
    from the centre if nothing is clipped. Pixels of a clipped lens look closer together than they stand, so that more
    of them show the same part.
    """
    for lens in range(len(share)):
        gap = 1 / depth[lens] - optics.inverse_focus[lens]
        y = center[lens, 1] - optics.pupil_image[lens, 1]
        ends = 0.0
        for side in range(2):
            sign = f8(2 * side - 1)
            x = center[lens, 0] + sign * reach[lens] - optics.pupil_image[lens, 0]
            target = math.sqrt(x * x + y * y)
            ends += sign * x * (apparent_place(optics, lens, target, gap) / max(target, 1e-12))
        stretch = ends / (2 * reach[lens])
        if not math.isnan(stretch):
            share[lens] *= stretch


@inlined
def in_cell(grid, lens, share, center_u, center_v, x, y):
    """Whether the pixel (x, y) px from a micro-image's centre lies in its cell of the lattice made smaller by `share`.

    The nearest node may lie beyond the array's border, where the cells continue.
    """
    k, l = nearest_node(grid, x / share + center_u, y / share + center_v)
    return k == lens % grid.columns and l == lens // grid.columns


@compiled
def choose_pixels(row, owner, depth, refined, optics, grid, center, share, chosen):
    """Columns of a row's pixels that give a point, into `chosen` (width,); returns how many.

    A pixel needs a lens, a virtual depth and light. For a coarse map it also has to lie in the part that its
    micro-image shows best, or on the centre; an empty `share` takes all.
    """
    count, width, partly = 0, owner.shape[1], len(share) > 0
    pitch, last, value = max(grid.pitch[0], grid.pitch[1]), -1, f4(math.nan)
    center_u = center_v = reach = 0.0
    for column in range(width):
        lens = owner[row, column]
        if lens < 0:
            continue
        if refined:
            value = depth[row * width + column]
        elif lens != last:  # neighbouring pixels are mostly of one lens
            value = depth[lens]
            if partly:
                center_u, center_v = center[lens, 0], center[lens, 1]
                # A cell reaches no farther than pitch/√2 (square) from its centre; few pixels need the exact test.
                reach = (share[lens] * pitch) ** 2 / 2
        last = lens
        if not math.isfinite(value) or value == 0:
            continue
        if partly:
            x, y = column - center_u, row - center_v
            near = x * x + y * y <= reach and in_cell(grid, lens, share[lens], center_u, center_v, x, y)
            if not near and not (abs(x) <= 0.5 and abs(y) <= 0.5):
                continue
        if not is_dark(optics, lens, f8(column), f8(row)):
            chosen[count] = column
            count += 1
    return count


@compiled
def find_points(first, last, owner, depth, refined, optics, grid, center, share, points, pixels):
    """Points (n, 3) mm of rows first … last − 1, and the pixels (n, 2) that see them; returns how many.

    None lie at or beyond infinity, or where the distortion cannot be undone.
    """
    total, width = 0, owner.shape[1]
    chosen = np.empty(width, np.int32)
    x, y, z, straight_x, straight_y = (
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty(width),
    )
    for row in range(first, last):
        count = choose_pixels(row, owner, depth, refined, optics, grid, center, share, chosen)
        for n in range(count):
            column = chosen[n]
            lens = owner[row, column]
            value = f8(depth[entry_of(refined, lens, row, column, width)])
            x[n], y[n], z[n] = virtual_point(optics, lens, f8(column), f8(row), value)
        undistort(x, y, count, optics.distortion, straight_x, straight_y)
        for n in range(count):
            scale = object_scale(optics, z[n])
            if math.isfinite(scale * straight_x[n]):
                points[total, 0], points[total, 1] = f4(scale * straight_x[n]), f4(scale * straight_y[n])
                points[total, 2] = f4(scale * z[n])
                pixels[total, 0], pixels[total, 1] = chosen[n], row
                total += 1
    return total


@compiled
def find_colors(first, last, light, pixels, least, colors):
    """sRGB bytes of points first … last − 1 from linear light (h, w, channels), into colors (n, 3).

    Byte b stands for light from least[b] (256,) on. Missing light is black; a single channel is gray.
    """
    channels = light.shape[2]
    start = np.empty(START_ENTRIES + 1, np.uint8)  # the byte of n/START_ENTRIES: where the search begins
    byte = 0
    for n in range(START_ENTRIES + 1):
        while byte < 255 and f4(n) / f4(START_ENTRIES) >= least[byte + 1]:
            byte += 1
        start[n] = byte
    for n in range(first, last):
        column, row = pixels[n, 0], pixels[n, 1]
        for channel in range(channels):
            value = light[row, column, channel]
            value = min(value, f4(1)) if value > 0 else f4(0)  # NaN is not larger
            byte = int(start[int(value * f4(START_ENTRIES))])
            while byte < 255 and value >= least[byte + 1]:
                byte += 1
            colors[n, channel] = byte
        for channel in range(channels, 3):
            colors[n, channel] = colors[n, 0]
