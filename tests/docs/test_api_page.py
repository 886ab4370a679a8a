"""Every name on the API page exists, and every name of the front door is on the page."""

import re
from pathlib import Path

import pytest
from documented_names import find_name

import plenodepth

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
TARGETS = re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_target_exists() -> None:
    missing = [target for target in TARGETS if not find_name(target)]
    assert not missing


def test_no_target_is_there_twice() -> None:
    assert sorted(TARGETS) == sorted(set(TARGETS))


@pytest.mark.parametrize("name", plenodepth.__all__)
def test_the_front_door_is_documented(name: str) -> None:
    assert f"plenodepth.{name}" in TARGETS
