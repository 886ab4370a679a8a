"""σ as it is on scenes: widened by what neighbouring estimates differ by.

A match knows the noise of its own pixels only. Its error at the edge of an object, where the texture is poor or where
interpolation and aperture leave something over, shows in the neighbours: these saw the same with other pixels, and
found something else. What they all are off together does not show, and is added.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from plenodepth.camera.model import ApertureModel
from plenodepth.depth.filters.neighbourhood import FIRST_RING
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.cpu.scatter import coarse_scatter, refined_scatter
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

SECOND_RING = 1.8  # pitches: the 12 nearest lenses of a hexagonal lattice, the 8 of an orthogonal one
# px of disparity between neighbouring lenses: standard deviation of what all estimates of a surface are off together.
# Of a small aperture more is left after it is undone than interpolation causes.
SHARED_ERROR: dict[ApertureModel, float] = {"off": 0.002, "slope": 0.027, "per_pixel": 0.027}


def widen_sigma(
    tiles: Tiles,
    views: Views,
    maps: MapArrays,
    settings: DepthSettings,
    model: ApertureModel,
    bands: list[tuple[int, int]],
    pool: ThreadPoolExecutor,
) -> None:
    """Make the σ of matches those of depths, in place."""
    ring = int((np.linalg.norm(views.baseline[0], axis=1) <= ring_reach(settings) * views.pitch).sum())
    shared = np.float32(SHARED_ERROR[model] / views.pitch)
    fast = settings.kernel == "cpu"

    def widen(band: tuple[int, int]) -> None:
        if settings.refined:
            refined = refined_scatter if fast else reference.refined_scatter
            refined(band[0], band[1], tiles, views, ring, shared, maps.virtual_depth, maps.sigma)
        else:
            coarse = coarse_scatter if fast else reference.coarse_scatter
            coarse(band[0], band[1], views, ring, shared, maps.virtual_depth, maps.sigma)

    for _ in pool.map(widen, bands):
        pass


def ring_reach(settings: DepthSettings) -> float:
    """Pitches to the farthest lens that an estimate is compared with."""
    return FIRST_RING if settings.refined else SECOND_RING
