"""Metric depth per pixel of a refined map."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled

f4 = np.float32
f8 = np.float64


@compiled
def find_metric(first, last, owner, maps, to_sensor, behind_focus, focal, scale, out):
    """z, σ_z and confidence of rows first … last − 1.

    `maps` are virtual depth, its σ and its confidence, `out` the same in mm, (h, w) each. `to_sensor` (J,) is d and
    `behind_focus` (J,) D − F of each lens, `scale` (3,) are γ0, γ1, γ2.
    """
    virtual, virtual_sigma, virtual_confidence = maps
    depth, sigma, confidence = out
    for row in range(first, last):
        for column in range(owner.shape[1]):
            lens = owner[row, column]
            depth[row, column] = sigma[row, column] = f4(math.nan)
            confidence[row, column] = f4(0)
            if lens < 0:
                continue
            beyond = f8(virtual[row, column]) * to_sensor[lens] + behind_focus[lens]
            if not (beyond > 0 and beyond < math.inf):
                continue
            object_side = focal * focal / beyond  # z − F
            z = object_side + focal
            slope = to_sensor[lens] * (object_side / focal) ** 2 * (scale[1] + 2 * scale[2] * z)
            depth[row, column] = f4(scale[0] + z * (scale[1] + z * scale[2]))
            sigma[row, column] = f4(abs(slope) * virtual_sigma[row, column])
            confidence[row, column] = virtual_confidence[row, column]
