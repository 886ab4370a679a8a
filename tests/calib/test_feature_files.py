"""Features and centres on disk."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from ideal_features import ideal_centers, ideal_features, small_camera, spread_poses

from plenodepth.calib.feature_files import is_foreign, read_centers, read_features, write_centers, write_features
from plenodepth.calib.features import Board, Features
from plenodepth.errors import InputError

CAMERA = small_camera()


def test_features_come_back_as_they_were_written(tmp_path: Path) -> None:
    features = ideal_features(CAMERA, spread_poses(2))
    rho = np.where(np.arange(len(features)) % 3 == 0, np.nan, features.rho)
    written = replace(features, rho=rho, rho_sigma=np.where(np.isnan(rho), np.nan, features.rho_sigma))
    write_features(written, tmp_path / "features.csv")
    read = read_features(tmp_path / "features.csv")
    for member in fields(Features):
        np.testing.assert_array_equal(getattr(read, member.name), getattr(written, member.name))
    assert not is_foreign(tmp_path / "features.csv")


def test_centers_come_back_as_they_were_written(tmp_path: Path) -> None:
    centers = ideal_centers(CAMERA)
    write_centers(centers, tmp_path / "centers.csv")
    read = read_centers(tmp_path / "centers.csv")
    np.testing.assert_array_equal(read.uv, centers.uv)
    np.testing.assert_array_equal(read.covariance, centers.covariance)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["bap-R12-A.csv", "linked-observations-R12-A.bin.gz"])
def test_libpleno_features_have_equal_weights(real_data: Path, name: str) -> None:
    features = read_features(real_data / "r12a" / name)
    assert is_foreign(real_data / "r12a" / name)
    assert len(features) > 14_000
    assert (features.covariance == np.eye(2)).all()


def test_a_file_without_features_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("k,l,u,v,rho,cluster,frame\n")
    with pytest.raises(InputError, match="holds no features"):
        read_features(tmp_path / "none.csv")
    (tmp_path / "centers.csv").write_text("k,l,u,v\n")
    with pytest.raises(InputError, match="no micro-image centres"):
        read_centers(tmp_path / "centers.csv")


def test_corners_are_numbered_row_by_row() -> None:
    np.testing.assert_array_equal(Board(9, 5, 10.0).points([0, 8, 9]), [[0, 0, 0], [80, 0, 0], [0, 10, 0]])


@pytest.mark.parametrize("board", [(1, 5, 10.0), (9, 5, 0.0), (9, 5, np.nan)])
def test_an_impossible_board_is_refused(board: tuple[int, int, float]) -> None:
    with pytest.raises(InputError, match="board"):
        Board(*board)
