"""A run that fails leaves no folder that was not there before, whichever command it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commands import Run

from plenodepth.camera import preset, save_camera
from plenodepth.io import write_image

OPTICS = "--sensor 5.5um --focal 50 --aperture 4 --focus 450"
CALIBRATED = "--camera camera.yaml --features features.csv --board 5x4:2.5mm"

# Each has what the command wants to see before it makes a folder, and something wrong that shows later.
COMMANDS = {
    "depth": "depth small.png --camera r12-mini --out new/out",
    "depth of nothing": "depth none.png --camera r12-mini --out new/out",
    "calibrate": f"calibrate --boards images --whites images --board 5x4:2.5mm {OPTICS} --out a.yaml --work new/out",
    "calibrate beside": f"calibrate --boards images --board 5x4:2.5mm {OPTICS} --out camera2.yaml",
    "calibrate white": f"calibrate white --whites images {OPTICS} --out new/out",
    "calibrate features": "calibrate features --boards images --board 5x4:2.5mm --camera camera.yaml --out new/out",
    "calibrate adjust": f"calibrate adjust {CALIBRATED} --out camera2.yaml --work new/out",
    "calibrate kappa": "calibrate kappa --camera camera.yaml --features features.csv --boards images --out a.yaml "
    "--work new/out",
    "calibrate scale": f"calibrate scale {CALIBRATED} --boards images --out camera2.yaml --work new/out",
    "calibrate poses": f"calibrate poses {CALIBRATED} --out poses.js --work new/out",
    "calibrate lidar": "calibrate lidar --camera camera.yaml --image small.png --cloud cloud.pts --out pose.yaml "
    "--work new/out",
    "simulate scene": "simulate scene scene.yaml --camera r12-mini --rays 1 --out new/out",
    "simulate white": "simulate white --camera r12-mini --rays 0 --out new/out",
    "simulate dataset": "simulate dataset r12-a --quick --rays 0 --out new/out",
    "reproduce": "reproduce disparity --data images --out new/out",
    "camera convert": "camera convert camera.yaml new/out/camera.yaml",
    "camera show": "camera show r12-mini --figure new/out/camera.png",
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with files that are there, and wrong: images without micro-images, features of one frame only."""
    save_camera(preset("r12-mini"), tmp_path / "camera.yaml")
    (tmp_path / "images").mkdir()
    even = np.full((404, 560), 20000, dtype=np.uint16)
    write_image(even, tmp_path / "images" / "board_00.png")
    write_image(even[:20, :30], tmp_path / "small.png")
    (tmp_path / "features.csv").write_text("k,l,u,v,rho,cluster,frame\n3,3,80.0,80.0,0.5,0,0\n", encoding="utf-8")
    (tmp_path / "cloud.pts").write_text("1\n0 0 1 0 0 0 0\n", encoding="utf-8")
    (tmp_path / "scene.yaml").write_text("plenodepth_scene: 1\nobjects: [{kind: cube}]\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_run_that_fails_leaves_no_new_folder(run: Run, desk: Path, command: str) -> None:
    before = set(desk.rglob("*"))
    outcome = run(*command.split(), folder=desk)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("plenodepth: ")
    assert set(desk.rglob("*")) == before
