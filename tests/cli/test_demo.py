"""plenodepth demo: from nothing to depth."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from commands import Run

from plenodepth.io import read_float_map, read_image
from plenodepth.studies.demo import demo_camera

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo.py"

pytestmark = pytest.mark.slow


def test_the_demo_simulates_estimates_and_compares(succeeds: Run, tmp_path: Path) -> None:
    printed = succeeds("demo", "--quick", "--out", tmp_path / "demo").out
    found = read_float_map(tmp_path / "demo" / "coarse" / "raw.depth.tiff")
    truth = read_float_map(tmp_path / "demo" / "scene" / "lens_depth.tiff")
    error = np.abs(found / truth - 1)
    assert f"median error {100 * np.nanmedian(error):.1f} %" in printed
    assert np.nanmedian(error) < 0.02
    (line,) = (line for line in printed.splitlines() if line.startswith("look around"))
    words = line.removeprefix("look around").split()
    assert words[:3] == ["plenodepth", "view", f"{tmp_path}/demo/coarse"]
    assert all(Path(word).exists() for word in words if word.startswith("/"))
    assert len([word for word in words if word.startswith("/")]) == 4
    assert read_image(tmp_path / "demo" / "demo.png").shape[1] > 1000
    assert "Depth of raw" in (tmp_path / "demo" / "coarse" / "raw.html").read_text(encoding="utf-8")


def test_the_example_is_the_same_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_path(str(EXAMPLE))["main"](tmp_path, quick=True)
    assert "median error" in capsys.readouterr().out
    assert (tmp_path / "demo.png").stat().st_size > 100_000


def test_the_camera_of_the_quick_demo_is_a_part_of_the_other() -> None:
    whole, part = demo_camera(), demo_camera(quick=True)
    assert part.sensor.width < whole.sensor.width / 3
    assert part.main_lens == whole.main_lens
