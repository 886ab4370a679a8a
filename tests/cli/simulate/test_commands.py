"""plenodepth simulate scene, white and dataset: results, JSON, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Refused, Run

from plenodepth.camera import load_plenoptic_camera
from plenodepth.io import read_image
from plenodepth.sim import RealOptics, Stop, load_optics
from plenodepth.sim.scenes.twins import twin

SCENE = """
plenodepth_scene: 1
objects:
  - kind: rectangle
    name: wall
    size: [300, 300]
    position: [0, 0, 900]
    texture: {kind: noise, seed: 1, cell: 20}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "plane.yaml"
    path.write_text(SCENE)
    return path


def test_a_scene_becomes_a_folder(succeeds: Run, scene: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = succeeds(
        "simulate", "scene", scene, "--camera", "r12-mini", "--rays", 2, "--out", out, "--json", "--lidar"
    ).json
    assert result["rays"] > 400_000
    assert result["cpu_seconds"] > 0
    assert result["seconds"] > 0
    assert (out / "scene.yaml").read_text() == SCENE
    names = {path.name for path in out.iterdir()}
    assert {"raw.png", "depth.tiff", "virtual_depth.tiff", "camera.yaml", "lidar.ply", "info.json"} <= names
    assert read_image(out / "raw.png").max() > 255  # 12 bits


@pytest.mark.parametrize(
    ("options", "shape", "largest"),
    [
        (["--bits", "8"], (404, 560, 3), 255),
        (["--mono", "--bits", "10"], (404, 560), 1023),
        (["--bayer", "GRBG"], (404, 560), 4095),
    ],
)
def test_the_sensor_is_as_asked(
    succeeds: Run, tmp_path: Path, options: list[str], shape: tuple[int, ...], largest: int
) -> None:
    out = tmp_path / "white"
    succeeds("simulate", "white", "--camera", "r12-mini", "--aperture", 2.8, "--rays", 2, "--out", out, *options)
    raw = read_image(out / "raw.png")
    assert raw.shape == shape
    assert largest / 2 < raw.max() <= largest


def test_real_lenses_come_from_a_file_and_are_kept_beside_the_image(succeeds: Run, scene: Path, tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("plenodepth_optics: 1\nexit_pupil: {distance: -15}\nclear_aperture: 0.9\n")
    options = ("--camera", "r12-mini", "--rays", 1, "--optics", tmp_path / "real.yaml")
    for command in (("scene", scene), ("white",)):
        out = tmp_path / command[0]
        succeeds("simulate", *command, "--out", out, *options)
        assert load_optics(out / "optics.yaml") == RealOptics(exit_pupil=Stop(-15.0), clear_aperture=0.9)
        kept = json.loads((out / "info.json").read_text())["render"]["optics"]
        assert kept == {"exit_pupil": {"distance": -15.0, "offset": [0.0, 0.0]}, "clear_aperture": 0.9}
        assert load_plenoptic_camera(out / "camera.yaml").main_lens.pupil_distance == -15


def test_an_image_without_real_lenses_has_no_file_of_them(succeeds: Run, tmp_path: Path) -> None:
    succeeds("simulate", "white", "--camera", "r12-mini", "--rays", 1, "--out", tmp_path / "white")
    assert not (tmp_path / "white" / "optics.yaml").exists()


def test_a_wrong_key_of_real_lenses_is_named(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("plenodepth_optics: 1\nclear_apperture: 0.9\n")
    message = refused("simulate", "white", "--out", tmp_path / "out", "--optics", tmp_path / "real.yaml")
    assert "real.yaml: clear_apperture: unknown key (did you mean clear_aperture?)" in message
    assert "r99.yaml" in refused("simulate", "dataset", "r12-a", "--optics", "r99.yaml", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


FEW = ("white/f04.00", "scenes/calib", "scenes/plane-1", "scenes/figurines-2")


@pytest.mark.parametrize("folders", [FEW, pytest.param(None, marks=pytest.mark.slow)], ids=["few", "all"])
def test_a_dataset_is_made_and_then_kept(
    succeeds: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: tuple[str, ...] | None
) -> None:
    if folders is not None:
        plan = twin("r12-elp20", quick=True)
        plan = replace(plan, frames=tuple(frame for frame in plan.frames if frame.folder in folders))
        monkeypatch.setattr("plenodepth.sim.dataset.twin", lambda *_, **__: plan)
        monkeypatch.setattr("plenodepth.sim.dataset.LEAST_BEAMS", 1000)
    options = ("simulate", "dataset", "r12-elp20", "--quick", "--rays", 1, "--out", tmp_path / "elp", "--json")
    assert succeeds(*options).json["made"] == (10 if folders is None else 4)
    assert succeeds(*options).json["made"] == 0
    if folders is not None:
        assert succeeds(*options, "--fresh").json["made"] == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rays", "0"], "rays"),
        (["--bits", "9"], "bit_depth"),
        (["--bayer", "RGBG"], "bayer"),
        (["--aperture", "-1"], "f_number"),
        (["--camera", "r99"], "r99"),
        (["--threads", "0"], "threads"),
    ],
)
def test_bad_options_are_named(refused: Refused, scene: Path, tmp_path: Path, options: list[str], words: str) -> None:
    out = tmp_path / "out"
    arguments = {"--camera": "r12-mini", "--rays": "2"} | dict(zip(options[::2], options[1::2], strict=True))
    message = refused("simulate", "scene", scene, "--out", out, *(word for pair in arguments.items() for word in pair))
    assert words in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plane.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[0, 0, 900]", "[0, 0, -900]", "behind the camera"),
        ("[0, 0, 900]", "[0, 0, 40]", "focal length"),
        ("{kind: noise, seed: 1, cell: 20}", "{kind: image, file: nowhere.png}", "nowhere.png"),
        ("size: [300, 300]", "size: [300, 300]\n    colour: red", "colour"),
        ("plenodepth_scene: 1\nobjects:", "plenodepth_scene: 1\nobjects: []\nthings:", "things"),
        ("kind: rectangle", "kind: mesh\n    file: nowhere.obj", ""),
    ],
)
def test_bad_scenes_leave_nothing_behind(
    refused: Refused, scene: Path, tmp_path: Path, old: str, new: str, words: str
) -> None:
    scene.write_text(SCENE.replace(old, new))
    message = refused("simulate", "scene", scene, "--camera", "r12-mini", "--rays", 1, "--out", tmp_path / "out")
    assert words in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plane.yaml"]


def test_missing_scene_unknown_dataset_and_unwritable_folder(refused: Refused, scene: Path, tmp_path: Path) -> None:
    assert "gone.yaml" in refused("simulate", "scene", tmp_path / "gone.yaml", "--out", tmp_path / "out")
    assert "r12-z" in refused("simulate", "dataset", "r12-z", "--out", tmp_path / "out")
    inside = scene / "out"
    assert "cannot be written" in refused("simulate", "white", "--camera", "r12-mini", "--rays", 1, "--out", inside)


@pytest.mark.parametrize("command", ["scene", "white"])
def test_both_kinds_of_image_have_the_same_sensor(succeeds: Run, command: str) -> None:
    words = succeeds("simulate", command, "--help").words
    for option in ("--bits", "--mono", "--bayer", "--no-noise", "--exposure", "--gain", "--lens-gain-sigma"):
        assert option in words


@pytest.mark.parametrize("command", ["scene", "white", "dataset"])
def test_help_has_an_example(succeeds: Run, command: str) -> None:
    assert f"plenodepth simulate {command} " in succeeds("simulate", command, "--help").words
