"""Every name on the API page exists, and what the front door and the rooms offer is on the page."""

import re
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path

import pytest
from documented_names import find_name

import plenodepth

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
TARGETS = re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
ROOMS = [
    "geometry",
    "camera",
    "raw",
    "depth",
    "metric",
    "render",
    "calib",
    "evaluate",
    "sim",
    "sim.scenes",
    "view.figures",
    "batch",
]


def test_every_target_exists() -> None:
    missing = [target for target in TARGETS if not find_name(target)]
    assert not missing


def test_no_target_is_there_twice() -> None:
    assert sorted(TARGETS) == sorted(set(TARGETS))


@pytest.mark.parametrize("name", plenodepth.__all__)
def test_the_front_door_is_documented(name: str) -> None:
    assert f"plenodepth.{name}" in TARGETS


@pytest.mark.parametrize("room", ROOMS)
def test_functions_and_classes_of_a_room_are_documented(room: str) -> None:
    module = import_module(f"plenodepth.{room}")
    offered = [name for name in module.__all__ if isfunction(getattr(module, name)) or isclass(getattr(module, name))]
    assert offered
    assert not set(offered) - {target.rsplit(".", 1)[1] for target in TARGETS}
