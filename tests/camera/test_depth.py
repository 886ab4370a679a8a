"""Virtual and metric depth: exact inverses, Γ once, limits, resolution and precision."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, moved_back, unfocused, without_tilt
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.camera import (
    PRESETS,
    Configuration,
    blur_line,
    configuration,
    depth_of_field,
    depth_precision,
    depth_resolution,
    focus_planes,
    infinity_virtual_depth,
    metric_from_virtual,
    preset,
    scaled_depth,
    unscaled_depth,
    usable_depth_range,
    usable_virtual_range,
    virtual_from_metric,
)
from plenodepth.errors import InputError


def interior(camera: object, count: int = 200) -> np.ndarray:
    far, near = usable_virtual_range(camera)  # type: ignore[arg-type]
    return np.linspace(far, near, count + 1)[1:]


@pytest.mark.parametrize("name", PRESETS)
def test_virtual_and_metric_depth_are_inverse_over_the_usable_range(name: str) -> None:
    camera = preset(name)
    v = interior(camera)
    for lens in ((None, None), (0, 0), (3, 5)):
        z = metric_from_virtual(v, camera, *lens, invalid="nan")
        real = np.isfinite(z)
        assert real.mean() > 0.9
        assert np.allclose(virtual_from_metric(z[real], camera, *lens), v[real], rtol=1e-9, atol=0)
        assert np.allclose(
            metric_from_virtual(virtual_from_metric(z[real], camera, *lens), camera, *lens), z[real], rtol=1e-9, atol=0
        )


@pytest.mark.parametrize("name", PRESETS)
def test_nearer_objects_have_larger_virtual_depth(name: str) -> None:
    assert (np.diff(metric_from_virtual(interior(preset(name)), preset(name))) < 0).all()


def test_depths_and_slopes_of_the_reference() -> None:
    """z(v) and dz/dv of R12-E with D = 50.585 mm, d = 0.3409 mm everywhere and no Γ."""
    camera = replace(without_tilt(preset("r12-mini")), depth_scale=None)
    v = np.array([2.0, 3, 5, 8, 12])
    assert metric_from_virtual(v, camera) == pytest.approx([2239, 1738, 1208, 837, 601], rel=1e-3)
    assert depth_resolution(v, camera) == pytest.approx([-650, -386, -182, -84, -41], rel=0.01)


@pytest.mark.parametrize("name", ["r12-a", "r12-c", "r12-es", "upc-s"])
def test_resolution_is_the_derivative_of_depth(name: str) -> None:
    camera, h = preset(name), 1e-5
    v = interior(camera, 20)[3:]
    numeric = (metric_from_virtual(v + h, camera) - metric_from_virtual(v - h, camera)) / (2 * h)
    assert np.allclose(depth_resolution(v, camera), numeric, rtol=1e-5)


def test_precision_scales_with_that_of_disparity_and_with_distance() -> None:
    camera = preset("r12-e")
    depths = np.array([500.0, 1000.0, 1500.0])
    assert np.allclose(depth_precision(depths, camera, 0.2), 2 * depth_precision(depths, camera, 0.1))
    assert (np.diff(depth_precision(depths, camera)) > 0).all()


def test_precision_is_what_a_wrong_disparity_does_to_depth() -> None:
    from plenodepth.camera import corrected_disparity, pitch_ratio, virtual_depth_from_disparity

    camera = preset("r12-e")
    z = 800.0
    v = virtual_from_metric(z, camera)
    baseline = np.array([float(v) / 2 * camera.micro_images.lattice.diameter, 0.0])
    ratio = pitch_ratio(camera)
    wrong = corrected_disparity(baseline, v, ratio) + [1e-4, 0.0]
    shifted = metric_from_virtual(virtual_depth_from_disparity(wrong, baseline, ratio), camera)
    assert abs(shifted - z) == pytest.approx(float(depth_precision(z, camera, 1e-4)), rel=1e-3)


def test_scale_is_applied_once_to_the_focus_planes() -> None:
    """R12-A without Γ, lens (0, 0) of the array: 369.97, 364.10, 368.10 mm."""
    camera = preset("r12-a")
    corner = camera.micro_images.lattice.columns - 1, camera.micro_images.lattice.rows - 1
    plain = focus_planes(replace(camera, depth_scale=None), *corner)
    assert plain == pytest.approx([369.97, 364.10, 368.10], abs=0.01)
    assert focus_planes(camera, *corner) == pytest.approx(scaled_depth(plain, camera), rel=1e-12)


@given(st.floats(100, 5000), st.floats(-50, 50), st.floats(0.3, 1.5), st.floats(-2e-5, 1e-3))
def test_gamma_has_an_exact_inverse(z: float, constant: float, linear: float, quadratic: float) -> None:
    camera = replace(preset("r12-mini"), depth_scale=np.array([constant, linear, quadratic]))
    assert unscaled_depth(scaled_depth(z, camera), camera) == pytest.approx(z, rel=1e-9)


def test_without_scale_gamma_is_the_identity() -> None:
    camera = replace(preset("r12-mini"), depth_scale=None)
    assert scaled_depth(812.5, camera) == unscaled_depth(812.5, camera) == 812.5


def test_virtual_depth_at_or_below_infinity_is_refused_or_nan() -> None:
    camera = preset("r12-c")
    limit = float(infinity_virtual_depth(camera))
    assert limit == pytest.approx(2.22, abs=0.01)
    for v in (limit, limit - 0.1, -3.0):
        with pytest.raises(InputError, match=r"virtual_depth.*infinity"):
            metric_from_virtual([5.0, v], camera)
        assert np.isnan(metric_from_virtual([v], camera, invalid="nan")).all()
    assert metric_from_virtual(limit + 1e-6, camera) > 1e6


def test_depth_inside_the_focal_length_is_refused_or_nan() -> None:
    camera = preset("r12-e")
    with pytest.raises(InputError, match="focal length"):
        virtual_from_metric([500.0, 20.0], camera)
    assert np.isnan(virtual_from_metric([20.0], camera, invalid="nan")).all()


def test_missing_depth_stays_missing() -> None:
    camera = preset("r12-e")
    assert np.isnan(metric_from_virtual([np.nan, 5.0], camera)).tolist() == [True, False]
    assert np.isnan(virtual_from_metric([np.nan, 500.0], camera)).tolist() == [True, False]


@pytest.mark.parametrize("name", ["r12-a", "r12-b", "r12-e"])
def test_blur_at_the_ends_of_the_depth_of_field_is_the_limit(name: str) -> None:
    camera = preset(name)
    near, far = depth_of_field(camera, 0.4)
    line = blur_line(camera)
    types = np.arange(3)
    assert line.radius(virtual_from_metric(near, camera), types) == pytest.approx([-0.4] * 3, rel=1e-9)
    assert line.radius(virtual_from_metric(far, camera), types) == pytest.approx([0.4] * 3, rel=1e-9)
    assert (near < focus_planes(camera)).all()
    assert (focus_planes(camera) < far).all()


def test_depth_of_field_may_reach_infinity() -> None:
    near, far = depth_of_field(preset("r12-c"))
    assert np.isinf(far[0])
    assert np.isfinite(near).all()


def test_an_unfocused_camera_is_sharp_near_its_focal_length() -> None:
    camera = unfocused()
    near, far = depth_of_field(camera, 0.5)
    assert focus_planes(camera) == pytest.approx([camera.main_lens.focal_length])
    assert near == pytest.approx([camera.main_lens.focal_length])
    assert blur_line(camera).radius(virtual_from_metric(far, camera), 0) == pytest.approx([0.5])


def test_a_keplerian_camera_works_at_negative_virtual_depth() -> None:
    camera = keplerian()
    assert configuration(camera) is Configuration.KEPLERIAN
    far, near = usable_virtual_range(camera)
    assert far < near < 0
    v = interior(camera)
    assert np.allclose(virtual_from_metric(metric_from_virtual(v, camera), camera), v, rtol=1e-9)
    low, high = depth_of_field(camera)
    assert (low < focus_planes(camera)).all()
    assert (focus_planes(camera) < high).all()


def test_usable_range_ends_at_infinity_where_the_camera_sees_that_far() -> None:
    near, far = usable_depth_range(preset("r12-c"))
    assert np.isinf(far)
    assert near == pytest.approx(431, abs=1)
    assert float(usable_depth_range(preset("r12-e")).far) == pytest.approx(2256, abs=1)


def test_a_range_without_any_real_object_is_refused() -> None:
    with pytest.raises(InputError, match="virtual_range"):
        usable_virtual_range(preset("r12-c"), (1.0, 2.0))


def test_a_blur_limit_must_be_positive() -> None:
    with pytest.raises(InputError, match="blur_limit"):
        depth_of_field(preset("r12-e"), 0.0)


def test_moving_the_array_back_brings_the_focus_nearer() -> None:
    mini = preset("r12-mini")
    assert (focus_planes(moved_back(mini, 1.0)) < focus_planes(mini)).all()
