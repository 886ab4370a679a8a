"""plenodepth cost: the curve of one micro-image."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Refused, Run
from simulated import scene_shot

from plenodepth.camera import preset
from plenodepth.io import read_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.simulate import FrameSettings


@pytest.fixture
def raw() -> Path:
    camera = preset("r12-mini")
    return scene_shot(wall_scene(1000.0, 3, camera), camera, FrameSettings(RenderSettings(rays=48))) / "raw.png"


def test_the_curve_is_lowest_at_the_estimate(succeeds: Run, raw: Path, tmp_path: Path) -> None:
    result = succeeds(
        "cost", raw, "--camera", "r12-mini", "--at", "12,10", "--figure", tmp_path / "c.png", "--json"
    ).json
    for curve in result.values():
        assert curve["aperture_model"] == "per_pixel"
        values = {v: cost for v, cost in zip(curve["virtual_depth"], curve["cost"], strict=True) if cost is not None}
        assert min(values, key=values.__getitem__) == pytest.approx(curve["estimate"], rel=0.05)
    assert read_image(tmp_path / "c.png").ndim == 3


def test_a_micro_image_that_is_not_there_is_named(refused: Refused, raw: Path, tmp_path: Path) -> None:
    options = ("--camera", "r12-mini", "--figure", tmp_path / "c.png")
    assert "24 × 20" in refused("cost", raw, *options, "--at", "30,2")
    assert "--at" in refused("cost", raw, *options, "--at", "middle")
    assert "black_level" in refused("cost", raw, *options, "--at", "3,2", "--black-level", -1)
    assert list(tmp_path.iterdir()) == []


def test_help_has_an_example(succeeds: Run) -> None:
    assert "--at 88,76" in succeeds("cost", "--help").words
