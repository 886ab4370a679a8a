"""The central view in colour, and its pixels as points."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.metric import PointCloud, central_image, central_points
from plenodepth.metric.central_view import central_places, z_buffer

SHAPE = (101, 140)
RED, BLUE = (200, 20, 10), (0, 40, 250)


def colored(points: np.ndarray, colors: np.ndarray | None) -> PointCloud:
    count = len(points)
    ones = np.ones(count, np.float32)
    return PointCloud(points.astype(np.float32), colors, ones, ones, np.zeros((count, 2), np.int32))


def test_what_a_pixel_sees_is_seen_by_that_pixel(camera: PlenopticCamera) -> None:
    depth = np.random.default_rng(0).uniform(500, 1500, SHAPE).astype(np.float32)
    points = central_points(depth, camera).reshape(-1, 3)
    place, seen = central_places(points, camera, 4)
    assert seen.all()
    np.testing.assert_array_equal(place, np.arange(depth.size))
    np.testing.assert_array_equal(z_buffer(points, camera), depth)


def test_a_pixel_has_the_mean_colour_of_what_it_sees_and_nothing_of_what_is_behind(camera: PlenopticCamera) -> None:
    depth = np.full(SHAPE, 800, np.float32)
    near, far = (central_points(np.full(SHAPE, z, np.float32), camera).reshape(-1, 3) for z in (800, 1200))
    bright, dark = (np.full_like(near, value, np.uint8) for value in (210, 110))
    behind = np.full_like(far, BLUE, np.uint8)
    image = central_image(
        colored(np.concatenate([near, near, far]), np.concatenate([bright, dark, behind])), depth, camera
    )
    assert image.dtype == np.uint8
    assert (image == 160).all()


def test_a_gap_takes_the_colour_beside_it_and_no_depth_is_black(camera: PlenopticCamera) -> None:
    depth = np.full(SHAPE, 800, np.float32)
    points = central_points(depth, camera).reshape(-1, 3)
    colors = np.full_like(points, RED, np.uint8)
    gap, missing = (20, 30), (50, 60)
    depth[missing] = np.nan
    without = np.ravel_multi_index(gap, SHAPE)
    image = central_image(colored(np.delete(points, without, 0), np.delete(colors, without, 0)), depth, camera)
    assert tuple(image[gap]) == RED
    assert tuple(image[missing]) == (0, 0, 0)


def test_a_cloud_without_colours_is_refused(camera: PlenopticCamera) -> None:
    with pytest.raises(InputError, match="has no colours"):
        central_image(colored(np.ones((4, 3)), None), np.ones(SHAPE, np.float32), camera)
