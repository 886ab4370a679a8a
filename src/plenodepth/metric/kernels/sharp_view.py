"""The central view's light: what the micro-images show that see the same point, the sharpest ones first."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.depth.kernels.constants import AGREEMENT
from plenodepth.depth.kernels.scalar import floor, in_array, parity_of

f4 = np.float32
i4 = np.int32
u2 = np.uint16

BLOCK = 4  # px: pixels of the view that share a nearest lens
# Added to the squared distance from focus in 1/v: lens types that are less than 0.04 out of focus are equally sharp.
FOCUS_DEPTH = f4(0.002)


@compiled
def gather_light(first, last, label, light, places, views, lenses, inverse_depths, radius, out, seen, agreeing):
    """Light (h, w, channels) of rows first … last − 1 of the central view, whose hypotheses are label (h, w), −1: none.

    `light` (H, W, channels) is the raw image's, `places` (J, n, 4) of `find_lens_places`. `lenses` are: the lens
    nearest to each block of pixels; their centres (J, 2) px; 1/v0 (J,), where each is in focus; and their own virtual
    depths (J,), NaN for none. A lens shows a pixel if its point lies within `radius` px of the lens' centre.
    `seen` (h, w) counts those that do and have a depth, `agreeing` those among them whose depth is the pixel's.
    """
    nearest, center, focus, lens_depth = lenses
    channels, radius_squared = light.shape[2], radius * radius
    for row in range(first, last):
        for column in range(label.shape[1]):
            h, total, compared, same = label[row, column], f4(0), 0, 0
            for channel in range(channels):
                out[row, column, channel] = f4(0)
            base = nearest[row // BLOCK, column // BLOCK]
            k, l = base % views.columns, base // views.columns
            parity = parity_of(views, k, l)
            for n in range(-1, views.step_k.shape[1] if h >= 0 else -1):
                ok, ol = (k, l) if n < 0 else (k + views.step_k[parity, n], l + views.step_l[parity, n])
                if not in_array(views, ok, ol):
                    continue
                lens = ol * views.columns + ok
                x = (f4(column) + f4(0.5) - places[lens, h, 0]) / places[lens, h, 2]
                y = (f4(row) + f4(0.5) - places[lens, h, 1]) / places[lens, h, 3]
                squared = x * x + y * y
                if not squared < radius_squared:
                    continue
                if not math.isnan(lens_depth[lens]):
                    compared += 1
                    same += 1 if abs(lens_depth[lens] * inverse_depths[h] - f4(1)) <= f4(AGREEMENT) else 0
                u, v = f4(center[lens, 0]) + x, f4(center[lens, 1]) + y
                left, top = floor(u), floor(v)
                if left < 0 or top < 0 or left >= light.shape[1] - 1 or top >= light.shape[0] - 1:
                    continue
                right, down, whole = u - f4(left), v - f4(top), f4(0)
                for channel in range(channels):
                    whole += light[top, left, channel] + light[top, left + 1, channel]
                    whole += light[top + 1, left, channel] + light[top + 1, left + 1, channel]
                if not math.isfinite(whole):
                    continue
                away = inverse_depths[h] - focus[lens]
                weight = (f4(1) - squared / radius_squared) / (FOCUS_DEPTH + away * away) ** 2
                total += weight
                for channel in range(channels):
                    above = light[top, left, channel] + right * (
                        light[top, left + 1, channel] - light[top, left, channel]
                    )
                    one = light[top + 1, left, channel]
                    below = one + right * (light[top + 1, left + 1, channel] - one)
                    out[row, column, channel] += weight * (above + down * (below - above))
            for channel in range(channels):
                out[row, column, channel] = out[row, column, channel] / total if total > 0 else f4(math.nan)
            seen[row, column], agreeing[row, column] = u2(compared), u2(same)
