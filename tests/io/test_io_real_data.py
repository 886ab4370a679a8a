"""The readers on files that other programs wrote."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import pytest

from plenodepth.io import (
    read_observations,
    read_parameters,
    read_poses,
    read_raytrix_grid,
    read_scene,
    read_tree,
    write_observations,
    write_poses,
)

pytestmark = pytest.mark.realdata

ARCHIVE = "linked-observations-R12-A.bin.gz"


def test_the_features_of_r12a(real_data: Path) -> None:
    features = read_observations(real_data / "r12a" / "bap-R12-A.csv").features
    assert len(features) == 14_569
    assert set(features["frame"]) == set(range(16))
    assert set(features["cluster"]) <= set(range(9 * 5))


def test_the_centers_of_r12a(real_data: Path) -> None:
    centers = read_observations(real_data / "r12a" / "center-R12-A.csv").centers
    assert len(centers) == 26_676
    assert len(np.unique(centers[["k", "l"]])) == 26_676
    assert (centers["k"].max(), centers["l"].max()) == (175, 151)


def test_the_archive_of_r12a_holds_what_its_csv_files_hold(real_data: Path) -> None:
    archive = read_observations(real_data / "r12a" / ARCHIVE)
    assert [len(table) for _, table in archive.tables()] == [26_676, 0, 14_569]
    csv_features = read_observations(real_data / "r12a" / "bap-R12-A.csv").features
    csv_centers = read_observations(real_data / "r12a" / "center-R12-A.csv").centers
    for table, csv_table in ((archive.features, csv_features), (archive.centers, csv_centers)):
        for name in table.dtype.names or ():
            # The CSV files carry six significant digits.
            np.testing.assert_allclose(csv_table[name], table[name], rtol=5e-6, atol=1e-9)


def test_the_archive_of_r12a_is_written_back_byte_by_byte(real_data: Path, tmp_path: Path) -> None:
    source = real_data / "r12a" / ARCHIVE
    observations = read_observations(source)
    for name in ("a.bin", "a.bin.gz"):
        write_observations(observations, tmp_path / name)
    expected = gzip.decompress(source.read_bytes())
    assert (tmp_path / "a.bin").read_bytes() == expected
    assert gzip.decompress((tmp_path / "a.bin.gz").read_bytes()) == expected


def test_an_archive_is_read_in_milliseconds(real_data: Path, tmp_path: Path) -> None:
    write_observations(read_observations(real_data / "r12a" / ARCHIVE), tmp_path / "a.bin")
    start = time.perf_counter()
    read_observations(tmp_path / "a.bin")
    assert time.perf_counter() - start < 0.1  # about 2 ms; the margin is for a busy machine


def test_the_poses_of_r12a(real_data: Path, tmp_path: Path) -> None:
    poses = read_poses(real_data / "r12a" / "poses.js")
    assert sorted(pose.frame for pose in poses) == list(range(16))
    assert all(pose.translation[2] < 0 for pose in poses), "the camera stands in front of the board"
    # Columns, not rows: only then does the camera look along +z at the board, whose centre is near its axis.
    for pose in poses:
        center = pose.rotation.T @ (np.array([40.0, 20.0, 0.0]) - pose.translation)
        assert 150 < center[2] < 450
        assert np.hypot(*center[:2]) < 0.1 * center[2]
    write_poses(poses, tmp_path / "poses.js")
    for pose, again in zip(poses, read_poses(tmp_path / "poses.js"), strict=True):
        np.testing.assert_array_equal(again.rotation, pose.rotation)
        np.testing.assert_array_equal(again.translation, pose.translation)


def test_the_scene_of_r12a(real_data: Path) -> None:
    scene = read_scene(real_data / "r12a" / "scene.js")
    (board,) = scene.checkerboards
    assert (board.columns, board.rows, board.square) == (9, 5, 10.0)
    np.testing.assert_array_equal(board.corners()[44], [80.0, 40.0, 0.0])
    assert (scene.plates, scene.constellations) == ((), ())


@pytest.mark.parametrize(
    ("folder", "slope", "pitch", "kappa"),
    [
        ("r12a", -0.14059554040431976, 0.12822163189288707, 0.680851),
        ("r12b", -0.15859550120303031, 0.12828812917241653, 0.77632365684589211),
    ],
)
def test_the_internal_parameters(real_data: Path, folder: str, slope: float, pitch: float, kappa: float) -> None:
    parameters = read_parameters(real_data / folder / "params.js")
    assert (parameters.white_slope, parameters.micro_image_pitch, parameters.kappa) == (slope, pitch, kappa)
    assert (parameters.f_number, parameters.pixel_size) == (4.0, 0.0055)
    assert parameters.white_intercepts.shape == (3,)
    np.testing.assert_allclose(parameters.corrected_intercepts, parameters.white_intercepts + pitch / 2, rtol=1e-6)


@pytest.mark.parametrize(
    "name",
    ["r12a/camera.js", "r12a/intrinsics.js", "r12b/intrinsics.js", "r12b/strategy.js", "upc/camera.js"],
)
def test_every_text_file_is_a_tree(real_data: Path, name: str) -> None:
    tree = read_tree(real_data / name)
    if tree.has("mia"):
        assert tree.integer("mia.mesh.width") in (176, 541)
        assert tree.number("sensor.scale") > 0
    else:
        assert tree.boolean("multithread")
        assert tree.text("init") == "REGULAR_GRID"


def test_matrices_of_r12b_are_columns(real_data: Path) -> None:
    tree = read_tree(real_data / "r12b" / "intrinsics.js")
    rotation = tree.matrix("mla.mesh.pose.rotation", 3, 3)
    # "Rxyz" holds the angles with R = Rx Ry Rz; R[1, 2] = -sin x cos y tells columns from rows.
    angles = tree.vector("Rxyz", 3)
    np.testing.assert_allclose(rotation[1, 2], -np.sin(angles[0]) * np.cos(angles[1]), rtol=1e-9)
    np.testing.assert_allclose(rotation[0, 2], np.sin(angles[1]), rtol=1e-9)
    assert tree.numbers("mla.focal_lengths").shape == (3,)


def test_the_vendor_grid_of_the_r5(real_data: Path) -> None:
    grid = read_raytrix_grid(real_data / "r5" / "fujita2-calib.xml")
    np.testing.assert_array_equal(grid.offset_from_centre, [13.040943844572, -20.348051920159])
    assert (grid.diameter, grid.lens_border) == (23.202295303345, 1.0)
    assert grid.total_covering_plane == 2.207589864731
    assert grid.rotation == pytest.approx(np.pi / 2, abs=1e-6)
    np.testing.assert_allclose(grid.lens_base_x, [0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(grid.lens_base_y, [np.sqrt(0.75), 0.5], atol=1e-6)
    np.testing.assert_allclose(grid.sub_grid_base, [np.sqrt(3), 3.0], atol=1e-6)
    assert grid.distortion.function == "constant"
    assert [t.id for t in grid.lens_types] == [0, 1, 2]
    np.testing.assert_allclose([t.offset[1] for t in grid.lens_types], [0, 1, -1])
    np.testing.assert_allclose([t.depth_range for t in grid.lens_types], [(1, 3.2), (2.6, 4.2), (3.5, 100)], rtol=1e-6)
