"""Metric depth maps: the camera's own conversion, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.camera import depth_resolution, infinity_virtual_depth, metric_from_virtual, preset
from plenodepth.errors import InputError
from plenodepth.io import read_float_map, write_float_map
from plenodepth.metric import metric_depth_map


def test_depths_of_a_refined_map_are_those_of_the_scene(camera, as_map, plane_truth):
    metric = metric_depth_map(as_map(plane_truth.virtual_depth, refined=True), camera)
    assert metric.refined
    assert metric.depth.dtype == np.float32
    assert np.array_equal(np.isfinite(metric.depth), np.isfinite(plane_truth.depth))
    assert np.nanmax(np.abs(metric.depth - plane_truth.depth)) < 0.1


def test_depths_of_a_coarse_map_are_those_through_the_centres(camera, as_map, plane_truth):
    metric = metric_depth_map(as_map(plane_truth.lens_virtual_depth, refined=False), camera)
    assert metric.depth.shape == (20, 24)
    assert np.nanmax(np.abs(metric.depth - plane_truth.lens_depth)) < 0.1


@pytest.mark.parametrize("name", ["r12-mini", "upc-s"])
def test_map_and_single_values_agree_with_the_depth_scale(name, as_map):
    camera = preset(name)
    k, l = camera.micro_images.lattice.indices()
    v = np.random.default_rng(1).uniform(4, 15, k.shape).astype(np.float32)
    metric = metric_depth_map(as_map(v, refined=False), camera)
    assert np.allclose(metric.depth, metric_from_virtual(v, camera, k, l), rtol=1e-6)
    assert np.allclose(metric.sigma, np.abs(depth_resolution(v, camera, k, l)) * 0.05, rtol=1e-5)


def test_every_pixel_takes_the_distances_of_its_own_lens(as_map):
    camera = preset("r12-mini")
    shape = (camera.sensor.height, camera.sensor.width)
    v = np.random.default_rng(2).uniform(3, 12, shape).astype(np.float32)
    metric = metric_depth_map(as_map(v, refined=True), camera)
    row, column = np.mgrid[: shape[0], : shape[1]]
    k, l = camera.micro_images.owner(np.stack([column, row], axis=-1))
    assert np.array_equal(np.isfinite(metric.depth), k >= 0)
    inside = k >= 0
    assert np.allclose(metric.depth[inside], metric_from_virtual(v, camera, k, l)[inside], rtol=1e-6)


def test_sigma_is_the_derivative_times_the_sigma_of_v(as_map):
    camera = preset("r12-mini")
    v = np.full((20, 24), 6.0)
    step = 1e-3
    nearer, farther = (
        metric_from_virtual(v + s, camera, *camera.micro_images.lattice.indices()) for s in (step, -step)
    )
    metric = metric_depth_map(as_map(v, refined=False, sigma=0.02), camera)
    assert np.allclose(metric.sigma, 0.02 * (farther - nearer) / (2 * step), rtol=1e-4)


def test_missing_stays_missing_and_beyond_infinity_there_is_nothing(as_map):
    camera = preset("r12-c")
    limit = infinity_virtual_depth(camera, *camera.micro_images.lattice.indices())
    v = np.full(limit.shape, 5.0)
    v[0, 0], v[0, 1], v[0, 2], v[0, 3] = np.nan, limit[0, 1] - 0.01, -4.0, np.inf
    metric = metric_depth_map(as_map(v, refined=False), camera)
    assert np.isnan(metric.depth[0, :4]).all()
    assert np.isnan(metric.sigma[0, :4]).all()
    assert (metric.confidence[0, :4] == 0).all()
    assert np.isfinite(metric.depth[1:]).all()
    assert metric.valid_fraction == 1 - 4 / v.size


def test_map_is_a_tiff_of_floats_with_nan(tmp_path, camera, as_map, plane_truth):
    metric = metric_depth_map(as_map(plane_truth.lens_virtual_depth, refined=False), camera)
    metric.depth[3, 3] = np.nan
    write_float_map(metric.depth, tmp_path / "depth.tif")
    assert np.array_equal(read_float_map(tmp_path / "depth.tif"), metric.depth, equal_nan=True)


def test_map_of_another_camera_is_refused(camera, as_map):
    with pytest.raises(InputError, match="not one of camera"):
        metric_depth_map(as_map(np.full((5, 5), 4.0), refined=False), camera)
