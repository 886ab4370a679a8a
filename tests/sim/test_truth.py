"""Ground truth: depths of known shapes, masks, corners."""

from dataclasses import replace

import numpy as np
import pytest

from plenodepth.camera import preset, project, unproject, virtual_from_metric
from plenodepth.geometry import Pose
from plenodepth.sim.scenes.scene import Checkerboard, Rectangle, Scene, Sphere
from plenodepth.sim.truth import ground_truth


def at(x: float, y: float, z: float) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z], dtype=np.float64))


def test_depth_of_a_plane_is_its_distance() -> None:
    camera = preset("r12-mini")
    truth = ground_truth(Scene((Rectangle(800, 800, at(0, 0, 900)),)), camera)
    assert truth.depth.shape == (404, 560)
    assert np.nanmax(np.abs(truth.depth - 900)) < 0.01
    assert np.isfinite(truth.depth).mean() > 0.95
    assert np.abs(truth.lens_depth - 900).max() < 0.01
    unscaled = replace(camera, depth_scale=None)
    k, l = camera.micro_images.lattice.indices()
    assert np.allclose(truth.lens_virtual_depth, virtual_from_metric(900.0, unscaled, k, l), rtol=1e-4)
    assert not truth.boundary.any()


def test_unprojecting_the_truth_gives_points_on_the_object() -> None:
    camera = preset("r12-mini")
    pose = Pose.from_rotation_vector([0.5, -0.4, 0.2], [0, 0, 800])
    truth = ground_truth(Scene((Rectangle(600, 600, pose),)), camera)
    v, u = (index[::97] for index in np.nonzero(np.isfinite(truth.depth)))
    k, l = camera.micro_images.owner(np.column_stack([u, v]))
    points = unproject(np.column_stack([u, v]), k, l, truth.virtual_depth[v, u], camera, depth_scale=False)
    assert np.abs(pose.inverse()(points)[:, 2]).max() < 0.1
    assert np.allclose(points[:, 2], truth.depth[v, u], rtol=1e-4)


def test_objects_hide_each_other_and_their_borders_are_marked() -> None:
    camera = preset("r12-mini")
    scene = Scene((Rectangle(800, 800, at(0, 0, 1200)), Sphere(20, at(0, 0, 700))))
    truth = ground_truth(scene, camera)
    ball = truth.object_index == 1
    assert ball.any()
    assert (truth.object_index == 0).any()
    assert ((truth.depth[ball] > 679.9) & (truth.depth[ball] < 701)).all()
    assert np.allclose(truth.depth[truth.object_index == 0], 1200, atol=0.05)
    assert 0 < truth.boundary.mean() < 0.3
    # Pixels right at a change of object within one micro-image are all marked.
    owner = np.where(np.isfinite(truth.depth), 0, -1)
    k, l = camera.micro_images.owner(np.stack(np.meshgrid(np.arange(560), np.arange(404)), axis=-1))
    same = (k[:, 1:] == k[:, :-1]) & (l[:, 1:] == l[:, :-1]) & (owner[:, 1:] == 0) & (owner[:, :-1] == 0)
    change = same & (ball[:, 1:] != ball[:, :-1])
    assert truth.boundary[:, 1:][change].all()
    assert truth.boundary[:, :-1][change].all()


def test_visible_pixels_see_something_through_the_aperture() -> None:
    truth = ground_truth(Scene((Rectangle(800, 800, at(0, 0, 900)),)), preset("r12-mini"))
    assert 0.2 < truth.visible.mean() < 0.9
    assert np.isfinite(truth.depth[truth.visible]).all()


def test_board_corners_come_with_their_projections_unless_hidden() -> None:
    camera = preset("r12-mini")
    board = Checkerboard(5, 3, 8, at(-16, -8, 500))
    features = ground_truth(Scene((board,)), camera).features
    corners = board.cam_from_object(board.corners())
    again = project(corners[features["cluster"]], features["k"], features["l"], camera)
    assert len(features) > 50
    assert np.allclose(again.uv, np.column_stack([features["u"], features["v"]]), atol=1e-9)
    assert np.allclose(again.rho, features["rho"], atol=1e-9)
    blind = ground_truth(Scene((board, Rectangle(300, 300, at(0, 0, 400)))), camera).features
    assert len(blind) == 0


def test_corners_of_several_boards_are_numbered_through() -> None:
    camera = preset("r12-mini")
    boards = (Checkerboard(2, 2, 8, at(-12, -4, 500)), Checkerboard(2, 2, 8, at(8, -4, 520)))
    clusters = ground_truth(Scene(boards), camera).features["cluster"]
    assert set(clusters.tolist()) == set(range(8))


def test_where_nothing_stands_the_depth_is_missing() -> None:
    truth = ground_truth(Scene((Sphere(5, at(0, 0, 700)),)), preset("r12-mini"))
    assert np.isnan(truth.depth[truth.object_index < 0]).all()
    assert np.isnan(truth.virtual_depth[truth.object_index < 0]).all()
    assert truth.object_index.min() == -1
    assert truth.depth[truth.object_index == 0].min() == pytest.approx(695, abs=0.2)
