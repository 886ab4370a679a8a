"""Clouds in files against each other, from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate import compare_cloud_files
from plenodepth.geometry import Pose
from plenodepth.io import write_ply

X, Y = np.meshgrid(np.arange(-50.0, 50), np.arange(-50.0, 50))
WALL = np.stack([X, Y, np.full(X.shape, 800.0)], axis=-1).reshape(-1, 3)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_ply(WALL + [0, 0, 6], tmp_path / "found.ply")
    write_ply(WALL, tmp_path / "true.ply")
    return tmp_path


def test_distances_tiles_and_notes_are_typed(files: Path) -> None:
    result = compare_cloud_files(files / "found.ply", files / "true.ply", thresholds=(5, 10))
    assert result.distances is not None
    assert result.distances.accuracy.mean == pytest.approx(6)
    assert [row.f_score for row in result.distances.f_scores] == [0, 1]
    assert len(result.tiles) == 64
    assert all(row.completeness == pytest.approx(6) for row in result.tiles)
    assert result.csad is None
    assert result.notes == ()


def test_a_pose_brings_the_truth_to_the_camera(files: Path) -> None:
    pose = Pose.from_rotation_vector([0.0, 0.0, 0.0], [0.0, 0.0, 6.0])
    result = compare_cloud_files(files / "found.ply", files / "true.ply", cam_from_lidar=pose)
    assert result.distances is not None
    assert result.distances.chamfer == pytest.approx(0, abs=1e-3)


def test_what_does_not_go_together_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    for options, message in (
        ({"z_range": (900.0, 300.0)}, "z_range: is 900 300"),
        ({"cap": 1.0}, "cap: is 1 mm, a threshold is beyond"),
        ({"maps_only": True}, "camera: is missing: only maps are compared"),
    ):
        with pytest.raises(InputError, match=message):
            compare_cloud_files(tmp_path / "none.ply", tmp_path / "none.ply", **options)
    with pytest.raises(InputError, match=r"camera: is missing: .*none\.tiff is a map"):
        compare_cloud_files(tmp_path / "none.tiff", tmp_path / "none.ply")
