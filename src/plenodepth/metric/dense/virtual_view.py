"""The dense view in virtual depth: what a pinhole in place of the main lens sees, with one depth for every pixel.

1. Every pixel of the raw image is compared with its neighbouring views at every hypothesis, and its cost collected in
   the pixel of the central view that would see its point (`depth.collected_costs`). Behind the edge of something
   nearer, views through one half of the main lens count alone.
2. Semi-global matching chooses a hypothesis for every pixel: twice, the second time with penalties that are lower where
   the view itself, made sharp by the first choice, has an edge (`surfaces`, `light`).
3. Depth between the hypotheses comes from the pixel's own costs, and is averaged over what lies on the same surface.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.collected_costs import collected_costs
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.estimate import Progress
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.views import plan_views
from plenodepth.errors import InputError
from plenodepth.metric.dense.light import edges_of, in_pixels, sharp_light, shown_lenses, textured
from plenodepth.metric.dense.places import lens_places, view_shape
from plenodepth.metric.dense.surfaces import (
    labels_of,
    normalise_costs,
    outlines_by_light,
    summed_along_lines,
    surface_of,
    with_level_of_lenses,
)
from plenodepth.metric.dense.trust import confidence_of, distance_to_others, sigma_of
from plenodepth.raw.image import RawImage

Float32 = NDArray[np.float32]

LEVEL_REACH = 14  # px


@dataclass(frozen=True, eq=False)
class VirtualView:
    """The dense view (h, w) in 1/v, NaN where there is no depth, and where it sees the pixels of J lenses."""

    inverse: Float32
    sigma: Float32  # standard deviation of 1/v
    confidence: Float32
    light: Float32  # (h, w, channels)
    micro_images: NDArray[np.uint16]  # that have the same depth
    filled: NDArray[np.bool_]
    side: NDArray[np.uint8]
    owner: NDArray[np.int32]  # the lens nearest to each pixel
    places: Float32  # (J, n, 4): see `find_lens_places`
    inverse_depths: Float32  # (n,)


def virtual_view(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    virtual_map: VirtualDepthMap,
    settings: DepthSettings | None = None,
    dense: DenseSettings | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> VirtualView:
    """The dense view of a clean image; `virtual_map` is its virtual depth, by `settings`."""
    dense, model = dense or DenseSettings(), virtual_map.aperture_model
    if model == "slope":
        raise InputError("slope is not for a dense view", field="aperture_model", fix="use off or per_pixel")
    search = replace(
        settings or DepthSettings(), refined=True, hypotheses=dense.hypotheses, search="sweep", kernel="cpu"
    )
    views, shape = plan_views(camera, search, image.noise, model), view_shape(camera, dense.scale)
    places = lens_places(camera, views.inverse_depths, dense.scale)
    costs = collected_costs(image, camera, search, model, views, places, shape, threads=threads, progress=progress)
    lenses = shown_lenses(camera, virtual_map, views, places, shape)
    normalise_costs(costs, image.noise, textured(lenses, shape))
    steepness = None
    for _ in range(2 if dense.smoothness else 1):
        total = summed_along_lines(costs, dense.smoothness, steepness)
        label = labels_of(costs, total)
        light, seen, agreeing = sharp_light(image, lenses, label)
        steepness = edges_of(light)
    label = outlines_by_light(label, light, len(views.inverse_depths))
    surface = surface_of(costs, total, label, dense.surface)
    surface = surface._replace(inverse=with_level_of_lenses(surface.inverse, lenses, LEVEL_REACH))
    filled = surface.information == 0
    distance = distance_to_others(filled)
    surface = surface._replace(inverse=np.where(distance <= dense.fill, surface.inverse, np.float32(np.nan)))
    confidence = confidence_of(surface, label, seen, agreeing, filled)
    side = np.take_along_axis(costs.side, np.maximum(label, 0)[..., None].astype(np.int64), axis=2)[..., 0]
    return VirtualView(
        inverse=surface.inverse,
        sigma=sigma_of(surface, distance),
        confidence=confidence,
        light=light,
        micro_images=agreeing,
        filled=filled & np.isfinite(surface.inverse),
        side=side,
        owner=in_pixels(lenses.nearest, shape),
        places=places,
        inverse_depths=views.inverse_depths,
    )
