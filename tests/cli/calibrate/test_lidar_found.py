"""plenodepth calibrate lidar on a raw image and a scan alone: the small simulated R12-ELP20."""

from __future__ import annotations

import json
import re
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

IMAGE, CLOUD = "--image calib/raw.png --white white/raw.png", "--cloud calib/lidar.pts"


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
    scan = read_pts(folder / "calib/lidar.pts")
    far = scan["points"][:, 0] > 1300
    write_pts(scan["points"][far], folder / "wall.pts", intensity=scan["intensity"][far])
    write_pts(scan["points"], folder / "bare.pts")
    return folder


def command(out: Path, given: str = f"{IMAGE} {CLOUD}") -> list[object]:
    return ["calibrate", "lidar", "--camera", "camera.yaml", "--out", out, *given.split()]


def test_targets_are_found_and_matched_and_give_the_scanners_place(succeeds: Run, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "pose.yaml"
    first = succeeds(*command(out), "--json", folder=files).json
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
    second = succeeds(*command(out), "--json", folder=files).json
    assert (first["up_to_date"], second["up_to_date"]) == (False, True)
    assert second["cam_from_lidar"] == first["cam_from_lidar"]
    assert out.stat().st_mtime_ns == made
    assert "up to date; pose:" in succeeds(*command(out), folder=files).words

    # What was found can be given, and the result is the same.
    work = tmp_path / "pose-calibration"
    given = f"--targets {work}/targets.csv --features {work}/targets-seen.csv"
    third = succeeds(*command(tmp_path / "again.yaml", given), "--json", folder=files).json
    apart = read_lidar_pose(tmp_path / "again.yaml")(points) - read_lidar_pose(out)(points)
    assert np.linalg.norm(apart, axis=1).max() < 1.0
    assert third["up_to_date"] is False


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (f"{IMAGE} --cloud wall.pts", "found in the image.* in the cloud"),
        (f"{IMAGE} --cloud bare.pts", "neither intensity nor colours"),
        (f"{IMAGE} --cloud none.pts", r"none\.pts"),
        (IMAGE, "--cloud or --targets"),
        (f"--white white/raw.png {CLOUD}", "--image or --features"),
        (f"--features none.csv {CLOUD}", "--features"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, files: Path, tmp_path: Path, given: str, message: str) -> None:
    assert re.search(message, refused(*command(tmp_path / "pose.yaml", given), folder=files))
    assert not (tmp_path / "pose.yaml").exists()
