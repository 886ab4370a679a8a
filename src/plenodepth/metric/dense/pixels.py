"""One depth for each pixel of the raw image, from the dense view: what all micro-images together know of its point."""

from __future__ import annotations

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel, image_size
from plenodepth.depth.maps import VirtualDepthMap, empty_maps
from plenodepth.metric.dense.places import LENSES_AT_A_TIME
from plenodepth.metric.dense.surfaces import SAME_SURFACE
from plenodepth.metric.dense.virtual_view import VirtualView
from plenodepth.metric.kernels.seen_depths import find_seen_depths
from plenodepth.threads import each_band

RIM = 1.0  # px: what lies nearer to the border of a micro-image shows little light of its own


def pixel_map(view: VirtualView, camera: PlenopticCamera | GridCamera, model: ApertureModel) -> VirtualDepthMap:
    """The virtual depth (h, w) of the raw image's pixels, with the σ and the confidence of the view where they look.

    `views` counts the micro-images that have the same depth; there is no cost. A pixel that looks past an outline, at
    something that the view does not show, has no depth. `model` is that by which the view was made.
    """
    grid, (width, height) = camera.micro_images, image_size(camera)
    center = np.ascontiguousarray(grid.center(*grid.lattice.indices()).reshape(-1, 2))
    maps, owner = empty_maps((height, width)), np.full((height, width), -1, np.int32)
    inverse, radius = maps.virtual_depth, np.float32(min(grid.radius, grid.lattice.diameter / 2) - RIM)
    given = center, view.places, view.inverse_depths, view.inverse, radius, np.float32(SAME_SURFACE), inverse, owner
    each_band(len(center), lambda lenses: find_seen_depths(lenses.start, lenses.stop, *given), rows=LENSES_AT_A_TIME)

    def fill(rows: slice) -> None:
        there = owner[rows] >= 0
        place = owner[rows][there]
        squared = np.square(inverse[rows][there])
        maps.sigma[rows][there] = view.sigma.ravel()[place] / squared
        maps.confidence[rows][there] = view.confidence.ravel()[place]
        maps.views[rows][there] = np.minimum(view.micro_images.ravel()[place], np.iinfo(np.int16).max)
        inverse[rows] = np.float32(1) / inverse[rows]

    each_band(height, fill)
    return VirtualDepthMap(*maps, refined=True, aperture_model=model)
