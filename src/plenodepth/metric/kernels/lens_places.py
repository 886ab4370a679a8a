"""Where the central view sees the pixels of each lens, at each hypothesis."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled
from plenodepth.metric.kernels.points import of_lens, undistort, virtual_point

f4 = np.float32
f8 = np.float64

STEP = 5.0  # px: half the size of a micro-image; how far a pixel moves is measured over it
NOWHERE = f4(-1e6)  # px: beside every image


@compiled
def find_lens_places(first, last, optics, center, inverse_depths, view, points, out):
    """Places of lenses first … last − 1 with micro-images centred in center (J, 2) px, into out (J, n, 4).

    Column and row of the central view where a pixel on the centre is seen at 1/v (n,), and how far the place moves per
    pixel to the right and downwards. `optics` do not clip. `view` is of `pinhole_of`. `points` (`RowBuffers` of 3 n) is
    a buffer. The distortion is undone exactly in the centre, and taken for a scale around it.
    """
    x, y, z, straight_x, straight_y = points
    count, focal = len(inverse_depths), view[4]
    sensor = (optics.sensor[0], optics.sensor[1], optics.sensor[2], optics.sensor[3])
    for lens in range(first, last):
        look = of_lens(optics, lens)
        for h in range(count):
            depth = f8(1) / f8(inverse_depths[h])
            for n in range(3):
                u = center[lens, 0] + (STEP if n == 1 else 0.0)
                v = center[lens, 1] + (STEP if n == 2 else 0.0)
                x[3 * h + n], y[3 * h + n], z[3 * h + n] = virtual_point(look, sensor, u, v, depth, 1.0, 0.0)
        undistort(x, y, 3 * count, optics.distortion, straight_x, straight_y)
        for h in range(count):
            i = 3 * h
            column, row = view[2] + focal * straight_x[i] / z[i], view[3] + focal * straight_y[i] / z[i]
            across = (focal * (straight_x[i + 1] / z[i + 1] - straight_x[i] / z[i])) / STEP
            down = (focal * (straight_y[i + 2] / z[i + 2] - straight_y[i] / z[i])) / STEP
            seen = z[i] < -optics.focal and math.isfinite(column + row + across + down)
            out[lens, h, 0], out[lens, h, 1] = (f4(column), f4(row)) if seen else (NOWHERE, NOWHERE)
            out[lens, h, 2], out[lens, h, 3] = (f4(across), f4(down)) if seen else (f4(1), f4(1))
