"""plenodepth warm-up: after it, no frame waits for a compiler; without it, a line says so."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numba as nb
import numpy as np
import pytest
from commands import COMPILING, PROGRESS
from simulated import scene_shot, white_shot
from vendor_grid import grid_xml

from plenodepth.camera import preset
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.io import read_image, write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings

SCRIPT = Path(sysconfig.get_path("scripts")) / "plenodepth"
DOUBTFUL = 3  # exit code: what so small a frame shows through a vendor's grid is no map to trust
SETTINGS = FrameSettings(RenderSettings(rays=16), SensorSettings())


def command(cache: Path, *arguments: object) -> tuple[str, str]:
    """Stdout and stderr of a command that keeps its kernels in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([SCRIPT, *map(str, arguments)], env=environment, capture_output=True, text=True)
    assert done.returncode in (0, DOUBTFUL), done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
def test_after_it_no_frame_compiles_anything(tmp_path: Path) -> None:
    cache, camera = tmp_path / "cache", preset("r12-mini")
    raw = scene_shot(wall_scene(1000.0, 3, camera), camera, SETTINGS) / "raw.png"
    white = white_shot(4.0, camera, SETTINGS) / "raw.png"
    eight_bits, grid = tmp_path / "eight_bits.png", tmp_path / "grid.xml"
    pixels = read_image(raw)
    colours = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
    write_image((colours // 16).astype(np.uint8), eight_bits)
    grid.write_text(grid_xml())
    shown, _ = command(cache, "warm-up")
    assert COMPILING.match(shown)
    assert "functions compiled" in shown
    again, _ = command(cache, "warm-up")
    assert "nothing had to be compiled" in again
    assert not COMPILING.search(again)
    for refined in ("--coarse", "--refined"):
        for options in (
            (raw, "--camera", "r12-mini"),
            (raw, "--camera", "r12-mini", "--white", white),
            (raw, "--camera", "r12-mini", "--no-blur", "--aperture-model", "off"),
            (raw, "--camera", "r12-mini", "--aperture-model", "slope"),
            (eight_bits, "--camera", grid, "--image-size", "560x404"),
        ):
            _, told = command(cache, "depth", *options, refined, "--out", tmp_path / "out")
            assert not COMPILING.search(told), options


@pytest.mark.slow
def test_without_it_one_line_says_that_the_first_frame_compiles(tmp_path: Path) -> None:
    camera = preset("r12-mini")
    raw = scene_shot(wall_scene(1000.0, 3, camera), camera, SETTINGS) / "raw.png"
    arguments = ("depth", raw, "--camera", "r12-mini", "--out", tmp_path / "out")
    _, told = command(tmp_path / "cache", *arguments)
    assert COMPILING.fullmatch(PROGRESS.sub("", told))
    assert command(tmp_path / "cache", *arguments)[1] == ""


def test_the_line_comes_once_and_only_when_something_is_compiled() -> None:
    def doubled(value: float) -> float:
        return 2 * value

    one, other = nb.njit(doubled), nb.njit(doubled)
    lines = list[str]()
    with compiling_notice(lines.append, refined=False):
        assert lines == []
        assert one(1.5) == other(1.5) == 3
    assert len(lines) == 1
    assert COMPILING.fullmatch(f"{lines[0]}\n")
    with compiling_notice(lines.append, refined=False):
        assert one(1.5) == 3
    assert one(1) == 2  # compiled anew for another type, after the block
    assert len(lines) == 1


def test_a_kernel_is_kept_once_it_was_compiled(tmp_path: Path) -> None:
    code = "from plenodepth.compiling import is_kept; from plenodepth.metric.kernels.sorting import kth_smallest as f;"
    code += "import numpy as np; before = is_kept(f); f(np.zeros(2, np.float32), 0, 1, 0); print(before, is_kept(f))"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]
