"""The short programs in examples/ are short, and run on simulated frames."""

from pathlib import Path
from runpy import run_path

import pytest

import plenodepth
from plenodepth.sim import FrameSettings, RenderSettings, simulate_dataset

EXAMPLES = Path(__file__).parents[2] / "examples"
CAMERA = "r12-mini"
MOST_LINES = 40


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scene and a white image, as `plenodepth simulate` makes them, of few rays."""
    folder, camera = tmp_path_factory.mktemp("frames"), plenodepth.preset(CAMERA)
    settings = FrameSettings(RenderSettings(rays=8))
    plenodepth.simulate_scene(EXAMPLES / "scenes" / "plane.yaml", camera, folder / "scene", settings)
    plenodepth.simulate_white(None, camera, folder / "white", settings)
    return folder


@pytest.mark.parametrize("name", ["depth", "calibration", "evaluation"])
def test_an_example_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < MOST_LINES


def test_depth_writes_what_the_command_writes(frames: Path, tmp_path: Path) -> None:
    main = run_path(str(EXAMPLES / "depth.py"))["main"]
    main(str(frames / "scene" / "raw.png"), CAMERA, str(frames / "white" / "raw.png"), str(tmp_path))
    assert {path.suffix for path in tmp_path.iterdir()} == {".tiff", ".ply", ".png", ".json"}


def test_evaluation_prints_small_differences(frames: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_path(str(EXAMPLES / "evaluation.py"))["main"](str(frames / "scene"), CAMERA, str(frames / "white" / "raw.png"))
    difference = float(capsys.readouterr().out.split()[1])
    assert difference < 20  # mm, of 900


@pytest.mark.slow
def test_calibration_saves_a_camera(tmp_path: Path) -> None:
    simulate_dataset("r12-a", tmp_path / "twin", quick=True, rays=16)
    main = run_path(str(EXAMPLES / "calibration.py"))["main"]
    main(str(tmp_path / "twin" / "boards"), "9x5:1.372549mm", str(tmp_path / "twin" / "white"), str(tmp_path / "out"))
    assert plenodepth.load_camera(tmp_path / "out" / "camera.yaml").name == "calibrated"
