"""plenodepth depth: files, JSON, and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run
from vendor_grid import grid_xml

from plenodepth.camera import preset
from plenodepth.io import read_float_map, read_image, read_ply, write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white
from plenodepth.sim.twins import wall_scene

SETTINGS = FrameSettings(RenderSettings(rays=48, f_number=2.0), SensorSettings())


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wall at 1000 mm through r12-mini at f/2, and a white image."""
    folder = tmp_path_factory.mktemp("shots")
    camera = preset("r12-mini")
    simulate_scene(camera, wall_scene(camera, 1000.0, 3), folder / "wall", SETTINGS)
    simulate_white(camera, 2.0, folder / "white", SETTINGS)
    return folder


@pytest.mark.parametrize("refined", [False, True])
def test_a_wall_is_found_where_it_stands(succeeds: Run, shots: Path, tmp_path: Path, refined: bool) -> None:
    options = ["--refined"] if refined else []
    result = succeeds(
        "depth", shots / "wall" / "raw.png", "--camera", "r12-mini", "--white", shots / "white" / "raw.png",
        "--out", tmp_path / "out", "--json", *options,
    ).json  # fmt: skip
    (frame,) = result["frames"]
    assert result["failed"] == 0
    assert frame["devignetting"] == "white image"
    assert frame["valid_fraction"] > 0.6
    # The preset's depth scale belongs to a calibration at f/4, so only the virtual depth is to be compared.
    truth = np.nanmedian(read_float_map(shots / "wall" / "virtual_depth.tiff"))
    assert frame["median_virtual_depth"] == pytest.approx(float(truth), rel=0.03)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        f"raw.{end}" for end in ("virtual.tiff", "depth.tiff", "csad.tiff", "confidence.tiff", "ply", "png", "json")
    }
    assert read_float_map(tmp_path / "out" / "raw.depth.tiff").shape == ((404, 560) if refined else (20, 24))
    assert len(read_ply(tmp_path / "out" / "raw.ply")["points"]) > 1000
    assert read_image(tmp_path / "out" / "raw.png").ndim == 3


def test_depths_outside_the_range_are_left_out(succeeds: Run, shots: Path, tmp_path: Path) -> None:
    result = succeeds(
        "depth", shots / "wall" / "raw.png", "--camera", "r12-mini", "--out", tmp_path, "--min-z", 1500, "--json"
    ).json
    assert result["frames"][0]["valid_fraction"] < 0.05
    assert result["frames"][0]["devignetting"] == "camera model"


def test_a_vendors_grid_gives_virtual_depth_and_says_what_is_missing(
    succeeds: Run, shots: Path, tmp_path: Path
) -> None:
    grid = tmp_path / "grid.xml"
    grid.write_text(grid_xml())
    result = succeeds(
        "depth",
        shots / "wall" / "raw.png",
        "--camera",
        grid,
        "--image-size",
        "560x404",
        "--out",
        tmp_path / "out",
        "--json",
    ).json
    assert "calibrated camera" in result["frames"][0]["note"]
    assert not (tmp_path / "out" / "raw.depth.tiff").exists()


def test_one_bad_frame_does_not_stop_the_others(run: Run, shots: Path, tmp_path: Path) -> None:
    write_image(tmp_path / "small.png", np.zeros((10, 10), np.uint8))
    outcome = run(
        "depth", tmp_path / "small.png", tmp_path / "gone.png", shots / "wall" / "raw.png",
        "--camera", "r12-mini", "--out", tmp_path / "out", "--json",
    )  # fmt: skip
    assert outcome.code == 2
    assert outcome.json["failed"] == 2
    assert len(outcome.json["frames"]) == 1
    assert len(outcome.err.splitlines()) == 2
    assert "small.png" in outcome.err
    assert "gone.png" in outcome.err
    assert not list((tmp_path / "out").glob("small*"))


def test_a_missing_camera_or_an_unwritable_folder_is_named(refused: Refused, shots: Path, tmp_path: Path) -> None:
    raw = shots / "wall" / "raw.png"
    assert "r99" in refused("depth", raw, "--camera", "r99", "--out", tmp_path / "out")
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("depth", raw, "--camera", "r12-mini", "--out", tmp_path / "file" / "x")
    assert "near" in refused("depth", raw, "--camera", "r12-mini", "--out", tmp_path / "out", "--min-z", -5)


def test_help_has_an_example(succeeds: Run) -> None:
    assert "plenodepth depth raw.png" in succeeds("depth", "--help").words
