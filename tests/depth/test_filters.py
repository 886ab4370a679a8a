"""Filters: planted outliers go, good depths stay, and what is switched off changes nothing."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from cameras import keplerian, rearranged

from plenodepth.camera import (
    Camera,
    GridCamera,
    PlenopticCamera,
    infinity_virtual_depth,
    metric_from_virtual,
    preset,
    unproject,
    usable_depth_range,
    usable_virtual_range,
    virtual_from_metric,
)
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.filters import (
    FilterSettings,
    apply_filters,
    bilateral,
    confidence_threshold,
    consistency,
    median_across,
    metric_range,
)
from plenodepth.depth.filters.neighbourhood import ring_of
from plenodepth.depth.filters.smoothing import median_of_present, sorting_exchanges
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Pose
from plenodepth.sim.scenes.scene import Rectangle, Scene, Sphere
from plenodepth.sim.truth import GroundTruth, ground_truth

EVERYTHING = FilterSettings(confidence=True, consistency=True, median=True, bilateral=True)


def as_map(virtual_depth: np.ndarray, *, refined: bool) -> VirtualDepthMap:
    v = virtual_depth.astype(np.float32)
    present = np.isfinite(v)
    return VirtualDepthMap(
        virtual_depth=v,
        sigma=np.where(present, np.float32(0.05), np.float32(np.nan)),
        confidence=np.where(present, np.float32(0.8), np.float32(0)),
        cost=np.zeros_like(v),
        views=np.full(v.shape, 6, np.int16),
        refined=refined,
    )


def same(a: VirtualDepthMap, b: VirtualDepthMap) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)
        for name in ("virtual_depth", "sigma", "confidence")
    )


@pytest.fixture(scope="module")
def camera() -> PlenopticCamera:
    return replace(preset("r12-mini"), depth_scale=None)


@pytest.fixture(scope="module")
def truth(camera: PlenopticCamera) -> GroundTruth:
    """A tilted wall and a ball before it."""
    wall = Rectangle(900, 900, Pose.from_rotation_vector([0.3, -0.2, 0], [0, 0, 900]))
    return ground_truth(Scene((wall, Sphere(30, Pose(np.eye(3), np.array([5.0, -3.0, 650.0]))))), camera)


@pytest.fixture(scope="module", params=[False, True], ids=["coarse", "refined"])
def good(request: pytest.FixtureRequest, truth: GroundTruth) -> VirtualDepthMap:
    v = truth.virtual_depth if request.param else truth.lens_virtual_depth
    return as_map(np.where(truth.visible, v, np.nan) if request.param else v, refined=request.param)


def with_outliers(depth_map: VirtualDepthMap, share: float = 0.03) -> tuple[VirtualDepthMap, np.ndarray]:
    rng = np.random.default_rng(1)
    v = depth_map.virtual_depth.copy()
    planted = (rng.random(v.shape) < share) & np.isfinite(v)
    v[planted] *= np.where(rng.random(planted.sum()) < 0.5, 0.6, 1.7).astype(np.float32)
    return replace(depth_map, virtual_depth=v), planted


def test_consistency_removes_outliers_and_keeps_good_depths(camera, good):
    dirty, planted = with_outliers(good)
    clean = consistency(dirty, camera)
    kept = np.isfinite(clean.virtual_depth)
    present = np.isfinite(dirty.virtual_depth)
    assert kept[planted].mean() < 0.05
    assert kept[present & ~planted].mean() > 0.95
    assert (clean.confidence[~kept] == 0).all()
    assert np.isnan(clean.sigma[~kept]).all()
    assert np.array_equal(clean.virtual_depth[kept], dirty.virtual_depth[kept])


def test_consistency_looks_where_the_neighbours_see_the_same_point(camera):
    """A patch of 4 mm that fills few pixels of each micro-image: next to the right pixel there is nothing."""
    shape = (camera.sensor.height, camera.sensor.width)
    uv = np.stack(np.meshgrid(np.arange(shape[1]), np.arange(shape[0])), axis=-1)
    k, l = camera.micro_images.owner(uv)
    v = virtual_from_metric(900.0, camera, k, l)
    points = unproject(uv, k, l, v, camera)
    patch = (np.abs(points[..., :2]).max(axis=-1) < 2) & (k >= 0)
    assert 50 < patch.sum() < 3000
    kept = np.isfinite(consistency(as_map(np.where(patch, v, np.nan), refined=True), camera).virtual_depth)
    assert kept.sum() > 0.9 * patch.sum()


def test_median_repairs_outliers_and_leaves_edges_alone(camera, good):
    dirty, planted = with_outliers(good)
    clean = median_across(dirty, camera)
    present = np.isfinite(good.virtual_depth)
    error = np.abs(clean.virtual_depth / good.virtual_depth - 1)
    assert np.array_equal(np.isfinite(clean.virtual_depth), present)
    assert (error[planted] < 0.1).mean() > 0.95
    assert (error[present & ~planted] < 0.05).mean() > 0.95


def test_bilateral_smooths_noise_and_keeps_steps(camera, good):
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.1, good.virtual_depth.shape).astype(np.float32)
    smooth = bilateral(replace(good, virtual_depth=good.virtual_depth + noise), camera, sigma_v=0.5)
    error = smooth.virtual_depth - good.virtual_depth
    assert np.array_equal(np.isfinite(error), np.isfinite(good.virtual_depth))
    assert np.nanmedian(np.abs(error)) < 0.7 * np.median(np.abs(noise))
    step = good.virtual_depth.copy()
    step[np.isfinite(step)] = 5
    step[:, step.shape[1] // 2 :][np.isfinite(step[:, step.shape[1] // 2 :])] = 12
    assert np.allclose(bilateral(replace(good, virtual_depth=step), camera).virtual_depth, step, equal_nan=True)


def test_confidence_threshold_removes_the_doubtful(good):
    doubtful = np.zeros(good.virtual_depth.shape, np.bool_)
    doubtful[3:9, 4:7] = True
    mixed = replace(good, confidence=np.where(doubtful, np.float32(0.2), good.confidence))
    clean = confidence_threshold(mixed, 0.5)
    assert np.array_equal(np.isfinite(clean.virtual_depth), np.isfinite(good.virtual_depth) & ~doubtful)


def test_metric_range_is_that_of_the_depths(good):
    camera = preset("r12-mini")  # with a depth scale
    shape = good.virtual_depth.shape
    v = np.random.default_rng(3).uniform(2, 18, shape).astype(np.float32)
    if good.refined:
        k, l = camera.micro_images.owner(np.stack(np.meshgrid(np.arange(shape[1]), np.arange(shape[0])), axis=-1))
    else:
        k, l = camera.micro_images.lattice.indices()
    z = metric_from_virtual(v, camera, k, l)
    kept = np.isfinite(metric_range(as_map(v, refined=good.refined), camera, 500, 900).virtual_depth)
    assert 0.1 < kept.mean() < 0.9
    assert np.array_equal(kept, (z >= 500) & (z <= 900) & (k >= 0))


@pytest.mark.parametrize("name", ["r12-a", "r12-c", "r12-mini", "keplerian"])
def test_the_range_is_the_cameras_own_unless_given(name):
    camera = keplerian() if name == "keplerian" else preset(name)
    far, near = usable_virtual_range(camera)
    k, _ = camera.micro_images.lattice.indices()
    v = np.linspace(far - 1, near + 1, k.size).reshape(k.shape)
    kept = np.isfinite(metric_range(as_map(v, refined=False), camera).virtual_depth)
    # A lens of a tilted array has a slightly different virtual depth for the same millimetres.
    assert kept[(v > far + 0.1) & (v < near - 0.5)].all()
    assert not kept[(v < far - 0.1) | (v > near + 0.5)].any()
    z = metric_from_virtual(v, camera, *camera.micro_images.lattice.indices(), invalid="nan")
    usable = usable_depth_range(camera)
    assert (z[kept] >= usable.near * (1 - 1e-5)).all()
    assert (z[kept] <= usable.far * (1 + 1e-5)).all()


def test_a_wider_search_has_a_wider_range():
    camera = preset("r12-c")
    k, _ = camera.micro_images.lattice.indices()
    v = np.linspace(15, 24, k.size).reshape(k.shape)
    found = as_map(v, refined=False)
    assert np.isfinite(apply_filters(found, camera, virtual_range=(2.0, 25.0)).virtual_depth).all()
    assert not np.isfinite(apply_filters(found, camera).virtual_depth[v > 20.5]).any()


def test_the_widest_range_removes_only_what_lies_beyond_infinity():
    camera = preset("r12-c")
    limit = infinity_virtual_depth(camera, *camera.micro_images.lattice.indices())
    v = limit + np.random.default_rng(4).choice([-0.1, 0.1, 100], limit.shape)
    kept = np.isfinite(metric_range(as_map(v, refined=False), camera, 0, np.inf).virtual_depth)
    assert np.array_equal(kept, v > limit)


def test_every_filter_can_be_switched_off(camera, good):
    off = FilterSettings(metric_range=False)
    assert apply_filters(good, camera, off) is good
    for result in (
        confidence_threshold(good, 0),
        consistency(good, camera, least=0),
        bilateral(good, camera, sigma_lenses=0),
        metric_range(good, camera, 0, np.inf),
    ):
        assert same(result, good)


def test_the_default_is_the_papers_metric_range_alone(camera, good):
    dirty, _ = with_outliers(good)
    assert same(apply_filters(dirty, camera), metric_range(dirty, camera))
    switches = {f.name for f in fields(FilterSettings) if getattr(FilterSettings(), f.name) is True}
    assert switches == {"metric_range"}


def test_all_filters_together_leave_a_clean_map(camera, good):
    dirty, _ = with_outliers(good)
    clean = apply_filters(dirty, camera, EVERYTHING)
    kept = np.isfinite(clean.virtual_depth)
    assert kept.sum() > 0.9 * np.isfinite(good.virtual_depth).sum()
    assert (np.abs(clean.virtual_depth / good.virtual_depth - 1)[kept] < 0.05).mean() > 0.97


def test_missing_stays_missing(camera, good):
    hole = np.zeros(good.virtual_depth.shape, np.bool_)
    hole[5:9, 5:9] = True
    holed = replace(good, virtual_depth=np.where(hole, np.float32(np.nan), good.virtual_depth))
    assert np.isnan(apply_filters(holed, camera, EVERYTHING).virtual_depth[hole]).all()
    empty = as_map(np.full_like(good.virtual_depth, np.nan), refined=good.refined)
    assert np.isnan(apply_filters(empty, camera, EVERYTHING).virtual_depth).all()


def test_a_refined_median_does_not_look_into_other_micro_images(camera):
    owner = owner_map(camera.micro_images, 404, 560)
    v = (3 + owner % 7).astype(np.float32)  # one depth per micro-image, all neighbours different
    filtered = median_across(as_map(v, refined=True), camera).virtual_depth
    assert np.array_equal(filtered[owner >= 0], v[owner >= 0])


def test_a_grid_without_optics_is_filtered_all_the_same(camera, good):
    mia = camera.micro_images
    ranges = np.tile([2.0, 20.0], (mia.type_count, 1))
    grid = GridCamera("grid", camera.sensor.width, camera.sensor.height, mia, ranges)
    dirty, planted = with_outliers(good)
    clean = apply_filters(dirty, grid, EVERYTHING)
    assert np.isfinite(clean.virtual_depth[planted]).mean() < 0.1
    assert np.isfinite(clean.virtual_depth).sum() > 0.9 * np.isfinite(good.virtual_depth).sum()


def test_depths_of_a_keplerian_camera_are_negative_and_filtered_alike():
    camera = keplerian()
    v = np.full((20, 24), -6.0)
    v[7, 9], v[12, 4] = -3.0, 6.0
    kept = np.isfinite(consistency(as_map(v, refined=False), camera).virtual_depth)
    assert set(map(tuple, np.argwhere(~kept))) == {(7, 9), (12, 4)}
    per_pixel = np.full((camera.sensor.height, camera.sensor.width), -6.0)
    per_pixel[200, 300] = 6.0
    kept = np.isfinite(consistency(as_map(per_pixel, refined=True), camera).virtual_depth)
    assert not kept[200, 300]
    assert kept.mean() > 0.9


@pytest.mark.parametrize("arrangement", list(Arrangement))
@pytest.mark.parametrize("parity", [0, 1])
def test_neighbours_stand_around_their_micro_image(arrangement, parity):
    camera = rearranged(arrangement, 9, 8, None if arrangement is Arrangement.ORTHOGONAL else parity)
    lattice = camera.micro_images.lattice
    ring = ring_of(lattice, 1.45)
    assert len(ring.index) == (8 if arrangement is Arrangement.ORTHOGONAL else 6)
    k, l = lattice.indices()
    for index, unit in zip(ring.index, ring.unit, strict=True):
        there = index >= 0
        ways = lattice.unit_node(index % lattice.columns, index // lattice.columns) - lattice.unit_node(k, l)
        assert np.allclose(ways[there], unit, atol=1e-6)
    assert (ring.index[:, 1:-1, 1:-1] >= 0).all()


def test_owner_map_is_that_of_the_micro_images(camera):
    owner = owner_map(camera.micro_images, 404, 560)
    k, l = camera.micro_images.owner(np.stack(np.meshgrid(np.arange(560), np.arange(404)), axis=-1))
    assert np.array_equal(owner, np.where(k < 0, -1, l * 24 + k))


@pytest.mark.parametrize("count", [1, 2, 5, 7, 9, 25])
def test_the_network_sorts_and_the_median_skips_what_is_missing(count):
    rng = np.random.default_rng(count)
    rows = list(rng.random((count, 500)))
    for i, j in sorting_exchanges(count):
        rows[i], rows[j] = np.minimum(rows[i], rows[j]), np.maximum(rows[i], rows[j])
    assert (np.diff(np.stack(rows), axis=0) >= 0).all()
    planes = rng.random((count, 500)).astype(np.float32)
    planes[rng.random(planes.shape) < 0.3] = np.nan
    median = median_of_present(planes, planes[0])
    for column, value in enumerate(median):
        present = np.sort(planes[:, column][np.isfinite(planes[:, column])])
        if len(present) == 0:
            assert np.isnan(value)
        else:
            assert value in (present[(len(present) - 1) // 2], present[len(present) // 2])


def test_wrong_arguments_are_refused(camera: Camera, good):
    with pytest.raises(InputError, match="near < far"):
        metric_range(good, camera, 900, 500)
    with pytest.raises(InputError, match="sigma_v"):
        bilateral(good, camera, sigma_v=0)
    with pytest.raises(InputError, match=r"filters\.tolerance"):
        FilterSettings(tolerance=0)
    with pytest.raises(InputError, match="not one of camera"):
        median_across(as_map(np.ones((3, 3)), refined=good.refined), camera)
