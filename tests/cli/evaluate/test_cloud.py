"""plenodepth evaluate cloud: a cloud against a scanner's in its own frame and unit, and bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run

from plenodepth.calib.lidar.files import write_libpleno_lidar_pose
from plenodepth.camera import preset, save_camera, virtual_from_metric
from plenodepth.camera.presets import shrunk
from plenodepth.evaluate import read_cam_from_lidar
from plenodepth.geometry import Pose
from plenodepth.io import read_image, write_float_map, write_ply, write_pts
from plenodepth.metric.central_view import central_depth

CAMERA = shrunk(preset("r12-e"), 24, 20)
POSE = Pose.from_rotation_vector([0.1, 3.0, 0.2], [250.0, 80.0, -900.0])
OFFSET = 6.0  # mm: the prediction is too far
PLACED = "found.ply truth.pts --cam-from-lidar pose.js"


def surface(step: float) -> np.ndarray:
    """A wavy wall some 800 mm away, wider than what the camera sees."""
    x, y = np.meshgrid(np.arange(-0.06, 0.06, step), np.arange(-0.06, 0.06, step))
    z = 800 + 20 * np.sin(60 * x)
    return np.stack([x * z, y * z, z], axis=-1).reshape(-1, 3)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clouds, maps and poses that go together, and some that do not."""
    folder = tmp_path_factory.mktemp("clouds")
    save_camera(CAMERA, folder / "camera.yaml")
    truth = surface(0.0002)
    write_pts(POSE.inverse()(truth), folder / "truth.pts")
    write_ply(truth, folder / "truth.ply")
    found = surface(0.00025)
    write_ply(found * (1 + OFFSET / found[:, 2:]), folder / "found.ply")
    write_libpleno_lidar_pose(POSE, folder / "pose.js", 0)
    plain = {"rotation": POSE.rotation.tolist(), "translation": POSE.translation.tolist()}
    (folder / "cam_from_lidar.json").write_text(json.dumps(plain))
    (folder / "pose.json").write_text(json.dumps({"plenodepth_lidar_pose": 1, "cam_from_lidar": plain}))
    (folder / "no-pose.js").write_text('{"poses": ""}')
    header = "2\n2\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
    (folder / "cut.ptx").write_text(header + "1 2 3 0.5\n1 2 3 0.5\n1 2")
    (folder / "cut.pts").write_text("3\n1 2 3\n")
    write_float_map(central_depth(found, CAMERA) + 3, folder / "raw.csad.tiff")
    write_float_map(np.full((10, 24), 800.0), folder / "small.tiff")
    lattice = CAMERA.micro_images.lattice
    virtual = np.full((lattice.rows, lattice.columns), virtual_from_metric(800.0, CAMERA), np.float32)
    write_float_map(virtual, folder / "raw.virtual.tiff")
    (folder / "raw.json").write_text("{}")
    return folder


def command(files: Path, *more: object, truth: str = "truth.pts", pose: str | None = "pose.js") -> list[object]:
    placed = [] if pose is None else ["--cam-from-lidar", files / pose]
    return ["evaluate", "cloud", files / "found.ply", files / truth, *placed, *more]


def test_distances_and_maps_find_the_offset(succeeds: Run, files: Path) -> None:
    result = succeeds(*command(files, "--camera", files / "camera.yaml", "--threshold", "2,20", "--json")).json
    assert 0.5 * OFFSET < result["accuracy"]["median_mm"] < 1.1 * OFFSET  # across the waves the wall is nearer
    assert [row["threshold_mm"] for row in result["thresholds"]] == [2, 20]
    assert result["thresholds"][1]["f_score"] == 1
    csad = result["csad"]
    assert csad["bias_mm"] == pytest.approx(OFFSET, abs=0.5)
    assert csad["median_ad_mm"] == pytest.approx(OFFSET, abs=0.5)
    assert csad["completeness"] > 0.95
    assert len(result["tiles"]) == 64
    assert sum(tile["pixels"] for tile in csad["tiles"]) == csad["pixels"]
    assert any("taken for metres" in note for note in result["notes"])
    assert any("outside the camera's view" in note for note in result["notes"])


@pytest.mark.parametrize("pose", ["pose.js", "pose.json", "cam_from_lidar.json"])
def test_every_form_of_the_pose_gives_the_same(files: Path, pose: str) -> None:
    found = read_cam_from_lidar(files / pose)
    np.testing.assert_allclose(found.rotation, POSE.rotation, atol=1e-12)
    np.testing.assert_allclose(found.translation, POSE.translation, atol=1e-9)


def test_a_truth_in_the_camera_frame_needs_no_pose_and_all_is_printed(
    succeeds: Run, files: Path, tmp_path: Path
) -> None:
    camera = ["--camera", files / "camera.yaml", "--figure", tmp_path / "out.png"]
    text = succeeds(*command(files, *camera, truth="truth.ply", pose=None)).words
    for part in ("distance [mm] accuracy completeness", "Chamfer", "F-score", "pixels in common", "figure:"):
        assert part in text
    assert read_image(tmp_path / "out.png").ndim == 3


def test_the_map_of_a_frame_may_stand_for_its_cloud(succeeds: Run, files: Path) -> None:
    camera = ["--camera", files / "camera.yaml", "--json"]
    result = succeeds("evaluate", "cloud", files / "raw.csad.tiff", files / "truth.ply", *camera).json
    assert "accuracy" not in result
    assert result["csad"]["median_ad_mm"] == pytest.approx(3, abs=0.5)


def test_the_virtual_depth_of_a_frame_gives_every_pixel_of_its_maps(succeeds: Run, files: Path, tmp_path: Path) -> None:
    shutil.copy(files / "raw.virtual.tiff", tmp_path)
    record = {"aperture_model": "off", "settings": {"depth": {"refined": False}}}
    (tmp_path / "raw.json").write_text(json.dumps(record))
    camera = ["--camera", files / "camera.yaml", "--json"]
    result = succeeds("evaluate", "cloud", tmp_path / "raw.virtual.tiff", files / "truth.ply", *camera).json
    assert result["csad"]["completeness"] > 0.95
    assert result["csad"]["median_ad_mm"] < 20  # the wall's waves
    assert result["accuracy"]["points"] > 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"{PLACED} --unit mm", "truth.pts: has no point between 400 and 1500 mm; its z go from"),
        ("found.ply truth.pts", "has no point between"),
        (f"{PLACED} --range 10 20", "has no point between 10 and 20 mm"),
        (f"{PLACED} --range 900 300", "--range: is 900 300"),
        (f"{PLACED} --threshold x", "--threshold: is 'x'"),
        (f"{PLACED} --cap 1", "--cap: is 1 mm"),
        (f"{PLACED} --csad", "--camera: is missing: --csad"),
        (f"{PLACED} --figure out.png", "--camera: is missing: a figure"),
        (f"{PLACED} --unit cm", "'--unit'"),
        ("found.ply cut.ptx", "cut.ptx: line 13: the file ends, scan 1 has 3 points of 2 × 2 = 4"),
        ("found.ply cut.pts", "3 announced, the file holds 1"),
        ("found.ply camera.yaml", "has the suffix '.yaml'"),
        ("found.ply truth.pts --cam-from-lidar no-pose.js", "no-pose.js: holds no pose of a lidar"),
        ("raw.csad.tiff truth.ply", "--camera: is missing"),
        ("small.tiff truth.ply --camera camera.yaml", "is 24 × 10"),
        ("raw.virtual.tiff truth.ply --camera camera.yaml --json", "raw.json: names no aperture_model"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, files: Path, arguments: str, message: str) -> None:
    assert message in refused("evaluate", "cloud", *arguments.split(), folder=files)
