from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from shown_results import real_result, small_camera

import plenodepth
from plenodepth.camera.projection import project
from plenodepth.depth.curves import cost_curve
from plenodepth.depth.settings import DepthSettings
from plenodepth.raw.image import RawImage
from plenodepth.view.browser.frames import Frame, open_frames
from plenodepth.view.browser.instrument import Instrument, shown_light
from plenodepth.view.browser.neighbourhood import neighbourhood_picture, neighbours_of
from plenodepth.view.browser.opening import frame_of, raw_images
from plenodepth.view.browser.picker import Picker
from plenodepth.view.browser.probe import curves_of, pixel_of_point, probe_pixel, surroundings

K, L = 21, 17  # of a micro-image that shows the square, 800 mm away


@cache
def image() -> RawImage:
    files = real_result()
    return plenodepth.load_raw(files.raw, small_camera(), white=files.white)


def frame() -> Frame:
    return open_frames(real_result().folder)[0]


def test_a_pixel_is_of_its_micro_image_and_has_its_depth() -> None:
    assert frame().maps is not None
    probe = probe_pixel(small_camera().micro_images.center(K, L) + 3.0, small_camera(), frame().maps())
    assert probe is not None
    assert (probe.k, probe.l) == (K, L)
    assert probe.lens_type == small_camera().micro_images.lens_type(K, L)
    assert probe.depth == pytest.approx(800, rel=0.03)
    assert probe.point is not None
    assert probe.point[2] == pytest.approx(probe.depth, rel=1e-3)
    assert len(probe.blur) == 3
    expected = project(probe.point, K, L, small_camera()).rho
    assert probe.blur[probe.lens_type] == pytest.approx(float(expected), abs=0.01)


def test_a_pixel_beside_the_array_is_of_none() -> None:
    assert probe_pixel([-500.0, 20.0], small_camera(), None) is None


def test_the_pixel_of_a_point_shows_that_point() -> None:
    u, v = small_camera().micro_images.center(K, L)
    assert frame().maps is not None
    probe = probe_pixel([u, v], small_camera(), frame().maps())
    assert probe is not None
    found = pixel_of_point(probe.point, small_camera())
    assert found == pytest.approx((u, v), abs=0.5)


def test_curves_of_the_surroundings_are_those_of_the_whole_image() -> None:
    near = surroundings(image(), small_camera(), K, L)
    assert max(near.image.gray.shape) < 300
    # What the aperture does is that of the part's middle, not of the array's; without it they are the same.
    for model, cost, sigmas in (("off", 1e-5, 0.001), ("per_pixel", 1e-3, 0.5)):
        curves = curves_of(near, DepthSettings(), model)
        for name, blur in (("B", True), ("D", False)):
            whole = cost_curve(image(), small_camera(), K, L, DepthSettings(blur=blur, aperture_model=model))
            assert np.allclose(curves[name].cost, whole.cost, rtol=0, atol=cost, equal_nan=True)
            assert curves[name].estimate == pytest.approx(whole.estimate, abs=sigmas * whole.sigma)


def test_the_neighbours_are_the_nearest_micro_images() -> None:
    near = surroundings(image(), small_camera(), K, L)
    found = neighbours_of(near, DepthSettings())
    grid = near.camera.micro_images
    pitch = grid.lattice.diameter

    def distance(pair: tuple[int, int]) -> float:
        return float(np.linalg.norm(grid.center(*pair) - grid.center(near.k, near.l)) / pitch)

    assert len(found.first) == 12
    assert max(map(distance, found.first)) < 1.8
    assert all(1.8 < distance(pair) < 3.1 for pair in found.later)
    picture = neighbourhood_picture(near, found)
    assert picture.shape == (3 * near.image.gray.shape[0], 3 * near.image.gray.shape[1], 3)
    assert ((picture == (255, 214, 0)).all(axis=-1)).any(), "a yellow ring"


def test_places_of_the_cloud_the_picture_and_the_view_agree() -> None:
    picker, shown = Picker(Instrument(small_camera())), frame()
    cloud = shown.clouds["dense view"]()
    assert shown.view is not None
    height, width = shown.view().shape[:2]
    at_view = picker.from_view((width / 2, height / 2), (width, height), cloud, shown)
    assert at_view is not None
    assert at_view.probe is not None
    assert at_view.point is not None
    assert at_view.point[2] == pytest.approx(800, rel=0.02)
    at_raw = picker.from_raw(at_view.probe.pixel, shown)
    assert at_raw is not None
    assert at_raw.point is not None
    assert np.linalg.norm(np.subtract(at_raw.point, at_view.point)) < 15


def test_the_frame_in_memory_is_the_one_of_the_files() -> None:
    result = plenodepth.estimate_depth(image(), small_camera(), dense=plenodepth.DenseSettings(enabled=True))
    here, there = frame_of(result), frame()
    assert list(here.clouds) == list(there.clouds)
    for name in here.clouds:
        assert np.allclose(here.clouds[name]().points, there.clouds[name]().points, atol=1e-3)
    assert here.view is not None
    assert there.view is not None
    assert np.array_equal(here.view(), there.view())
    assert here.settings() == there.settings()


def test_raw_images_are_found_by_the_names_of_frames() -> None:
    files = real_result()
    assert raw_images(files.raw, ["whatever"]) == {"whatever": files.raw}
    assert raw_images(files.raw.parent, ["raw", "other"]) == {"raw": files.raw}


def test_light_is_shown_as_srgb() -> None:
    picture = shown_light(image())
    assert picture.shape == (*image().gray.shape, 3)
    assert picture.max() == 255
    assert 40 < np.median(picture) < 240
