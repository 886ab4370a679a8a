"""σ as it is on scenes: widened by what neighbouring estimates differ by.

A match knows the noise of its own pixels only. Its error at the edge of an object, where the texture is poor or where
interpolation and aperture leave something over, shows in the neighbours: these saw the same with other pixels, and
found something else. What they all are off together does not show, and is added.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera, lens_distances
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
INTERPOLATION_ERROR = 0.002
# Of a small aperture this is left after it is undone, times the square of how many times as small as the micro-lenses'
# it is: 0.026 px at f/4 for R12. Walls at f/2.8, f/4 and f/5.6 want 0.007, 0.015 and 0.03 px, scenes at f/4 0.025 px.
APERTURE_ERROR = 0.012


def widen_sigma(
    tiles: Tiles,
    views: Views,
    maps: MapArrays,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings,
    model: ApertureModel,
    bands: list[tuple[int, int]],
    pool: ThreadPoolExecutor,
) -> None:
    """Make the σ of matches those of depths, in place."""
    ring = int((np.linalg.norm(views.baseline[0], axis=1) <= ring_reach(settings) * views.pitch).sum())
    shared = np.float32(shared_error(camera, model) / views.pitch)
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


def shared_error(camera: PlenopticCamera | GridCamera, model: ApertureModel) -> float:
    """Standard deviation of what all estimates of a surface are off together, px of disparity between neighbours."""
    if model == "off" or not isinstance(camera, PlenopticCamera) or camera.main_lens.f_number is None:
        return INTERPOLATION_ERROR
    grid = camera.micro_images
    _, distance = lens_distances(camera, grid.lattice.columns // 2, grid.lattice.rows // 2)
    narrower = camera.main_lens.f_number * grid.lattice.diameter * camera.sensor.pixel_size / float(distance)
    return float(np.hypot(INTERPOLATION_ERROR, APERTURE_ERROR * narrower**2))
