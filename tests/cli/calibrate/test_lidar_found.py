"""plenodepth calibrate lidar on a raw image and a scan alone: the small simulated R12-ELP20."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run

from plenodepth.calib.lidar.files import read_lidar_pose
from plenodepth.camera import save_camera
from plenodepth.geometry import Pose
from plenodepth.io import read_pts, write_pts
from plenodepth.sim.lidar import lidar_for_scene
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import twin
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scanned")
    plan = twin("r12-elp20", quick=True)
    planned = next(frame for frame in plan.frames if frame.folder == "scenes/calib")
    assert planned.scene is not None
    scene = planned.scene()
    settings = FrameSettings(RenderSettings(threads=1), SensorSettings(), [lidar_for_scene(scene, range_sigma=0.5)])
    save_camera(plan.camera, folder / "camera.yaml")
    simulate_scene(scene, plan.camera, folder / "calib", settings)
    simulate_white(4.0, plan.camera, folder / "white", FrameSettings(RenderSettings(threads=1), SensorSettings()))
    return folder


def command(files: Path, out: Path, **changed: object) -> list[object]:
    given = {
        "camera": files / "camera.yaml",
        "image": files / "calib/raw.png",
        "white": files / "white/raw.png",
        "cloud": files / "calib/lidar.pts",
        "out": out,
        **changed,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    return ["calibrate", "lidar", *(part for name, value in chosen.items() for part in (f"--{name}", value))]


def test_targets_are_found_and_matched_and_give_the_scanners_place(succeeds: Run, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "pose.yaml"
    first = succeeds(*command(files, out), "--json").json
    assert len(first["targets"]) >= 4
    assert first["found_in_cloud"] >= 5
    true = json.loads((files / "calib/cam_from_lidar.json").read_text())
    points = np.array(json.loads((files / "calib/targets.json").read_text())["lidar"])
    # The small sensor sees 50 mm at 1 m, so a turn about the targets is hardly known; their places are.
    apart = read_lidar_pose(out)(points) - Pose(np.array(true["rotation"]), np.array(true["translation"]))(points)
    assert np.linalg.norm(apart, axis=1).max() < 2.0
    assert np.abs(apart[:, :2]).max() < 0.3

    # The same again is kept; another result is made anew.
    made = out.stat().st_mtime_ns
    second = succeeds(*command(files, out), "--json").json
    assert (first["up_to_date"], second["up_to_date"]) == (False, True)
    assert second["cam_from_lidar"] == first["cam_from_lidar"]
    assert out.stat().st_mtime_ns == made
    assert "up to date; pose:" in succeeds(*command(files, out)).words

    # What was found can be given, and the result is the same.
    work = tmp_path / "pose-calibration"
    given = {"cloud": None, "image": None, "white": None}
    again = command(
        files, tmp_path / "again.yaml", **given, targets=work / "targets.csv", features=work / "targets-seen.csv"
    )
    third = succeeds(*again, "--json").json
    apart = read_lidar_pose(tmp_path / "again.yaml")(points) - read_lidar_pose(out)(points)
    assert np.linalg.norm(apart, axis=1).max() < 1.0
    assert third["up_to_date"] is False


def test_a_scan_without_the_targets_is_one_line_that_counts(refused: Refused, files: Path, tmp_path: Path) -> None:
    scan = read_pts(files / "calib/lidar.pts")
    far = scan["points"][:, 0] > 1300
    write_pts(scan["points"][far], tmp_path / "wall.pts", intensity=scan["intensity"][far])
    message = refused(*command(files, tmp_path / "pose.yaml", cloud=tmp_path / "wall.pts"))
    assert "found in the image" in message
    assert "in the cloud" in message
    write_pts(scan["points"], tmp_path / "bare.pts")
    assert "neither intensity nor colours" in refused(
        *command(files, tmp_path / "pose.yaml", cloud=tmp_path / "bare.pts")
    )
    assert not (tmp_path / "pose.yaml").exists()


def test_too_few_inputs_are_one_line(refused: Refused, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "pose.yaml"
    assert "--cloud or --targets" in refused(*command(files, out, cloud=None))
    assert "--image or --features" in refused(*command(files, out, image=None))
    features = tmp_path / "f.csv"
    assert "--features" in refused(*command(files, out, image=None, white=None, features=features))
    assert "none.pts" in refused(*command(files, out, cloud=tmp_path / "none.pts"))
