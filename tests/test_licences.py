"""Every pinned package has its licence in docs/licences.md, and none that every user gets is under the GPL."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest
from licences import ROOT, licence_of, needed_by, pinned
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = (ROOT / "docs/licences.md").read_text(encoding="utf-8")
LISTED = dict(re.findall(r"^\| (?!package )([a-z0-9-]+) \| (.+?) \| .+? \|$", PAGE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GPL = re.compile(r"(?<!L)(?:GPL|GNU (?:Affero )?General)", re.IGNORECASE)  # the LGPL is none


def test_the_list_is_that_of_the_pins() -> None:
    assert sorted(LISTED) == sorted(pinned()), "after `make lock`, add the licences of new packages"


@pytest.mark.parametrize("name", pinned())
def test_the_licence_is_that_of_the_package(name: str) -> None:
    found = licence_of(name)
    if found is None:
        pytest.skip("is not installed on this system")
    assert found, "says nothing of its licence: read it, and add it to BY_HAND"
    assert LISTED[name] == found


def test_nothing_that_every_user_gets_is_under_the_gpl() -> None:
    wanted = [Requirement(line) for line in PROJECT["dependencies"]]
    names = {canonicalize_name(one.name) for one in wanted if one.marker is None or one.marker.evaluate()}
    everything = names | set().union(*(needed_by(name, frozenset()) for name in names))
    assert {"numpy", "numba", "llvmlite", "mdurl"} <= everything  # those that they need, too
    assert not [name for name in everything if GPL.search(LISTED.get(name) or licence_of(name) or "")]


def test_the_gpl_is_told_from_the_lgpl() -> None:
    assert GPL.search("GPL-3.0-only")
    assert GPL.search("GNU General Public License v3 (GPLv3)")
    assert not GPL.search("LGPL-2.1-or-later")
    assert not GPL.search("GNU Lesser General Public License v3 (LGPLv3)")


def test_a_package_of_ours_says_its_licence() -> None:
    assert (metadata.metadata("plenodepth").get("License-Expression") or "BSD-3-Clause") == "BSD-3-Clause"
