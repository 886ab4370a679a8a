"""A pinhole puts points where the central view of the metric room does, and back."""

from __future__ import annotations

import numpy as np

from plenodepth import preset
from plenodepth.camera import Pinhole
from plenodepth.metric import central_points
from plenodepth.render import RenderedView


def test_points_of_pixels_are_seen_at_these_pixels() -> None:
    pinhole = Pinhole(400.0, 410.0, 30.5, 22.25, np.array([2.0, -1.0, 0.5]))
    depth = np.random.default_rng(1).uniform(300, 900, (40, 60)).astype(np.float32)
    row, column = np.indices(depth.shape)
    places = pinhole.places(pinhole.points(depth).astype(np.float64))
    np.testing.assert_allclose(places, np.stack([column, row], axis=-1), atol=1e-3)
    assert np.isnan(pinhole.places([0.0, 0.0, 0.0])).all()  # behind it


def test_the_matrix_is_that_of_other_programs() -> None:
    pinhole = Pinhole(400.0, 410.0, 30.5, 22.25)
    point = np.array([12.0, 7.0, 500.0])
    u, v, w = pinhole.matrix @ point
    np.testing.assert_allclose(pinhole.places(point), [u / w, v / w])


def test_the_pinhole_of_the_central_view() -> None:
    camera, scale = preset("r12-mini"), 2
    focal = camera.main_lens.focal_length / camera.sensor.pixel_size / scale
    axis = (camera.sensor.principal_point + 0.5) / scale - 0.5
    depth = np.full((camera.sensor.height // scale, camera.sensor.width // scale), 800, np.float32)
    seen = Pinhole(focal, focal, *axis).points(depth)
    np.testing.assert_allclose(seen, central_points(depth, camera, scale=scale), atol=1e-3)


def test_a_picture_is_srgb_and_black_where_there_is_no_light() -> None:
    light = np.array([[[0.0], [1.0], [np.nan], [0.2159]]], np.float32)
    one = np.ones((1, 4), np.float32)
    view = RenderedView(light, one, one, one, np.zeros((1, 4), bool), None, 2, False)
    assert view.picture.shape == (1, 4, 3)
    assert view.picture[0, :, 0].tolist() == [0, 255, 0, 128]
