"""plenodepth evaluate cloud: a cloud against a scanner's in its own frame and unit, and bad input."""

from __future__ import annotations

import json
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


def surface(step: float) -> np.ndarray:
    """A wavy wall some 800 mm away, wider than what the camera sees."""
    x, y = np.meshgrid(np.arange(-0.06, 0.06, step), np.arange(-0.06, 0.06, step))
    z = 800 + 20 * np.sin(60 * x)
    return np.stack([x * z, y * z, z], axis=-1).reshape(-1, 3)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_the_map_of_a_frame_may_stand_for_its_cloud(
    succeeds: Run, refused: Refused, files: Path, tmp_path: Path
) -> None:
    central = central_depth(surface(0.00025), CAMERA) + 3
    write_float_map(central, tmp_path / "raw.csad.tiff")
    arguments = [
        "evaluate",
        "cloud",
        tmp_path / "raw.csad.tiff",
        files / "truth.ply",
        "--camera",
        files / "camera.yaml",
    ]
    result = succeeds(*arguments, "--json").json
    assert "accuracy" not in result
    assert result["csad"]["median_ad_mm"] == pytest.approx(3, abs=0.5)
    assert "--camera: is missing" in refused(*arguments[:-2])
    assert "is 24 × 10" in refused("evaluate", "cloud", small(tmp_path), *arguments[3:])


def test_the_virtual_depth_of_a_frame_gives_every_pixel_of_its_maps(
    succeeds: Run, refused: Refused, files: Path, tmp_path: Path
) -> None:
    lattice = CAMERA.micro_images.lattice
    virtual = np.full((lattice.rows, lattice.columns), virtual_from_metric(800.0, CAMERA), np.float32)
    write_float_map(virtual, tmp_path / "raw.virtual.tiff")
    record = {"aperture_model": "off", "settings": {"depth": {"refined": False}}}
    (tmp_path / "raw.json").write_text(json.dumps(record))
    camera = ["--camera", files / "camera.yaml", "--json"]
    result = succeeds("evaluate", "cloud", tmp_path / "raw.virtual.tiff", files / "truth.ply", *camera).json
    assert result["csad"]["completeness"] > 0.95
    assert result["csad"]["median_ad_mm"] < 20  # the wall's waves
    assert result["accuracy"]["points"] > 500
    (tmp_path / "raw.json").write_text("{}")
    line = refused("evaluate", "cloud", tmp_path / "raw.virtual.tiff", files / "truth.ply", *camera)
    assert "raw.json: names no aperture_model" in line


def small(folder: Path) -> Path:
    write_float_map(np.full((10, 24), 800.0), folder / "small.tiff")
    return folder / "small.tiff"


def test_a_wrong_unit_a_wrong_pose_and_a_wrong_range_are_one_line(refused: Refused, files: Path) -> None:
    assert "truth.pts: has no point between 400 and 1500 mm; its z go from" in refused(*command(files, "--unit", "mm"))
    assert "has no point between" in refused(*command(files, pose=None))
    assert "has no point between 10 and 20 mm" in refused(*command(files, "--range", 10, 20))
    assert "--range: is 900 300" in refused(*command(files, "--range", 900, 300))
    assert "--threshold: is 'x'" in refused(*command(files, "--threshold", "x"))
    assert "--cap: is 1 mm" in refused(*command(files, "--cap", 1))
    assert "--camera: is missing: --csad" in refused(*command(files, "--csad"))
    assert "--camera: is missing: a figure" in refused(*command(files, "--figure", files / "out.png"))
    assert "'--unit'" in refused(*command(files, "--unit", "cm"))


def test_a_truncated_scan_and_files_of_other_kinds_are_one_line(refused: Refused, files: Path, tmp_path: Path) -> None:
    header = "2\n2\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
    (tmp_path / "cut.ptx").write_text(header + "1 2 3 0.5\n1 2 3 0.5\n1 2")
    line = refused("evaluate", "cloud", files / "found.ply", tmp_path / "cut.ptx")
    assert "cut.ptx: line 13: the file ends, scan 1 has 3 points of 2 × 2 = 4" in line
    (tmp_path / "cut.pts").write_text("3\n1 2 3\n")
    assert "3 announced, the file holds 1" in refused("evaluate", "cloud", files / "found.ply", tmp_path / "cut.pts")
    assert "has the suffix '.yaml'" in refused("evaluate", "cloud", files / "found.ply", files / "camera.yaml")
    (tmp_path / "pose.js").write_text('{"poses": ""}')
    line = refused(*command(files)[:4], "--cam-from-lidar", tmp_path / "pose.js")
    assert "pose.js: holds no pose of a lidar" in line
