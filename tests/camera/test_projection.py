"""Projection and its inverse: round trips, configurations, visibility."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, unfocused, without_distortion, without_tilt
from hypothesis import given, settings
from hypothesis import strategies as st

from plenodepth.camera import (
    PRESETS,
    PlenopticCamera,
    lens_center,
    lens_distances,
    lenses_that_see,
    predicted_center,
    preset,
    project,
    unproject,
    usable_virtual_range,
)
from plenodepth.errors import InputError

CAMERAS = {name: make for name, make in PRESETS.items() if name != "upc-s"} | {
    "keplerian": keplerian,
    "unfocused": unfocused,
}


def sample(camera: PlenopticCamera, count: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Random lenses, pixels of their micro-images and virtual depths within the usable range."""
    generator = np.random.default_rng(seed)
    lattice = camera.micro_images.lattice
    k, l = generator.integers(0, lattice.columns, count), generator.integers(0, lattice.rows, count)
    angle, radius = generator.uniform(0, 2 * np.pi, count), camera.micro_images.radius * generator.uniform(0, 1, count)
    uv = camera.micro_images.center(k, l) + np.stack([np.cos(angle), np.sin(angle)], -1) * radius[:, None]
    far, near = usable_virtual_range(camera)
    return uv, k, l, generator.uniform(far + 0.02 * (near - far), near, count)


@pytest.mark.parametrize("name", CAMERAS)
def test_project_undoes_unproject_to_1e_9_px_without_distortion(name: str) -> None:
    camera = without_distortion(CAMERAS[name]())
    uv, k, l, v = sample(camera, 2000)
    points = unproject(uv, k, l, v, camera, depth_scale=False)
    assert np.abs(project(points, k, l, camera).uv - uv).max() < 1e-9


@pytest.mark.parametrize("name", CAMERAS)
def test_project_undoes_unproject_to_1e_6_px_with_newtons_inverse(name: str) -> None:
    camera = CAMERAS[name]()
    uv, k, l, v = sample(camera, 2000)
    for depth_scale in (False, True):
        points = unproject(uv, k, l, v, camera, depth_scale=depth_scale)
        assert np.abs(project(points, k, l, camera, depth_scale=depth_scale).uv - uv).max() < 1e-6


@pytest.mark.parametrize("name", ["r12-mini", "r12-b", "keplerian", "unfocused"])
def test_unproject_undoes_project(name: str) -> None:
    camera = CAMERAS[name]()
    uv, k, l, v = sample(camera, 500)
    points = unproject(uv, k, l, v, camera)
    # The lens next door sees the same point at another pixel; the virtual depth seen from there follows from ρ's
    # geometry, not from the first lens, so this is no mere repetition of the round trip above.
    k2 = np.clip(k + 1, 0, camera.micro_images.lattice.columns - 1)
    seen = project(points, k2, l, camera, depth_scale=True)
    a, b = lens_distances(camera, k, l), lens_distances(camera, k2, l)
    v2 = (a.to_main_lens + v * a.to_sensor - b.to_main_lens) / b.to_sensor
    assert np.allclose(unproject(seen.uv, k2, l, v2, camera), points, rtol=1e-9, atol=1e-9)


def test_the_point_is_scaled_as_a_whole_from_the_optical_centre() -> None:
    camera = preset("r12-b")
    uv, k, l, v = sample(camera, 100)
    plain, scaled = (unproject(uv, k, l, v, camera, depth_scale=on) for on in (False, True))
    constant, linear, quadratic = camera.depth_scale
    z = plain[:, 2]
    assert np.allclose(scaled, plain * ((constant + linear * z + quadratic * z**2) / z)[:, None], rtol=1e-12)


def test_missing_and_impossible_virtual_depths_give_nan() -> None:
    camera = preset("r12-c")  # infinity is at v = 2.2 there
    uv, k, l, _ = sample(camera, 3)
    points = unproject(uv, k, l, np.array([np.nan, 1.0, 5.0]), camera)
    assert np.isnan(points[:2]).all()
    assert np.isfinite(points[2]).all()


def test_a_point_inside_the_focal_length_forms_no_image() -> None:
    camera = preset("r12-mini")
    seen = project([[0.0, 0.0, 30.0], [0.0, 0.0, -500.0], [0.0, 0.0, 50.1194]], 12, 10, camera)
    assert np.isnan(seen.uv).all()
    assert np.isnan(seen.rho).all()
    assert not seen.visible.any()


def test_the_axis_point_is_seen_at_the_centre_of_the_lens_on_its_line() -> None:
    camera = without_tilt(preset("r12-mini"))
    k, l = camera.micro_images.owner(camera.sensor.principal_point)
    center = lens_center(k, l, camera)
    on_its_line = center * (800 / center[2])  # through the optical centre, into the scene
    seen = project(on_its_line, k, l, without_distortion(camera))
    assert np.allclose(seen.uv, predicted_center(k, l, camera), atol=1e-9)
    assert seen.visible


def test_image_axes_point_right_and_down() -> None:
    camera = preset("r12-mini")
    middle, right, down = project([[0, 0, 1000.0], [1, 0, 1000.0], [0, 1, 1000.0]], 12, 10, camera).uv
    # Inside one micro-image of a Galilean camera the order is that of the whole image.
    assert right[0] > middle[0]
    assert down[1] > middle[1]


def test_margin_and_sensor_decide_visibility() -> None:
    camera = preset("r12-mini")
    k, l = camera.micro_images.lattice.indices()
    points = np.array([3.0, -2.0, 700.0])
    seen = project(points, k, l, camera)
    inner = project(points, k, l, camera, margin=1.5)
    offset = np.linalg.norm(seen.uv - camera.micro_images.center(k, l), axis=-1)
    on_sensor = camera.sensor.contains(seen.uv)
    assert (seen.visible == ((offset <= camera.micro_images.radius) & on_sensor)).all()
    assert (inner.visible == ((offset <= camera.micro_images.radius - 1.5) & on_sensor)).all()
    assert 0 < inner.visible.sum() < seen.visible.sum()


@pytest.mark.parametrize("make", [lambda: preset("r12-mini"), keplerian], ids=["galilean", "keplerian"])
def test_lenses_that_see_a_point_are_all_found(make: object) -> None:
    camera = make()  # type: ignore[operator]
    far, near = usable_virtual_range(camera, (2, 15))
    uv, k, l, _ = sample(camera, 60)
    v = np.random.default_rng(3).uniform(far + 0.1, near, 60)
    points = unproject(uv, k, l, v, camera, depth_scale=False)
    points = np.vstack([points, [[0, 0, 20.0]]])  # one that nobody sees
    found = lenses_that_see(points, camera, margin=1.0)
    all_k, all_l = camera.micro_images.lattice.indices()
    expected = project(points[:, None, None], all_k, all_l, camera, margin=1.0).visible
    point, row, column = np.nonzero(expected)
    assert np.array_equal(found.point, point)
    assert np.array_equal(found.l, row)
    assert np.array_equal(found.k, column)
    assert len(point) > 200


def test_nobody_sees_nothing() -> None:
    assert lenses_that_see(np.zeros((0, 3)), preset("r12-mini")).point.shape == (0,)


def test_points_and_lenses_broadcast() -> None:
    camera = preset("r12-mini")
    points = np.random.default_rng(0).uniform([-5, -5, 500], [5, 5, 900], (4, 1, 3))
    seen = project(points, np.arange(6), 3, camera)
    assert seen.uv.shape == (4, 6, 2)
    assert np.array_equal(seen.uv[2, 5], project(points[2, 0], 5, 3, camera).uv)


def test_large_calls_equal_small_ones() -> None:
    camera = preset("r12-mini")
    uv, k, l, v = sample(camera, 40_000)
    points = unproject(uv, k, l, v, camera)
    whole = project(points, k, l, camera)
    part = project(points[33_000:33_010], k[33_000:33_010], l[33_000:33_010], camera)
    assert np.array_equal(whole.uv[33_000:33_010], part.uv)
    assert np.array_equal(whole.rho[33_000:33_010], part.rho)


def test_wrong_shapes_and_missing_inverse_are_named() -> None:
    camera = replace(preset("r12-mini"), inverse_distortion=None)
    with pytest.raises(InputError, match="points"):
        project([1.0, 2.0], 0, 0, camera)
    with pytest.raises(InputError, match="inverse_distortion"):
        unproject([10.0, 10.0], 0, 0, 5.0, camera, undistortion="calibrated")


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["r12-mini", "r12-a", "keplerian"]))
def test_round_trip_holds_for_any_lens_pixel_and_depth(seed: int, name: str) -> None:
    camera = CAMERAS[name]()
    uv, k, l, v = sample(camera, 20, seed)
    points = unproject(uv, k, l, v, camera)
    assert np.abs(project(points, k, l, camera, depth_scale=True).uv - uv).max() < 1e-6
