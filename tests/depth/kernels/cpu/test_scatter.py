"""The fast scatter of neighbouring estimates is what the plain NumPy one is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matching import CAMERAS

from plenodepth.camera.micro_lenses import depth_sign
from plenodepth.camera.model import image_size
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.constants import COARSE_SCATTER, LONE_SCATTER, NOISE_SHARE
from plenodepth.depth.kernels.cpu.scatter import coarse_scatter, refined_scatter
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import empty_tiles
from plenodepth.depth.views import plan_views

OFF = DepthSettings(aperture_model="off")
SHARED = np.float32(1e-4)


def depths(shape: tuple[int, int], sign: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Virtual depths of two surfaces with noise, a fifth of them missing, and σ."""
    rng = np.random.default_rng(seed)
    surface = np.where(np.arange(shape[1]) < shape[1] // 2, 4.0, 9.0)
    v = np.float32(sign * surface * (1 + 0.01 * rng.standard_normal(shape)))
    v[rng.random(shape) < 0.2] = np.nan
    return v, np.where(np.isnan(v), np.nan, rng.uniform(0.01, 0.1, shape)).astype(np.float32)


@pytest.mark.parametrize("name", CAMERAS)
def test_per_micro_image(name: str) -> None:
    camera = CAMERAS[name]
    views = plan_views(camera, OFF)
    depth, sigma = depths((views.rows, views.columns), depth_sign(camera), 1)
    fast, slow = sigma.copy(), sigma.copy()
    coarse_scatter(0, views.rows, views, 8, SHARED, depth, fast)
    reference.coarse_scatter(0, views.rows, views, 8, SHARED, depth, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-4)
    there = np.isfinite(depth)
    assert there.sum() > 40
    assert (fast[there] > 2 * NOISE_SHARE * sigma[there]).any()


@pytest.mark.parametrize("name", ["r12-a", "columns", "orthogonal", "unfocused", "grid"])
def test_per_pixel(name: str) -> None:
    camera, settings = CAMERAS[name], replace(OFF, refined=True)
    views, tiles = plan_views(camera, settings), empty_tiles(camera, settings)
    depth, sigma = depths(image_size(camera)[::-1], depth_sign(camera), 2)
    fast, slow = sigma.copy(), sigma.copy()
    band = 1, 4, tiles, views, 6, SHARED, depth
    refined_scatter(*band, fast)
    reference.refined_scatter(*band, slow)
    changed = np.isfinite(sigma) & (slow != sigma)
    assert changed.sum() > 1000
    # Which pixel of a neighbour is the nearest may depend on the last bit.
    assert np.isclose(fast[changed], slow[changed], rtol=1e-3).mean() > 0.999
    np.testing.assert_array_equal(fast[~changed], sigma[~changed])


def test_an_estimate_without_neighbours_is_not_trusted() -> None:
    camera = CAMERAS["r12-a"]
    views = plan_views(camera, OFF)
    depth = np.full((views.rows, views.columns), np.nan, np.float32)
    sigma = depth.copy()
    depth[4, 4], sigma[4, 4] = 5.0, 0.01
    coarse_scatter(0, views.rows, views, 12, SHARED, depth, sigma)
    parts = NOISE_SHARE * 0.01, COARSE_SCATTER * LONE_SCATTER * 5, SHARED * 25
    assert sigma[4, 4] == pytest.approx(np.linalg.norm(parts), rel=1e-5)
    assert np.isfinite(sigma).sum() == 1
