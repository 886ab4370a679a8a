"""plenodepth camera from-image: a grid file from ordinary raw images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tifffile
from cameras import rearranged
from commands import Refused, Run
from simulated import rendered_light

from plenodepth.camera import GridCamera, load_camera
from plenodepth.geometry import Arrangement, Pose
from plenodepth.io import read_image, write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.sensor import SensorSettings, expose

CAMERA = rearranged(Arrangement.HEXAGONAL_ROWS, 40, 36)


def written_raw(folder: Path) -> Path:
    texture = noise_image(1500, 1500, octaves=6, cell=48.0, seed=3)
    pose = Pose(np.eye(3), np.array([0, 0, 900.0]))
    scene = Scene((Rectangle(900, 900, pose, Material(texture=texture, emits=True)),))
    light = rendered_light(scene, CAMERA, RenderSettings(rays=16, f_number=4.0))
    path = folder / "raw.png"
    write_image(expose(light, SensorSettings(color=False), None), path)
    return path


def test_a_grid_file_is_written_and_described(succeeds: Run, tmp_path: Path) -> None:
    raw, out = written_raw(tmp_path), tmp_path / "grid.yaml"
    words = succeeds("camera", "from-image", raw, "--out", out).words
    for expected in ("hexagonal rows", "pitch", "rotation", "first micro-image", "lens types 3", "galilean", "note:"):
        assert expected in words
    grid = load_camera(out)
    assert isinstance(grid, GridCamera)
    assert grid.name == "grid"
    assert abs(grid.micro_images.lattice.diameter / CAMERA.micro_images.lattice.diameter - 1) < 3e-4


def test_frames_of_a_sequence_are_spread_over_it_or_chosen(succeeds: Run, refused: Refused, tmp_path: Path) -> None:
    image = read_image(written_raw(tmp_path))
    flat = np.full_like(image, 90)
    tifffile.imwrite(tmp_path / "frames.tif", np.array([image, flat] * 4), photometric="minisblack")
    command = ("camera", "from-image", tmp_path / "frames.tif", "--out", tmp_path / "g.json")
    spread = succeeds(*command, "--json").json["camera"]["provenance"]["source"]
    assert spread.startswith("found in 4 raw images")
    chosen = succeeds(*command, "--frames", "2:6:2", "--json").json["camera"]["provenance"]["source"]
    assert chosen.startswith("found in 2 raw images")
    assert "shows no micro-images" in refused(*command, "--frames", "1")


def test_json_holds_the_camera(succeeds: Run, tmp_path: Path) -> None:
    raw, out = written_raw(tmp_path), tmp_path / "g.json"
    content = succeeds("camera", "from-image", raw, raw, "--out", out, "--name", "mine", "--json").json
    assert content["camera"]["name"] == "mine"
    assert content["file"] == str(out)


def test_an_image_without_micro_images_is_one_line_and_no_file(refused: Refused, tmp_path: Path) -> None:
    raw, out = tmp_path / "flat.png", tmp_path / "grid.yaml"
    write_image(np.full((400, 500), 90, np.uint8), raw)
    assert "flat.png: shows no micro-images" in refused("camera", "from-image", raw, "--out", out)
    assert not out.exists()


def test_another_suffix_is_refused(refused: Refused, tmp_path: Path) -> None:
    assert "end it in .yaml" in refused("camera", "from-image", tmp_path / "raw.png", "--out", tmp_path / "grid.xml")
