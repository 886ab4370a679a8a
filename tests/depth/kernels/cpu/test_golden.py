"""The golden section as published."""

from dataclasses import replace

import numpy as np
import pytest
from matching import CAMERA, tilted_plane
from planes import plane_image

from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.resampling import no_resampling
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.constants import FIRST_TOLERANCE, SECOND_REACH, SECOND_TOLERANCE
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles
from plenodepth.depth.views import plan_views

OFF = DepthSettings(aperture_model="off")


def golden_section(cost: object, low: float, high: float, tolerance: float) -> float:
    """The textbook's, here for comparison."""
    ratio = (5**0.5 - 1) / 2
    while high - low > tolerance:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if cost(left) < cost(right):  # type: ignore[operator]
            high = right
        else:
            low = left
    return (low + high) / 2


def test_the_golden_section_is_the_textbooks_over_the_same_costs() -> None:
    settings = replace(OFF, search="golden", first_hypothesis="same_type")
    image = plane_image(900.0, tilt=0.4)
    tiles, views = cut_tiles(image.gray, CAMERA, settings), plan_views(CAMERA, settings, image.noise)
    compared = reference.ComparedTiles(tiles, no_resampling(tiles, views))
    found = estimate_virtual_depth(image, CAMERA, settings)
    for lens in (100, 245, 260, 333):

        def cost(v: float, count: int, same_type: bool, lens: int = lens) -> float:
            place = np.array([1 / v], np.float32)
            return float(reference.view_costs(compared, views, lens, place, None, None, count, same_type)[0][0])

        first = golden_section(lambda v: cost(v, views.swept, True), 2, 20, FIRST_TOLERANCE)
        reach = first / 2 * 1.01 * float(views.pitch)
        count = int((np.linalg.norm(views.baseline[0], axis=1) <= reach).sum())
        low, high = max(2, first - SECOND_REACH), min(20, first + SECOND_REACH)
        expected = golden_section(lambda v, n=count: cost(v, n, False), low, high, SECOND_TOLERANCE)
        assert found.virtual_depth.flat[lens] == pytest.approx(expected, abs=2 * SECOND_TOLERANCE)


def test_the_refined_golden_section_finds_the_plane() -> None:
    camera = shrunk(CAMERA, 8, 8)
    sweep = replace(OFF, refined=True)
    settings = replace(sweep, search="golden", first_hypothesis="same_type")
    published, swept = (estimate_virtual_depth(tilted_plane(camera), camera, s) for s in (settings, sweep))
    both = np.isfinite(published.virtual_depth) & np.isfinite(swept.virtual_depth)
    assert both.mean() > 0.4
    assert np.median(np.abs(published.virtual_depth / swept.virtual_depth - 1)[both]) < 0.02
