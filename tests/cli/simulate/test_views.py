"""plenodepth simulate views: a grid, the views of a folder, and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Refused, Run

from plenodepth.camera import load_views
from plenodepth.io import read_image

SCENE = "plenodepth_scene: 1\nobjects: [{kind: sphere, radius: 60, position: [0, 0, 800]}]\n"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "ball.yaml"
    path.write_text(SCENE)
    return path


def test_a_grid_of_views_and_the_same_again(succeeds: Run, scene: Path, tmp_path: Path) -> None:
    first = ("simulate", "views", scene, "--camera", "r12-mini", "--grid", "2x1", "--scale", 8, "--samples", 1)
    assert "2 views in" in succeeds(*first, "--out", tmp_path / "a").out
    again = succeeds(
        "simulate", "views", scene, "--like", tmp_path / "a", "--out", tmp_path / "b", "--samples", 1, "--json"
    )
    assert again.json["views"] == ["view-00-00", "view-00-01"]
    assert (tmp_path / "a" / "views.json").read_bytes() == (tmp_path / "b" / "views.json").read_bytes()
    assert len(load_views(tmp_path / "b")) == 2
    for name in again.json["views"]:
        assert (read_image(tmp_path / "a" / f"{name}.png") == read_image(tmp_path / "b" / f"{name}.png")).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--grid", "5"], "--grid: is '5'"),
        (["--grid", "3x3", "--span", "0.9"], "span: of 0.9"),
        (["--scale", "9999"], "scale"),
        (["--samples", "0"], "samples"),
        (["--like", "nowhere"], "nowhere"),
        (["--like", "nowhere", "--camera", "r12-e"], "leave out --camera"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, scene: Path, tmp_path: Path, options: list[str], words: str) -> None:
    assert words in refused("simulate", "views", scene, "--out", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()
