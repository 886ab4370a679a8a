"""True views: places of known points, occlusion from the side, colours averaged over pixels, folders."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import Pinhole, central_pinhole, lenses_that_see, load_views, preset, project
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_float_map, read_image
from plenodepth.metric.central_colors import central_points
from plenodepth.sim.scenes.scene import Checkerboard, ImageTexture, Material, Rectangle, Scene, Sphere
from plenodepth.sim.truth import ground_truth
from plenodepth.sim.views import simulate_views, true_view, view_grid

CAMERA = preset("r12-mini")
SHAPE = (202, 280)  # half the sensor's


def at(x: float, y: float, z: float) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z], dtype=np.float64))


def test_a_tilted_plane_has_the_depth_of_each_pixels_own_ray() -> None:
    pose = Pose.from_rotation_vector([0.5, -0.4, 0.2], [0, 0, 800])
    pinhole = central_pinhole(CAMERA, 2)
    view = true_view(Scene((Rectangle(900, 900, pose),)), pinhole, SHAPE, samples=1)
    assert np.abs(pose.inverse()(pinhole.points(view.depth).reshape(-1, 3))[:, 2]).max() < 0.01
    assert np.allclose(pinhole.places(pinhole.points(view.depth))[7, 11], [11, 7], atol=1e-3)


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_its_pixels_are_those_of_the_dense_central_view(scale: int) -> None:
    depth = np.full((404 // scale, 560 // scale), 700, np.float32)
    assert np.allclose(central_pinhole(CAMERA, scale).points(depth), central_points(depth, CAMERA, scale=scale))


def test_raw_pixels_that_see_a_views_points_have_their_depth() -> None:
    """The raw image's truth goes through distortion and lenses; the view's does not: they agree on the scene."""
    scene = Scene(
        (Rectangle(900, 900, Pose.from_rotation_vector([0.6, -0.5, 0], [0, 0, 800])), Sphere(30, at(0, 0, 600)))
    )
    raw = ground_truth(scene, CAMERA)
    pinhole = central_pinhole(CAMERA, 2)
    points = pinhole.points(true_view(scene, pinhole, SHAPE, samples=1).depth)[5::23, 5::23].reshape(-1, 3)
    seen = lenses_that_see(points, replace(CAMERA, depth_scale=None), margin=4)
    u, v = np.rint(project(points[seen.point], seen.k, seen.l, CAMERA).uv).astype(int).T
    inner = ~raw.boundary[v, u]
    ratio = raw.depth[v, u][inner] / points[seen.point][inner, 2]
    assert len(ratio) > 500
    assert np.median(np.abs(ratio - 1)) < 0.002
    assert (np.abs(ratio - 1) < 0.01).mean() > 0.95


def test_what_is_near_moves_against_the_viewpoint_and_hides_other_parts() -> None:
    scene = Scene((Rectangle(900, 900, at(0, 0, 1200)), Rectangle(10, 300, at(0, 0, 600))))
    center = central_pinhole(CAMERA, 2)
    columns = []
    for x in (-5.0, 0.0, 5.0):
        pinhole = Pinhole(center.fx, center.fy, center.cx, center.cy, np.array([x, 0, 0]))
        view = true_view(scene, pinhole, SHAPE, samples=1)
        assert set(np.unique(view.object_index)) == {0, 1}
        columns.append(np.nonzero(view.object_index[100] == 1)[0].mean())
    assert np.allclose(np.diff(columns), -5 * center.fx / 600, atol=0.6)


def test_a_pixel_is_the_mean_over_its_square() -> None:
    """An upright edge between black and white crosses the middle column at a known share of it."""
    picture = np.zeros((2, 2000, 3), np.float32)
    picture[:, 1000:] = 1
    board = Rectangle(400, 400, at(0, 0, 1000), Material(texture=ImageTexture(picture), emits=True))
    pinhole = Pinhole(1000, 1000, 10.2, 10.0)  # the edge is at column 10.2: 0.3 of pixel 10 lie to its right
    view = true_view(Scene((board,)), pinhole, (21, 21), samples=10)
    assert np.allclose(view.light[5, :10], 0)
    assert np.allclose(view.light[5, 11:], 1)
    assert np.allclose(view.light[5, 10], 0.3, atol=0.051)


def test_behind_everything_is_the_background() -> None:
    scene = Scene((Sphere(10, at(0, 0, 700)),), background=(0.1, 0.2, 0.3))
    view = true_view(scene, central_pinhole(CAMERA, 4), (101, 140), samples=2)
    there = view.object_index >= 0
    assert 0 < there.mean() < 0.5
    assert np.isnan(view.depth[~there]).all()
    assert np.allclose(view.light[0, 0], [0.1, 0.2, 0.3])


def test_the_same_bytes_for_any_number_of_threads() -> None:
    scene = Scene((Checkerboard(9, 7, 12, at(-50, -40, 600)),))
    first, second = (true_view(scene, central_pinhole(CAMERA, 2), SHAPE, threads=count) for count in (1, 2))
    assert first.light.tobytes() == second.light.tobytes()
    assert first.depth.tobytes() == second.depth.tobytes()


def test_a_grid_spans_the_pupil_about_the_central_view() -> None:
    views = view_grid(CAMERA, 3, 5, scale=4, span=0.6)
    assert len(views) == 15
    assert views[7].name == "view-02-01"
    assert np.array_equal(views[7].pinhole.center, [0, 0, 0])
    assert views[0].shape == (101, 140)
    radius = CAMERA.main_lens.focal_length / CAMERA.main_lens.f_number / 2
    assert np.allclose(views[0].pinhole.center, [-0.6 * radius, -0.6 * radius, 0])
    assert np.allclose(views[-1].pinhole.center, [0.6 * radius, 0.6 * radius, 0])
    with pytest.raises(InputError, match="span"):
        view_grid(CAMERA, 2, 2, span=0.8)
    with pytest.raises(InputError, match="f_number"):
        view_grid(replace(CAMERA, main_lens=replace(CAMERA.main_lens, f_number=None)), 2, 2)
    with pytest.raises(InputError, match="z = 1 mm"):
        true_view(Scene((Sphere(10, at(0, 0, 700)),)), Pinhole(1, 1, 0, 0, np.array([0, 0, 1.0])), (2, 2))


def test_a_folder_of_views_is_read_back(tmp_path: Path) -> None:
    scene, views = Scene((Sphere(40, at(0, 0, 700)),)), view_grid(CAMERA, 2, 1, scale=8)
    simulate_views(scene, views, tmp_path / "truth", samples=2)
    read = load_views(tmp_path / "truth")
    assert [view.content() for view in read] == [view.content() for view in views]
    for view in views:
        true = true_view(scene, view.pinhole, view.shape, samples=2)
        assert np.array_equal(read_image(tmp_path / "truth" / f"{view.name}.light.tiff"), true.light)
        depth = read_float_map(tmp_path / "truth" / f"{view.name}.depth.tiff")
        assert np.array_equal(depth, true.depth, equal_nan=True)
        assert read_image(tmp_path / "truth" / f"{view.name}.png").shape == (*view.shape, 3)
        assert np.array_equal(read_image(tmp_path / "truth" / f"{view.name}.objects.png"), true.object_index + 1)
