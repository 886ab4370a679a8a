"""Which lens is of which type, from an image: with the right types, views that are equally blurred match best.

A lattice shows where micro-images are, but not how they are counted: after a shift of the array by a lens or two, or of
a crop, each lens may have its neighbour's type. Depth hardly changes by that, but its confidence does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import Indices, MicroImageArray
from plenodepth.depth.bands import bands
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import Arrangement
from plenodepth.raw.image import RawImage

# Of the cost with the camera's own types. Simulated R12 walls have 0.65 … 0.89 at f/4 and 0.79 … 0.97 at f/2 by the
# right types, wrong ones among themselves 0.97 … 1.03. At f/2 and small v types make no difference.
CLEARLY_LESS = 0.96
LEAST_SHARE = 0.1  # of the micro-images must have a depth, for a comparison
SETTINGS = DepthSettings()


def with_lens_types(
    image: RawImage, camera: PlenopticCamera, *, threads: int | None = None
) -> tuple[PlenopticCamera, str]:
    """The camera with the count of its lens types that fits a clean image best, if clearly another one; and a note."""
    counts = _counts(camera.micro_images)
    if len(counts) < 2:
        return camera, ""
    cameras = [replace(camera, micro_images=replace(camera.micro_images, type_pattern=one)) for one in counts]
    maps = [
        [estimate_virtual_depth(part, of_part, SETTINGS, threads=threads) for part, of_part in bands(image, one)]
        for one in cameras
    ]
    costs = np.array([np.concatenate([band.cost.ravel() for band in one]) for one in maps])  # (counts, lenses)
    known = np.isfinite(costs).all(axis=0)
    if known.mean() < LEAST_SHARE:
        return camera, "the image does not tell which lens is of which type"
    median = np.median(costs[:, known], axis=1)
    best = int(np.argmin(median))
    if best == 0 or median[best] > CLEARLY_LESS * median[0]:
        return camera, ""
    return cameras[best], "lens types were counted anew: each lens has the type of another one beside it"


def _counts(grid: MicroImageArray) -> list[Indices]:
    """The type patterns that shifts by whole lenses make of a grid's, its own first."""
    rows, columns = grid.type_pattern.shape
    # In a hexagonal array shifts across its straight rows (columns) make none that those along them do not make.
    down = 1 if grid.lattice.arrangement is Arrangement.HEXAGONAL_ROWS else rows
    along = 1 if grid.lattice.arrangement is Arrangement.HEXAGONAL_COLUMNS else columns
    found = list[Indices]()
    for shift in ((l, k) for l in range(down) for k in range(along)):
        pattern = np.roll(grid.type_pattern, shift, (0, 1))
        if not any(np.array_equal(pattern, one) for one in found):
            found.append(pattern)
    return found
