"""Points spread evenly over the open part of a micro-lens, for whatever needs more of its shape than moments.

The open part is the intersection of two discs (see `clipping`). It is cut across the line of their centres into
slices of equal area, and each slice into cells of equal area; the points are the cells' middles, so that all have the
same weight.
"""

from __future__ import annotations

import numpy as np

from plenodepth.camera.aperture.clipping import disc_of_pupil
from plenodepth.camera.micro_lenses import LensDistances, lens_distances
from plenodepth.camera.model import Array, PlenopticCamera

CHORDS = 500  # along the line of centres, to measure areas with
LEAST_WIDTH = 1e-6  # of a lens' radius: narrower parts count as dark


def open_nodes(
    offset: Array,
    lens_type: int,
    camera: PlenopticCamera,
    slices: int,
    cells: int,
    f_number: float | None = None,
    distances: LensDistances | None = None,
) -> Array:
    """Points (m, slices · cells, 2) mm from the lens' centre, along and across the direction of pixels at `offset`.

    `offset` (m,) mm (≥ 0) from the micro-image's centre, growing, the first one open; dark ones have the points of the
    last open one. Default: the camera's own f-number, and D and d at the array's centre.
    """
    ratio, radius = disc_of_pupil(*(distances or lens_distances(camera)), lens_type, camera, f_number)
    half = camera.micro_lenses.lens_diameter / 2
    apart = np.abs(ratio) * offset
    first, last = np.maximum(-half, apart - radius), np.minimum(half, apart + radius)
    count = max(1, int(np.searchsorted(first + LEAST_WIDTH * half > last, True)))  # open ones
    first, last, apart = first[:count], last[:count], apart[:count]
    # Chords close up towards both ends, where their length goes as a square root.
    turn = (np.arange(CHORDS) + 0.5) * np.pi / CHORDS
    x = first[:, None] + (last - first)[:, None] * (1 - np.cos(turn)) / 2
    height = np.sqrt(np.maximum(np.minimum(half**2 - x**2, radius**2 - (x - apart[:, None]) ** 2), 0))
    area = height * np.sin(turn)
    share = np.cumsum(area, axis=1) - area / 2
    share *= slices / np.sum(area, axis=1, keepdims=True)
    nodes = np.empty((count, slices, cells, 2))
    for index in range(slices):
        inside = np.where((share >= index) & (share < index + 1), area, 0)
        total = inside.sum(axis=1)
        nodes[:, index, :, 0] = np.sign(ratio) * (inside * x).sum(axis=1, keepdims=True) / total[:, None]
        middle = (2 * np.arange(cells) + 1 - cells) / cells
        nodes[:, index, :, 1] = ((inside * height).sum(axis=1) / total)[:, None] * middle
    width = 1.0 if camera.type_count else 0.0  # pinholes have none
    return np.asarray(width * nodes.reshape(count, -1, 2)[np.minimum(np.arange(len(offset)), count - 1)])
