"""What other software reads from an export is what the view has: proved with the readers of that software."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pycolmap
import pytest
import trimesh
from numpy.typing import NDArray

from plenodepth.camera import preset
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_exr, read_float_map, read_image, read_ply
from plenodepth.io.srgb import srgb_encoded
from plenodepth.render import RenderedView
from plenodepth.render.exports.export import WRITERS, export_views
from plenodepth.render.exports.pixels import MetricView
from plenodepth.render.exports.surface import surface_of
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene, Sphere
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.views import true_view, view_grid

RED_BALL = np.array([4.0, -3.0, 640.0])  # mm


@pytest.fixture(scope="module")
def views() -> list[RenderedView]:
    """Three true views of a red ball before a tilted wall, and no depth in a corner."""
    wall = Rectangle(
        900,
        900,
        Pose.from_rotation_vector([0.3, 0.4, 0], [0, 0, 1200]),
        Material(texture=noise_image(256, 256, cell=16)),
    )
    ball = Sphere(5, Pose(np.eye(3), RED_BALL), Material(color=(1, 0, 0), emits=True))
    made = []
    for view in view_grid(preset("r12-mini"), 3, 1, scale=2):
        assert view.pinhole is not None
        true = true_view(Scene((wall, ball)), view.pinhole, view.shape, samples=2)
        depth = true.depth.copy()
        depth[:20, :30] = np.nan
        maps = depth, np.full_like(depth, 2), np.linspace(0, 1, depth.size, dtype=np.float32).reshape(depth.shape)
        filled = np.zeros(depth.shape, np.bool_)
        filled[-5:] = True
        made.append(RenderedView(true.light, *maps, filled, view.pinhole, 2.0, metric=True, name=view.name))
    return made


def points_of(view: RenderedView) -> NDArray[np.float32]:
    assert view.pinhole is not None
    return view.pinhole.points(view.depth)


def opencv_cloud(depth: NDArray[Any], matrix: NDArray[Any], center: NDArray[Any]) -> NDArray[np.float64]:
    """As OpenCV's `rgbd.depthTo3d` has it: K⁻¹ (u, v, 1) z."""
    row, column = np.indices(depth.shape)
    pixel = np.stack([column, row, np.ones_like(row)], axis=-1).reshape(-1, 1, 3)[..., :2].astype(np.float64)
    ray = cv2.undistortPoints(pixel, matrix, np.zeros(5)).reshape(*depth.shape, 2)
    return np.concatenate([ray * depth[..., None], depth[..., None]], axis=-1) + center


def test_opencv_reads_the_same_cloud_to_a_tenth_of_a_millimetre(views: list[RenderedView], tmp_path: Path) -> None:
    export_views(views, tmp_path / "out", "opencv")
    for view in views:
        file = cv2.FileStorage(str(tmp_path / "out" / f"{view.name}.yaml"), cv2.FILE_STORAGE_READ)
        matrix, center = file.getNode("camera_matrix").mat(), file.getNode("camera_center_mm").mat().ravel()
        assert (file.getNode("image_width").real(), file.getNode("image_height").real()) == view.depth.shape[::-1]
        assert not file.getNode("distortion_coefficients").mat().any()
        stored = cv2.imread(str(tmp_path / "out" / f"{view.name}.depth.png"), cv2.IMREAD_UNCHANGED)
        assert stored.dtype == np.uint16
        depth = np.where(stored > 0, stored / file.getNode("depth_png_units_per_mm").real(), np.nan)
        assert np.array_equal(np.isnan(depth), np.isnan(view.depth))
        away = np.linalg.norm(opencv_cloud(depth, matrix, center) - points_of(view), axis=-1)
        assert np.nanmax(away) < 0.1  # mm: 0.05 in z
        floats = read_float_map(tmp_path / "out" / f"{view.name}.depth.tiff")
        assert np.nanmax(np.linalg.norm(opencv_cloud(floats, matrix, center) - points_of(view), axis=-1)) < 1e-3
        assert np.array_equal(read_exr(tmp_path / "out" / f"{view.name}.depth.exr")["Z"], floats, equal_nan=True)
        color = cv2.imread(str(tmp_path / "out" / f"{view.name}.png"))[..., ::-1]
        assert np.array_equal(color, view.picture)
        assert np.array_equal(read_image(tmp_path / "out" / f"{view.name}.tiff"), view.light)
        assert (read_float_map(tmp_path / "out" / f"{view.name}.sigma.tiff") == 2).all()


def test_a_tum_folder_holds_poses_and_depth_of_five_thousand_to_a_metre(
    views: list[RenderedView], tmp_path: Path
) -> None:
    export_views(views, tmp_path, "tum")
    intrinsic = json.loads((tmp_path / "camera_intrinsic.json").read_text())
    matrix = np.array(intrinsic["intrinsic_matrix"]).reshape(3, 3, order="F")
    assert views[0].pinhole is not None
    assert np.array_equal(matrix, views[0].pinhole.matrix)
    poses = np.loadtxt(tmp_path / "groundtruth.txt")
    lines = (tmp_path / "associations.txt").read_text().splitlines()
    for view, line, pose in zip(views, lines, poses, strict=True):
        time, color, _, depth = line.split()
        assert float(time) == pose[0]
        assert pose[4:].tolist() == [0, 0, 0, 1]
        assert np.array_equal(read_image(tmp_path / color), view.picture)
        stored = cv2.imread(str(tmp_path / depth), cv2.IMREAD_UNCHANGED)
        metres = np.where(stored > 0, stored / 5000, np.nan)
        away = opencv_cloud(1000 * metres, matrix, 1000 * pose[1:4]) - points_of(view)
        assert np.nanmax(np.abs(away)) < 0.11  # mm: 0.1 in z


def test_pycolmap_reads_a_model_whose_points_project_where_images_have_them(
    views: list[RenderedView], tmp_path: Path
) -> None:
    export_views(views, tmp_path, "colmap")
    model = pycolmap.Reconstruction(str(tmp_path / "sparse" / "0"))
    assert sorted(image.name for image in model.images.values()) == [f"{view.name}.png" for view in views]
    assert model.num_points3D() > 5000
    assert model.compute_mean_track_length() > 2.5
    for image in model.images.values():
        camera = model.cameras[image.camera_id]
        depth = colmap_map(tmp_path / "stereo" / "depth_maps" / f"{image.name}.geometric.bin")
        assert depth.shape == (camera.height, camera.width)
        assert read_image(tmp_path / "images" / image.name).shape[:2] == depth.shape
        own, differences = [], []
        for point in image.points2D:
            place = model.points3D[point.point3D_id].xyz
            own.append(image.project_point(place) - point.xy)
            column, row = np.floor(point.xy).astype(int)  # COLMAP: the first pixel reaches from 0 to 1
            seen = (image.cam_from_world() * place)[2]
            differences.append(depth[row, column] / seen - 1)
        assert len(own) > 4000
        assert np.abs(own).max() < 0.01  # px
        assert np.quantile(np.abs(differences), 0.99) < 0.01


def colmap_map(path: Path) -> NDArray[np.float32]:
    """As `read_array` of COLMAP's scripts has it."""
    data = path.read_bytes()
    width, height, channels, numbers = data.split(b"&", 3)
    array = np.frombuffer(numbers, "<f4").reshape((int(width), int(height), int(channels)), order="F")
    return np.transpose(array, (1, 0, 2)).squeeze()


def test_transforms_see_a_known_ball_where_the_pictures_show_it(views: list[RenderedView], tmp_path: Path) -> None:
    export_views(views, tmp_path, "nerfstudio")
    content = json.loads((tmp_path / "transforms.json").read_text())
    ball = RED_BALL * [1, -1, -1] / 1000  # metres, y up, z backwards
    places = []
    for frame in content["frames"]:
        local = np.linalg.inv(np.array(frame["transform_matrix"])) @ [*ball, 1]
        assert local[2] < 0  # a camera looks along −z
        place = (
            frame["cx"] + frame["fl_x"] * local[0] / -local[2],
            frame["cy"] - frame["fl_y"] * local[1] / -local[2],
        )
        picture = read_image(tmp_path / frame["file_path"]).astype(float)
        assert picture.shape[:2] == (frame["h"], frame["w"])
        red = (picture[..., 0] > 250) & (picture[..., 1] < 5)
        row, column = (axis.mean() + 0.5 for axis in np.nonzero(red))  # the first pixel's middle is at ½
        assert place == pytest.approx((column, row), abs=0.3)
        places.append(place[0])
        depth = read_image(tmp_path / frame["depth_file_path"])
        assert depth[int(row), int(column)] == pytest.approx(635, abs=1)  # mm
    assert places[0] > places[1] + 1 > places[2] + 2
    cloud = read_ply(tmp_path / content["ply_file_path"])
    assert np.linalg.norm(cloud["points"] - ball, axis=1).min() < 0.0051


def test_a_cloud_is_in_millimetres(views: list[RenderedView], tmp_path: Path) -> None:
    export_views(views[1:2], tmp_path, "ply")
    cloud = read_ply(tmp_path / f"{views[1].name}.ply")
    there = np.isfinite(views[1].depth)
    assert np.array_equal(cloud["points"], points_of(views[1])[there])
    assert np.array_equal(cloud["colors"], views[1].picture[there])
    assert np.array_equal(cloud["sigma"], views[1].sigma[there])


def test_trimesh_opens_a_mesh_with_the_right_bounds_and_colours(views: list[RenderedView], tmp_path: Path) -> None:
    export_views(views[1:2], tmp_path, "glb")
    (mesh,) = trimesh.load(tmp_path / f"{views[1].name}.glb", process=False).geometry.values()
    points = points_of(views[1]).reshape(-1, 3)
    points = points[np.isfinite(points[:, 2])] * [1, -1, -1] / 1000
    assert np.allclose(mesh.bounds, [points.min(axis=0), points.max(axis=0)], atol=1e-4)
    light = mesh.visual.vertex_attributes["color"] / 65535
    ball = np.linalg.norm(mesh.vertices - RED_BALL * [1, -1, -1] / 1000, axis=1) < 0.00501
    assert ball.sum() > 100
    middle = np.median(light[ball], axis=0)
    assert np.allclose(middle, [1, 0, 0, 1], atol=1e-3)
    assert (
        np.abs(srgb_encoded(light[:, :3]).mean(axis=0) - views[1].picture.reshape(-1, 3).mean(axis=0) / 255).max()
        < 0.02
    )
    normals = mesh.face_normals
    towards = -mesh.triangles_center
    assert ((normals * towards).sum(axis=1) > 0).mean() > 0.999  # fronts face the pinhole


def test_the_surface_is_cut_where_the_ball_ends(views: list[RenderedView]) -> None:
    view = views[1]
    assert view.pinhole is not None
    surface = surface_of(MetricView(view, view.pinhole))
    depth = surface.vertices[surface.faces][..., 2]
    assert np.ptp(depth, axis=1).max() < 0.01 * 1500
    assert (depth.min(axis=1) < 650).any()
    whole = surface_of(MetricView(view, view.pinhole), cut=10)
    assert len(whole.faces) > len(surface.faces)
    rows, columns = view.depth.shape
    assert len(whole.faces) == 2 * ((rows - 1) * (columns - 1) - 20 * 30) + 1  # the corner without depth
    coarse = surface_of(MetricView(view, view.pinhole), step=4)
    assert len(surface.vertices) / 17 < len(coarse.vertices) < len(surface.vertices) / 15


def test_unsure_and_filled_depths_are_left_out_when_asked(views: list[RenderedView], tmp_path: Path) -> None:
    export_views(views[:1], tmp_path / "sure", "ply", least_confidence=0.5)
    export_views(views[:1], tmp_path / "seen", "ply", filled=False)
    there = np.isfinite(views[0].depth)
    sure, seen = (read_ply(tmp_path / kind / f"{views[0].name}.ply") for kind in ("sure", "seen"))
    assert len(sure["points"]) == (there & (views[0].confidence >= 0.5)).sum()
    assert len(seen["points"]) == (there & ~views[0].filled).sum()


@pytest.mark.parametrize("to", WRITERS)
def test_virtual_depth_is_refused_in_one_line(views: list[RenderedView], tmp_path: Path, to: Any) -> None:
    virtual = replace(views[0], metric=False, pinhole=None)
    with pytest.raises(InputError, match="known by its lens grid only"):
        export_views([virtual], tmp_path / "out", to)
    empty = replace(views[0], depth=np.full_like(views[0].depth, np.nan))
    with pytest.raises(InputError, match="has no depth"):
        export_views([empty], tmp_path / "out", to)
    assert not (tmp_path / "out").exists()


def test_bad_choices_are_refused(views: list[RenderedView], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="opencv, tum"):
        export_views(views, tmp_path, "obj")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="least_confidence"):
        export_views(views, tmp_path, "ply", least_confidence=2)
    far = replace(views[0], depth=views[0].depth * 20)
    with pytest.raises(InputError, match="reaches 2"):
        export_views([far], tmp_path / "far", "tum")
    assert not (tmp_path / "far").exists()
