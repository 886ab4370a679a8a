"""`import plenodepth`: quick, complete, and its examples run as they stand."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
from board_shots import board_shots
from simulated import scene_shot, white_shot

import plenodepth
from plenodepth.sim import FrameSettings, RenderSettings

ROOT = Path(__file__).parents[1]
SCENE = ROOT / "examples" / "scenes" / "plane.yaml"
SHOT = FrameSettings(RenderSettings(rays=32))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name, as the working directory."""
    camera = plenodepth.preset("r12-mini")
    plenodepth.save_camera(camera, tmp_path / "camera.yaml")
    shot = scene_shot(plenodepth.load_scene(SCENE), camera, SHOT)
    for source, name in (
        (shot / "raw.png", "raw.png"),
        (shot / "lens_depth.tiff", "lens_depth.tiff"),
        (white_shot(4.0, camera, SHOT) / "raw.png", "white.png"),
        (SCENE, "scene.yaml"),
    ):
        (tmp_path / name).write_bytes(source.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add_boards(desk: Path) -> None:
    """Board images, and the white image that goes with them."""
    shots = board_shots(desk)
    (desk / "white.png").write_bytes(shots.white.read_bytes())


def test_the_import_loads_no_large_package() -> None:
    """So that it takes no time; with NumPy alone it would be a tenth of a second more."""
    code = "import plenodepth, sys; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "plenodepth" in loaded
    assert not {"numpy", "scipy", "numba", "cv2", "matplotlib", "pydantic", "typer"} & {*loaded}


def test_every_name_is_there() -> None:
    assert set(plenodepth.__all__) <= set(dir(plenodepth))
    for name in plenodepth.__all__:
        assert getattr(plenodepth, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'estimate_dept'"):
        plenodepth.estimate_dept  # noqa: B018


EXAMPLES = [name for name in plenodepth.__all__ if callable(getattr(plenodepth, name)) and name[0].islower()]


@pytest.mark.parametrize("name", ["plenodepth", *EXAMPLES])
def test_examples_in_docstrings_run(name: str, desk: Path) -> None:
    thing = plenodepth if name == "plenodepth" else getattr(plenodepth, name)
    text = thing.__doc__ or ""
    if name == "calibrate":
        add_boards(desk)
    example = doctest.DocTestParser().get_doctest(text, {"plenodepth": plenodepth}, name, None, None)
    assert example.examples, f"the docstring of {name} has no example"
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert not result.failed, "".join(said)
