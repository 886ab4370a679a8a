"""Point clouds: which pixels give a point, and their points, in the order of the pixels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.kernels.owners import nearest_node
from plenodepth.compiling import compiled, formula, inlined, inner
from plenodepth.metric.kernels.points import (
    centroid_at,
    entry_of,
    follow_row,
    from_pupil,
    has_light,
    object_scale,
    of_lens,
    undistort,
    virtual_point,
)

f4 = np.float32
f8 = np.float64

HALVINGS = 40  # of the micro-image's radius: as far as it matters
START_ENTRIES = 4096  # of light from 0 to 1


@formula
def apparent_place(tables, lens, target, gap):
    """Distance, px, from the pupil's image of the pixel that looks `target` px away from it; NaN if none does.

    `tables` and `lens` are as in `centroid_at`, `gap` is 1/v − 1/v0. The inverse of `chief_ray`, by halving.
    """
    low, high = 0.0, 1 / lens.per_pixel
    if high + gap * centroid_at(tables, lens, high) < target:
        return math.nan
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle + gap * centroid_at(tables, lens, middle) > target:
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
        look = of_lens(optics, lens)
        gap = 1 / depth[lens] - look.inverse_focus
        y = center[lens, 1] - look.pupil_v
        ends = 0.0
        for side in range(2):
            sign = f8(2 * side - 1)
            x = center[lens, 0] + sign * reach[lens] - look.pupil_u
            target = math.sqrt(x * x + y * y)
            ends += sign * x * (apparent_place(optics.centroid, look, target, gap) / max(target, 1e-12))
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


@inner
def choose_pixels(row, owner, depth, optics, grid, center, share, chosen):
    """Columns of a row's pixels that give a point of a coarse map, into `chosen` (width,); returns how many.

    A pixel needs a lens, a virtual depth and light, and has to lie in the part that its micro-image shows best, or on
    the centre.
    """
    count, end, width, pitch = 0, 0, owner.shape[1], max(grid.pitch[0], grid.pitch[1])
    while end < width:
        start, lens = end, owner[row, end]
        while end < width and owner[row, end] == lens:
            end += 1
        if lens < 0 or not math.isfinite(depth[lens]) or depth[lens] == 0:
            continue
        look, center_u, center_v = of_lens(optics, lens), center[lens, 0], center[lens, 1]
        # A cell reaches no farther than pitch/√2 (square) from its centre; few pixels need the exact test.
        reach = max((share[lens] * pitch) ** 2 / 2, 0.5)
        for column in range(start, end):
            x, y = column - center_u, row - center_v
            if x * x + y * y > reach:
                continue
            mine = (abs(x) <= 0.5 and abs(y) <= 0.5) or in_cell(grid, lens, share[lens], center_u, center_v, x, y)
            if mine and has_light(look, from_pupil(look, f8(column), f8(row))):
                chosen[count] = column
                count += 1
    return count


@compiled
def find_points(first, last, owner, depth, refined, metric, optics, grid, center, share, seen, chosen, out):
    """Points of the pixels of rows first … last − 1; returns how many.

    `depth` is the flat map of virtual depth, `metric` are those of depth, σ and confidence in mm. `share` (J,) is how
    large a part of each micro-image gives points; empty, all of it does. `seen` (`RowBuffers`) and `chosen` (width,),
    which holds the columns 0, 1, … at first, are buffers. `out` are points (n, 3) mm, the pixels (n, 2)
    that see them, their σ (n,) mm and confidence (n,). No points lie at or beyond infinity, or where the distortion
    cannot be undone.
    """
    metric_depth, metric_sigma, metric_confidence = metric
    points, pixels, sigma, confidence = out
    total, width, partly = 0, owner.shape[1], len(share) > 0
    x, y, z, straight_x, straight_y = seen
    for row in range(first, last):
        if partly:
            count = choose_pixels(row, owner, depth, optics, grid, center, share, chosen)
            for n in range(count):
                lens, u, v = owner[row, chosen[n]], f8(chosen[n]), f8(row)
                look = of_lens(optics, lens)
                away = from_pupil(look, u, v)
                centroid = centroid_at(optics.centroid, look, away)
                x[n], y[n], z[n] = virtual_point(look, optics.sensor, u, v, f8(depth[lens]), away, centroid)
        else:
            count = width
            follow_row(row, owner, depth, refined, optics, x, y, z)
        undistort(x, y, count, optics.distortion, straight_x, straight_y)
        for n in range(count):
            scale = object_scale(optics, z[n])
            if not math.isfinite(scale * straight_x[n]):
                continue
            entry = entry_of(refined, owner[row, chosen[n]], row, chosen[n], width)
            if math.isfinite(metric_depth[entry]):
                points[total, 0], points[total, 1] = f4(scale * straight_x[n]), f4(scale * straight_y[n])
                points[total, 2] = f4(scale * z[n])
                pixels[total, 0], pixels[total, 1] = chosen[n], row
                sigma[total], confidence[total] = metric_sigma[entry], metric_confidence[entry]
                total += 1
    return total


def color_starts(least: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The byte of each n/`START_ENTRIES` of light, n = 0 … `START_ENTRIES`, where byte b begins at least[b] (256,)."""
    light = np.arange(START_ENTRIES + 1, dtype=f4) / f4(START_ENTRIES)
    return (np.searchsorted(least[1:], light, side="right")).astype(np.uint8)


@compiled
def find_colors(first, last, light, pixels, least, start, colors):
    """sRGB bytes of points first … last − 1 from linear light (h, w, channels), into colors (n, 3).

    Byte b stands for light from least[b] (256,) on; start[n] is the byte of n/`START_ENTRIES`, where the search for it
    begins (`color_starts`). Missing light is black; a single channel is gray.
    """
    channels = light.shape[2]
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
