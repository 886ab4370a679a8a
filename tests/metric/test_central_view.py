"""The central sub-aperture depth map: a pinhole's view of the cloud."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plenodepth.camera import virtual_from_metric
from plenodepth.errors import InputError
from plenodepth.metric import central_depth, point_cloud
from plenodepth.metric.central_view import eroded, median_filtered, z_buffer


def grid_of_points(depth: float, half: float, count: int = 900) -> np.ndarray:
    x, y = np.meshgrid(np.linspace(-half, half, count), np.linspace(-half, half, count))
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, depth)])


@pytest.mark.parametrize("rule", ["minimum", "median"])
def test_a_frontal_plane_has_its_distance_everywhere(camera, as_map, frontal_truth, rule):
    cloud = point_cloud(as_map(frontal_truth.virtual_depth, refined=True), camera)
    depth = central_depth(cloud, camera, rule=rule)
    assert depth.shape == (101, 140)
    assert depth.dtype == np.float32
    assert np.isfinite(depth).mean() > 0.95
    assert np.nanmax(np.abs(depth - 950)) < 0.1


def test_a_coarse_map_gives_a_dense_view_from_every_pixel(camera, as_map):
    v = virtual_from_metric(500.0, camera, *camera.micro_images.lattice.indices())
    cloud = point_cloud(as_map(v, refined=False), camera, every_pixel=True)
    depth = central_depth(cloud, camera)
    assert np.isfinite(depth).mean() > 0.95
    assert np.nanmax(np.abs(depth - 500)) < 0.1


def test_points_land_where_the_pinhole_puts_them(camera):
    """u = u0 + F x/(z s) from the principal point: right in the scene is right in the image, as everywhere."""
    points = np.array([[0.0, 0.0, 800.0], [12.0, 0.0, 800.0], [0.0, 9.0, 800.0]])
    u0, v0 = camera.sensor.principal_point
    step = camera.main_lens.focal_length / 800 / camera.sensor.pixel_size
    for (x, y, _), point in zip(points, points, strict=True):
        depth = z_buffer(point[None], camera)
        (row,), (column,) = np.nonzero(np.isfinite(depth))
        assert column == np.floor((u0 + x * step + 0.5) / 4)
        assert row == np.floor((v0 + y * step + 0.5) / 4)


def test_scale_one_has_the_pixels_of_the_sensor(camera):
    depth = z_buffer([[0.0, 0.0, 800.0]], camera, scale=1)
    assert depth.shape == (404, 560)
    assert np.allclose(np.argwhere(np.isfinite(depth))[0], camera.sensor.principal_point[::-1], atol=0.5)


def test_the_nearer_of_two_planes_wins_by_minimum_and_the_denser_by_median(camera):
    far, near = grid_of_points(1000, 60), grid_of_points(600, 4, 60)
    both = np.concatenate([far, near])
    depth = central_depth(both, camera, median_size=1, erosion=False)
    v0, u0 = (int(x // 4) for x in camera.sensor.principal_point[::-1])
    assert depth[v0, u0] == 600
    assert depth[5, 5] == 1000
    assert set(np.unique(depth[np.isfinite(depth)])) == {600, 1000}
    denser = np.concatenate([*[grid_of_points(1000, 60, 300)] * 25, near[::9]])
    assert central_depth(denser, camera, rule="median", median_size=1, erosion=False)[v0, u0] == 1000


def test_the_median_of_a_pixel_is_one_of_its_values(camera):
    points = np.array([[0, 0, z] for z in (700.0, 650.0, 900.0, 800.0)])
    assert np.nanmax(z_buffer(points, camera, rule="median")) == 700
    assert np.nanmax(z_buffer(points[:3], camera, rule="median")) == 700
    assert np.nanmax(z_buffer(points, camera, rule="minimum")) == 650


def test_median_filter_drops_lone_pixels_and_fills_small_holes():
    depth = np.full((40, 40), 500, np.float32)
    depth[10, 10], depth[20, 20] = 900, np.nan
    clean = median_filtered(depth)
    assert (clean == 500).all()
    lone = np.full((40, 40), np.nan, np.float32)
    lone[5, 5] = 500
    assert np.isnan(median_filtered(lone)).all()
    step = np.full((40, 40), 500, np.float32)
    step[:, 20:] = 800
    assert np.array_equal(median_filtered(step), step)


def test_median_filter_equals_the_plain_definition():
    rng = np.random.default_rng(11)
    depth = rng.uniform(400, 900, (23, 31)).astype(np.float32)
    depth[rng.random(depth.shape) < 0.4] = np.nan
    result = median_filtered(depth)
    for row, column in np.ndindex(depth.shape):
        window = depth[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3]
        present = np.sort(window[np.isfinite(window)])
        if 2 * len(present) < window.size:
            assert np.isnan(result[row, column])
        else:
            middle = {present[(len(present) - 1) // 2], present[len(present) // 2]}
            assert result[row, column] in middle


def test_erosion_takes_two_pixels_around_holes_and_no_border():
    depth = np.arange(400, dtype=np.float32).reshape(20, 20)
    depth[10, 10] = np.nan
    result = eroded(depth)
    gone = set(map(tuple, np.argwhere(np.isnan(result))))
    assert gone == {(10, 10), *((10 + s, 10) for s in (-2, -1, 1, 2)), *((10, 10 + s) for s in (-2, -1, 1, 2))}
    assert np.array_equal(result[np.isfinite(result)], depth[np.isfinite(result)])


def test_nothing_in_gives_nothing_out(camera):
    assert np.isnan(central_depth(np.zeros((0, 3)), camera)).all()
    behind_or_beside = np.array([[0, 0, -500.0], [5000, 0, 800], [0, 0, np.nan], [0, 0, 0]])
    assert np.isnan(central_depth(behind_or_beside, camera, median_size=1, erosion=False)).all()


def test_sides_that_the_scale_does_not_divide_lose_their_last_pixels(camera):
    odd = replace(camera, sensor=replace(camera.sensor, width=559, height=403))
    assert central_depth(grid_of_points(800, 60), odd).shape == (100, 139)


def test_wrong_arguments_are_refused(camera):
    for wrong in ({"rule": "mean"}, {"median_size": 4}, {"scale": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            central_depth(np.zeros((0, 3)), camera, **wrong)
    with pytest.raises(InputError, match="points"):
        central_depth(np.zeros((4, 2)), camera)
