"""Frames as folders: whole or not at all, with everything that made them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import load_plenoptic_camera, preset
from plenodepth.camera.check import check_features
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_float_map, read_image, read_observations, read_ply, read_poses, read_scene
from plenodepth.sim.lidar import lidar_for_scene
from plenodepth.sim.output import frame_folder
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Checkerboard, Rectangle, Scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, render_scene, render_white, simulate_scene, simulate_white

CAMERA = preset("r12-mini")
QUICK = FrameSettings(RenderSettings(rays=2), SensorSettings(bit_depth=8))


def board_scene() -> Scene:
    board = Checkerboard(4, 3, 6, Pose.from_rotation_vector([0.1, 0.2, 0], [-9, -6, 600]))
    return Scene((board, Rectangle(300, 300, Pose(np.eye(3), np.array([0, 0, 900.0])))))


def test_a_frame_holds_image_truth_camera_and_settings(tmp_path: Path) -> None:
    scene = board_scene()
    settings = FrameSettings(QUICK.render, QUICK.sensor, [lidar_for_scene(scene, points=2000)])
    rendered = simulate_scene(scene, CAMERA, tmp_path / "frame", settings, frame=7)
    folder = tmp_path / "frame"
    assert read_image(folder / "raw.png").shape == (404, 560, 3)
    depth = read_float_map(folder / "depth.tiff")
    assert depth.shape == (404, 560)
    assert 580 < np.nanmin(depth) < np.nanmax(depth) < 901
    assert read_float_map(folder / "lens_depth.tiff").shape == (20, 24)
    assert set(np.unique(read_image(folder / "boundary.png"))) <= {0, 255}
    assert read_image(folder / "objects.png").max() == 2
    assert len(read_ply(folder / "lidar.ply")["points"]) > 500
    targets = json.loads((folder / "targets.json").read_text())
    pose = json.loads((folder / "cam_from_lidar.json").read_text())
    cam_from_lidar = Pose(np.array(pose["rotation"]), np.array(pose["translation"]))
    assert np.allclose(cam_from_lidar(targets["lidar"]), targets["camera"], atol=1e-6)
    assert json.loads((folder / "info.json").read_text()) == rendered.info.content()
    assert rendered.info.rays == 2 * np.count_nonzero(np.isfinite(depth))  # the wall fills the view


def test_a_frame_can_be_rendered_without_files_and_saved_later(tmp_path: Path) -> None:
    frame = render_scene(board_scene(), CAMERA, QUICK, frame=3)
    assert frame.raw.shape == frame.light.shape == (404, 560, 3)
    assert frame.truth is not None
    assert frame.truth.depth.shape == (404, 560)
    assert frame.lidar is None
    assert frame.targets is None
    frame.save(tmp_path / "frame")
    simulate_scene(board_scene(), CAMERA, tmp_path / "same", QUICK, frame=3)
    for path in (tmp_path / "same").iterdir():
        if path.name != "info.json":  # holds the time it took
            assert path.read_bytes() == (tmp_path / "frame" / path.name).read_bytes(), path.name
    assert np.array_equal(read_image(tmp_path / "frame" / "raw.png"), frame.raw)


def test_a_scene_file_is_copied_beside_its_image(tmp_path: Path) -> None:
    text = "plenodepth_scene: 1\nobjects:\n  - {kind: rectangle, size: [300, 300], position: [0, 0, 900]}\n"
    (tmp_path / "wall.yaml").write_text(text)
    frame = simulate_scene(tmp_path / "wall.yaml", CAMERA, tmp_path / "frame", QUICK)
    assert frame.info.objects == ("rectangle",)
    assert (tmp_path / "frame" / "scene.yaml").read_text() == text


def test_a_white_image_takes_the_f_number_of_the_camera_unless_it_has_none() -> None:
    assert render_white(None, CAMERA, QUICK).info.f_number == CAMERA.main_lens.f_number
    without = replace(CAMERA, main_lens=replace(CAMERA.main_lens, f_number=None))
    with pytest.raises(InputError, match="f_number"):
        render_white(None, without, QUICK)


def test_features_of_a_frame_agree_with_its_camera_and_pose(tmp_path: Path) -> None:
    simulate_scene(board_scene(), CAMERA, tmp_path / "frame", QUICK, frame=3)
    folder = tmp_path / "frame"
    camera = load_plenoptic_camera(folder / "camera.yaml")
    poses = {p.frame: Pose(p.rotation, p.translation).inverse() for p in read_poses(folder / "poses.js")}
    corners = read_scene(folder / "scene.js").checkerboards[0].corners()
    features = read_observations(folder / "features.bin.gz").features
    result = check_features(features, poses, corners, camera)
    assert result.rmse_uv < 1e-9
    assert [frame.frame for frame in result.frames] == [3]


def test_a_white_image_grows_darker_with_the_f_number(tmp_path: Path) -> None:
    means = []
    for number in (2.8, 5.66, 11.31):
        simulate_white(number, CAMERA, tmp_path / f"{number}", QUICK)
        means.append(read_image(tmp_path / f"{number}" / "raw.png").mean())
    assert means[0] > means[1] > means[2] > 0


def test_the_same_settings_give_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        simulate_scene(board_scene(), CAMERA, tmp_path / name, QUICK)
    for path in (tmp_path / "one").iterdir():
        if path.name != "info.json":  # holds the time it took
            assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_an_earlier_frame_is_replaced_and_other_folders_are_not(tmp_path: Path) -> None:
    simulate_white(4.0, CAMERA, tmp_path / "out", QUICK)
    simulate_white(8.0, CAMERA, tmp_path / "out", QUICK)
    assert json.loads((tmp_path / "out" / "info.json").read_text())["f_number"] == 8.0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("do not touch")
    with pytest.raises(InputError, match="other things"):
        simulate_white(4.0, CAMERA, tmp_path / "mine", QUICK)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with frame_folder(tmp_path / "out") as folder:
            (folder / "half.txt").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert list(tmp_path.iterdir()) == []


def test_a_file_or_an_unwritable_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        simulate_white(4.0, CAMERA, tmp_path / "file", QUICK)
    with pytest.raises(InputError, match="cannot be written"):
        simulate_white(4.0, CAMERA, tmp_path / "file" / "below", QUICK)
    with pytest.raises(InputError, match="cannot be written"):
        simulate_white(4.0, CAMERA, "/proc/nowhere", QUICK)
