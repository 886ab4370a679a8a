"""The cost curve of one micro-image: the costs of all hypotheses, from which its depth is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.aperture.model_choice import choose_model
from plenodepth.depth.aperture.resampling import plan_resampling
from plenodepth.depth.estimate import better_model
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.constants import UNUSABLE
from plenodepth.depth.maps import empty_maps
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles, smoothing_of
from plenodepth.depth.views import plan_views
from plenodepth.errors import InputError
from plenodepth.raw.image import RawImage

SAMPLES = 200


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Mean absolute difference of the views over virtual depth, (n,) each, and the estimate made of it."""

    virtual_depth: NDArray[np.float64]
    cost: NDArray[np.float64]  # NaN where too few views overlap
    pixels: NDArray[np.float32]
    estimate: float  # NaN where there is none
    sigma: float
    aperture_model: ApertureModel  # that has been undone


def cost_curve(
    image: RawImage, camera: PlenopticCamera | GridCamera, k: int, l: int, settings: DepthSettings | None = None
) -> CostCurve:
    """The curve of micro-image (k, l), finely sampled in 1/v, by the reference kernel.

    The estimate is that of this micro-image alone. A map whose aperture is undone averages it with the estimates of its
    neighbours (`depth.neighbour_average`).
    """
    settings = replace(settings or DepthSettings(), refined=False)
    lattice = camera.micro_images.lattice
    if not lattice.contains(k, l):
        raise InputError(f"is ({k}, {l}), the camera has {lattice.columns} × {lattice.rows} micro-images", field="at")
    model, _ = choose_model(image, camera, settings, lambda: better_model(image, camera, settings))
    tiles = cut_tiles(image.gray, camera, settings, model)
    lens = l * lattice.columns + k
    fine = plan_views(camera, replace(settings, hypotheses=SAMPLES), image.noise, model)
    smoothing = smoothing_of(settings, model)
    tables = plan_resampling(tiles, fine, camera, model, smoothing)
    cost, _, pixels = reference.view_costs(
        reference.ComparedTiles(tiles, tables),
        fine,
        lens,
        tables.inverse_depths,
        None,
        None,
        fine.swept,
        fine.same_type_first,
    )
    maps = empty_maps((lattice.rows, lattice.columns))
    views = plan_views(camera, settings, image.noise, model)
    reference.coarse_depth(tiles, views, plan_resampling(tiles, views, camera, model, smoothing), lens, maps)
    return CostCurve(
        1 / fine.inverse_depths.astype(np.float64),
        np.where(cost < UNUSABLE, cost, np.nan).astype(np.float64),
        pixels,
        float(maps.virtual_depth[l, k]),
        float(maps.sigma[l, k]),
        model,
    )
