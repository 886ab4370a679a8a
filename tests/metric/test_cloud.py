"""Point clouds: on the surfaces they come from, once over the scene, and in files."""

from __future__ import annotations

import sys
from dataclasses import replace

import laspy
import numpy as np
import pye57
import pytest
from cameras import keplerian
from scipy.spatial import KDTree

from plenodepth.camera import (
    PlenopticCamera,
    corrected_disparity,
    pitch_ratio,
    preset,
    project,
    virtual_from_metric,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_ply
from plenodepth.metric import PointCloud, point_cloud, write_cloud
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import ImageTexture, Material, Rectangle, Scene


def raw_image(gray: np.ndarray, color: np.ndarray | None = None) -> RawImage:
    return RawImage(gray.astype(np.float32), color, 0.01, Devignetting.NONE)


def small_cloud(colors: bool = True) -> PointCloud:
    rng = np.random.default_rng(3)
    return PointCloud(
        points=rng.uniform([-80, -60, 400], [80, 60, 1500], (500, 3)),
        colors=rng.integers(0, 256, (500, 3), dtype=np.uint8) if colors else None,
        confidence=rng.random(500).astype(np.float32),
        sigma=rng.random(500).astype(np.float32),
        pixels=np.zeros((500, 2), np.int32),
    )


def test_points_of_a_refined_map_lie_on_the_plane(camera, as_map, plane, plane_truth):
    cloud = point_cloud(as_map(plane_truth.virtual_depth, refined=True), camera)
    assert len(cloud) == np.isfinite(plane_truth.depth).sum()
    assert np.abs(plane[0].inverse()(cloud.points)[:, 2]).max() < 0.1
    assert np.allclose(cloud.points[:, 2], plane_truth.depth[cloud.pixels[:, 1], cloud.pixels[:, 0]], atol=0.1)
    assert (cloud.confidence == np.float32(0.8)).all()
    assert (cloud.sigma > 0).all()


def test_points_of_a_refined_map_lie_on_the_sphere(camera, as_map, sphere_truth):
    ball = np.where(sphere_truth.object_index == 1, sphere_truth.virtual_depth, np.nan)
    cloud = point_cloud(as_map(ball, refined=True), camera)
    assert len(cloud) > 500
    radius = np.linalg.norm(cloud.points - [5, -3, 700], axis=1)
    assert np.abs(radius - 25).max() < 0.1


def test_points_return_to_their_pixels_with_the_depth_scale(as_map):
    camera = preset("r12-mini")
    v = np.random.default_rng(5).uniform(3, 12, (404, 560))
    cloud = point_cloud(as_map(v, refined=True), camera)
    k, l = camera.micro_images.owner(cloud.pixels)
    again = project(cloud.points[::53], k[::53], l[::53], camera, depth_scale=True)
    assert np.allclose(again.uv, cloud.pixels[::53], atol=1e-3)  # points are float32


def at_f(camera: PlenopticCamera, number: float) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, f_number=number))


def wall_of_places(depth: float, half: float) -> Scene:
    """A glowing wall; red and green grow evenly, from 0 to 1 over 2 · half mm about the axis, along x and along y."""
    values = np.zeros((2, 2, 3), np.float32)  # between the middles of two texels
    values[:, 1, 0], values[1, :, 1] = 1, 1
    pose = Pose(np.eye(3), np.array([0, 0, depth]))
    return Scene((Rectangle(4 * half, 4 * half, pose, Material(texture=ImageTexture(values), emits=True)),))


@pytest.mark.parametrize("depth", [600.0, 1400.0])
def test_points_lie_where_the_clipped_pixels_look(camera, as_map, depth):
    narrow, half = at_f(camera, 4.0), 0.1 * depth
    light = render(wall_of_places(depth, half), narrow, RenderSettings(rays=128, vignetting=False)).light
    k, l = camera.micro_images.owner(np.moveaxis(np.indices(light.shape[:2])[::-1], 0, -1))
    v = np.where(k >= 0, virtual_from_metric(depth, camera, np.maximum(k, 0), np.maximum(l, 0)), np.nan)
    unaware = as_map(v, refined=True)
    aware = replace(unaware, aperture_model="per_pixel")
    errors = []
    for virtual_map in (unaware, aware):
        cloud = point_cloud(virtual_map, narrow)
        seen = (2 * light[cloud.pixels[:, 1], cloud.pixels[:, 0], :2].astype(np.float64) - 1) * half
        lit = np.hypot(*(cloud.pixels - camera.micro_images.center(*camera.micro_images.owner(cloud.pixels))).T) < 9.5
        errors.append(np.median(np.linalg.norm(cloud.points[lit, :2] - seen[lit], axis=1)))
    assert errors[0] > 0.3
    assert errors[1] < 0.25 * errors[0]


def test_dark_pixels_give_no_points(camera, as_map):
    narrow = at_f(camera, 8.0)
    virtual_map = replace(as_map(np.full((404, 560), 6.0), refined=True), aperture_model="per_pixel")
    cloud = point_cloud(virtual_map, narrow, raw_image(np.full((404, 560), 0.5)))
    k, l = camera.micro_images.owner(cloud.pixels)
    away = np.hypot(*(cloud.pixels - camera.micro_images.center(k, l)).T)
    assert 0.5 < len(cloud) / len(point_cloud(replace(virtual_map, aperture_model="off"), narrow)) < 0.95
    assert np.isfinite(cloud.points).all()
    assert away.max() < 11
    assert len(cloud.points) == len(cloud.colors) == len(cloud.confidence) == len(cloud.sigma) == len(cloud.pixels)


@pytest.mark.parametrize("depth", [500.0, 800.0, 1500.0])
def test_a_coarse_map_covers_the_scene_once(camera, as_map, depth):
    v = virtual_from_metric(depth, camera, *camera.micro_images.lattice.indices())
    coarse = as_map(v, refined=False)
    once, all_pixels = point_cloud(coarse, camera), point_cloud(coarse, camera, every_pixel=True)
    assert np.allclose(once.points[:, 2], depth, atol=0.01)
    # How often: once per lens that sees the point, which are as many as disparities fit into a micro-image.
    disparity = corrected_disparity([1.0], v.mean(), pitch_ratio(camera))[0]
    assert len(all_pixels) / len(once) == pytest.approx(1 / disparity**2, rel=0.05)
    # Each piece of the plane, as large as what one lens adds, gets about as many points: no gaps, nothing twice.
    middle = once.points[np.abs(once.points[:, :2]).max(axis=1) < 0.3 * np.abs(once.points[:, 1]).max()]
    lens_step = np.ptp(once.points[:, 0]) / camera.micro_images.lattice.columns
    counts, _, _ = np.histogram2d(*middle[:, :2].T, bins=max(int(np.ptp(middle[:, 0]) / lens_step / 2), 2))
    assert counts.min() > 0.5 * counts.mean()
    assert counts.max() < 1.5 * counts.mean()


def test_a_coarse_map_has_no_gaps_where_all_pixels_are_clipped(camera, as_map):
    """At f/8 even the middle of a micro-image looks closer together than its pixels stand."""
    narrow, depth = at_f(camera, 8.0), 800.0
    v = virtual_from_metric(depth, narrow, *camera.micro_images.lattice.indices())
    cloud = point_cloud(replace(as_map(v, refined=False), aperture_model="per_pixel"), narrow)
    lens_step = np.ptp(cloud.points[:, 0]) / camera.micro_images.lattice.columns
    inner = 0.5 * np.abs(cloud.points[:, 1]).max()
    places = np.random.default_rng(9).uniform(-inner, inner, (5000, 2))
    gap, _ = KDTree(cloud.points[:, :2]).query(places)
    assert gap.max() < 0.25 * lens_step


def test_each_micro_image_gives_at_least_its_central_pixel(as_map):
    for camera, v in ((preset("r12-mini"), 60.0), (keplerian(), -12.0)):
        lattice = camera.micro_images.lattice
        cloud = point_cloud(as_map(np.full((lattice.rows, lattice.columns), v), refined=False), camera)
        center = np.rint(camera.micro_images.center(*lattice.indices()).reshape(-1, 2)).astype(np.int64)
        center = center[camera.sensor.contains(center)]
        assert set(map(tuple, center)) <= set(map(tuple, cloud.pixels))


def test_missing_depths_give_no_points(camera, as_map):
    v = np.full((20, 24), np.nan)
    assert len(point_cloud(as_map(v, refined=False), camera)) == 0
    v[10, 12] = 6
    cloud = point_cloud(as_map(v, refined=False), camera)
    k, l = camera.micro_images.owner(cloud.pixels)
    assert len(cloud) > 0
    assert (k == 12).all()
    assert (l == 10).all()


def test_colours_are_those_of_the_pixels_as_screens_show_them(camera, as_map):
    rng = np.random.default_rng(7)
    color = rng.uniform(-0.1, 1.2, (404, 560, 3)).astype(np.float32)
    color[0, 0], color[0, 1], color[200, 300] = 0, 1, [0.2140, 1.5, np.nan]
    v = np.full((404, 560), 5.0)
    cloud = point_cloud(as_map(v, refined=True), camera, raw_image(color[..., 1], color))
    here = (cloud.pixels == [300, 200]).all(axis=1)
    assert np.abs(cloud.colors[here][0].astype(int) - [127, 255, 0]).max() <= 1
    gray = point_cloud(as_map(v, refined=True), camera, raw_image(color[..., 1]))
    assert np.array_equal(gray.colors, np.repeat(cloud.colors[:, 1:2], 3, axis=1))
    assert point_cloud(as_map(v, refined=True), camera).colors is None


def test_image_of_another_size_is_refused(camera, as_map):
    with pytest.raises(InputError, match="camera's is"):
        point_cloud(as_map(np.full((20, 24), 5.0), refined=False), camera, raw_image(np.zeros((10, 10))))


def test_ply_reads_back(tmp_path):
    cloud = small_cloud()
    write_cloud(cloud, tmp_path / "cloud.ply")
    back = read_ply(tmp_path / "cloud.ply")
    assert np.allclose(back["points"], cloud.points, rtol=1e-6, atol=1e-4)
    assert np.array_equal(back["colors"], cloud.colors)
    assert np.array_equal(back["confidence"], cloud.confidence)
    assert np.array_equal(back["sigma"], cloud.sigma)


@pytest.mark.parametrize(("name", "package"), [("c.laz", "laspy"), ("c.las", "laspy"), ("c.e57", "pye57")])
def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"plenodepth\[clouds\]"):
        write_cloud(small_cloud(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.ply, \.laz"):
        write_cloud(small_cloud(), tmp_path / "cloud.obj")


@pytest.mark.parametrize("suffix", ["las", "laz"])
def test_las_keeps_confidence_and_sigma(tmp_path, suffix):
    cloud = small_cloud()
    write_cloud(cloud, tmp_path / f"c.{suffix}")
    back = laspy.read(tmp_path / f"c.{suffix}")
    assert np.abs(back.xyz - cloud.points).max() < 1e-3
    assert np.array_equal(back.confidence, cloud.confidence)
    assert np.array_equal(back.sigma, cloud.sigma)
    assert np.array_equal(np.column_stack([back.red, back.green, back.blue]) // 257, cloud.colors)
    far = replace(small_cloud(colors=False), points=cloud.points * 1e6)
    write_cloud(far, tmp_path / f"far.{suffix}")
    assert np.allclose(laspy.read(tmp_path / f"far.{suffix}").xyz, far.points, rtol=1e-4, atol=1)


def test_e57_is_in_metres_with_the_confidence_as_intensity(tmp_path):
    cloud = small_cloud()
    write_cloud(cloud, tmp_path / "c.e57")
    file = pye57.E57(str(tmp_path / "c.e57"))
    back = file.read_scan_raw(0)
    file.close()
    xyz = np.column_stack([back[f"cartesian{axis}"] for axis in "XYZ"])
    assert np.allclose(xyz * 1000, cloud.points, rtol=1e-6)
    assert np.allclose(back["intensity"], cloud.confidence)
    assert np.array_equal(back["colorGreen"], cloud.colors[:, 1])
