"""plenodepth calibrate lidar: the scanner of the simulated R12-ELP20 by five targets, and bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from commands import Refused, Run

from plenodepth.calib.feature_files import read_features, write_features
from plenodepth.calib.features import Features
from plenodepth.calib.lidar.files import read_lidar_pose, read_targets
from plenodepth.camera import project, save_camera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_image, read_poses
from plenodepth.sim.lidar import extrinsic_targets
from plenodepth.sim.scenes.twins import twin
from plenodepth.sim.truth import board_features

TRUE = Pose.from_rotation_vector([0.1, 3.0, 0.2], [250.0, 80.0, -900.0])
NOISE = 0.3  # px


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The camera, its features of the targets where they appear, the scanner's targets, and files that do not fit."""
    folder = tmp_path_factory.mktemp("lidar")
    plan = twin("r12-elp20")
    planned = next(frame for frame in plan.frames if frame.folder == "scenes/calib")
    assert planned.scene is not None
    camera, scene = replace(plan.camera, depth_scale=None), planned.scene()
    save_camera(camera, folder / "camera.yaml")
    table = board_features(scene, camera)
    k, l, cluster = (table[name].astype(np.int64) for name in ("k", "l", "cluster"))
    measured = extrinsic_targets(scene, TRUE)
    seen = project(measured.camera[cluster], k, l, camera, apparent=True)
    generator, count, zero = np.random.default_rng(0), len(k), np.zeros(len(k), dtype=np.int64)
    features = Features(
        frame=zero + 7,
        k=k,
        l=l,
        uv=seen.uv + generator.normal(0, NOISE, (count, 2)),
        covariance=np.broadcast_to(NOISE**2 * np.eye(2), (count, 2, 2)),
        rho=seen.rho + generator.normal(0, NOISE, count),
        rho_sigma=np.full(count, NOISE),
        cluster=cluster,
        corner=zero,
        board=zero,
    )
    features = features.where(np.isfinite(seen.uv).all(axis=1))
    write_features(features, folder / "features.csv")
    write_features(replace(features, frame=np.arange(len(features)) % 2), folder / "two-frames.csv")
    lines = [",".join(f"{value:.6f}" for value in point) for point in measured.lidar]
    lines[0] += ",top left"
    for name, rows in {
        "targets": ["x,y,z,name", *lines],
        "mixed": [lines[1], lines[0], lines[2], lines[4], lines[3]],
        "three": lines[:3],
        "nan": ["x,y,z,name", *lines[:3], "nan,1,2"],
        "flat": ["1,2"],
    }.items():
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    return folder


def command(files: Path, out: Path, **changed: object) -> list[object]:
    given = {
        "camera": files / "camera.yaml",
        "targets": files / "targets.csv",
        "features": files / "features.csv",
        "out": out,
        **changed,
    }
    return ["calibrate", "lidar", *(part for name, value in given.items() for part in (f"--{name}", value))]


def test_the_scanner_is_found_and_written_in_both_formats(succeeds: Run, files: Path, tmp_path: Path) -> None:
    out, js = tmp_path / "pose.yaml", tmp_path / "pose.js"
    result = succeeds(*command(files, out, js=js), "--json").json
    found = read_lidar_pose(out)
    assert np.linalg.norm(found.translation - TRUE.translation) < 0.5
    turn = found.rotation.T @ TRUE.rotation
    assert np.linalg.norm(turn - turn.T) / np.sqrt(8) < 0.5e-3
    assert found.translation.tolist() == result["cam_from_lidar"]["translation"]
    assert all(0 < sigma < 0.5 for sigma in result["sigma"]["translation"])
    assert [row["name"] for row in result["targets"]] == ["top left", "1", "2", "3", "4"]
    assert result["rmse"] == pytest.approx(NOISE * np.sqrt(2), rel=0.1)
    assert sum(row["views"] for row in result["targets"]) == len(read_features(files / "features.csv"))
    assert all(row["rmse_uv"] < 3 * NOISE and abs(row["mean_u"]) < NOISE for row in result["targets"])
    # libpleno's file holds the camera in the lidar's frame.
    (stored,) = read_poses(js)
    assert (stored.frame, result["frame"]) == (7, 7)
    assert np.allclose(stored.rotation.T, found.rotation)
    assert np.allclose(-stored.rotation.T @ stored.translation, found.translation)
    assert read_image(tmp_path / "pose.png").ndim == 3
    assert yaml.safe_load(out.read_text())["aperture_aware"] is True
    text = succeeds(*command(files, out)).words
    assert "top left" in text
    assert f"RMSE {result['rmse']:.3f} px" in text


def test_the_targets_own_uncertainty_widens_that_of_the_pose(succeeds: Run, files: Path, tmp_path: Path) -> None:
    arguments = command(files, tmp_path / "pose.yaml")
    exact, rough = (succeeds(*arguments, "--json", "--target-sigma", sigma).json["sigma"] for sigma in (0, 2))
    assert min(rough["translation"]) > max(exact["translation"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--targets mixed.csv", "--targets"),
        ("--targets three.csv", "3 of them have features, needs 4"),
        ("--targets nan.csv", "line 5: is not finite"),
        ("--targets flat.csv", "line 1: has 2 values"),
        ("--targets none.csv", "none.csv"),
        ("--target-sigma -1", "--target-sigma"),
        ("--camera r12-mini", "give the camera that the features"),
        ("--features two-frames.csv", "--frame: is needed"),
        ("--frame 3", "--frame: is 3"),
        ("--out pose.txt", "--out"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, files: Path, tmp_path: Path, given: str, message: str) -> None:
    out = tmp_path / "pose.yaml"
    assert message in refused(*command(files, out), *given.split(), folder=files)
    assert not out.exists()


@pytest.mark.parametrize("text", ["", "# nothing\n", "x,y,z\n"])
def test_a_file_without_targets_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "targets.csv").write_text(text)
    with pytest.raises(InputError, match="holds no target"):
        read_targets(tmp_path / "targets.csv")


def test_targets_may_be_separated_by_blanks_and_commented(tmp_path: Path) -> None:
    (tmp_path / "targets.txt").write_text("# scan of Monday\n1 2 3 upper left\n4;5;-6e1 # no name\n")
    targets = read_targets(tmp_path / "targets.txt")
    assert targets.points.tolist() == [[1, 2, 3], [4, 5, -60]]
    assert targets.names == ("upper left", "1")
