"""Costs collected in another view are those that plain NumPy collects."""

import numpy as np
import pytest
from matching import CAMERAS, random_image

from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.resampling import plan_resampling
from plenodepth.depth.collected_costs import collected_costs, hypotheses_together
from plenodepth.depth.kernels.constants import UNUSABLE
from plenodepth.depth.kernels.reference import ComparedTiles
from plenodepth.depth.kernels.reference.collecting import collected
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles, smoothing_of
from plenodepth.depth.views import plan_views
from plenodepth.metric.dense.places import lens_places, view_shape


@pytest.mark.parametrize(
    ("name", "model"),
    [("r12-a", "off"), ("r12-a", "per_pixel"), ("columns", "per_pixel"), ("keplerian", "off"), ("grid", "off")],
)
def test_collected_costs_equal_the_plain_ones(name: str, model: str) -> None:
    camera = CAMERAS[name] if name == "grid" else shrunk(CAMERAS[name], 6, 6)
    image = random_image(camera, seed=11, missing=0)
    settings = DepthSettings(refined=True, hypotheses=9, far_reach=2.0, aperture_model=model)
    views, shape = plan_views(camera, settings, image.noise, model), view_shape(camera, 3)
    places = lens_places(camera, views.inverse_depths, 3)
    found = collected_costs(image, camera, settings, model, views, places, shape)
    tiles = cut_tiles(image.gray, camera, settings, model)
    tables = plan_resampling(tiles, views, camera, model, smoothing_of(settings, model))
    compared = ComparedTiles(tiles, tables)
    shares = []
    for h in (1, 4, 7):
        cost, side = collected(compared, views, h, places, shape)
        known = cost < UNUSABLE
        shares.append(known.mean())
        # A place that lies on the border between two pixels may fall on either side of it.
        assert np.mean(known != (found.cost[..., h] < UNUSABLE)) < 0.01
        both = known & (found.cost[..., h] < UNUSABLE)
        off = np.abs(cost / found.cost[..., h] - 1) > 1e-3
        assert np.count_nonzero(off & both) <= 0.05 * np.count_nonzero(both)
        assert np.mean(side != found.side[..., h]) < 0.02
    assert max(shares) > 0.3


def test_the_number_of_threads_changes_no_byte() -> None:
    camera = CAMERAS["r12-a"]
    image, settings = random_image(camera, seed=3), DepthSettings(refined=True, hypotheses=9)
    views = plan_views(camera, settings, image.noise, "per_pixel")
    places = lens_places(camera, views.inverse_depths, 4)
    one, three = (
        collected_costs(image, camera, settings, "per_pixel", views, places, view_shape(camera, 4), threads=threads)
        for threads in (1, 3)
    )
    assert one.cost.tobytes() == three.cost.tobytes()
    assert one.side.tobytes() == three.side.tobytes()


@pytest.mark.parametrize("model", ["off", "per_pixel"])
def test_each_hypothesis_is_collected_once(model: str) -> None:
    camera = CAMERAS["r12-a"]
    settings = DepthSettings(refined=True, hypotheses=23)
    views = plan_views(camera, settings, 0.0, model)
    tiles = cut_tiles(random_image(camera, seed=1).gray, camera, settings, model)
    tables = plan_resampling(tiles, views, camera, model, smoothing_of(settings, model))
    parts = hypotheses_together(tables)
    assert sorted(h for part in parts for h in part) == list(range(23))
    assert all(len(np.unique(tables.plane_of_hypothesis[part])) == 1 for part in parts)
