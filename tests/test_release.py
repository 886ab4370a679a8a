"""What a release is made of: one version, its changes, whom to cite."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

from plenodepth.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).name == "version.py"
    assert "version" not in CITATION  # it would be a second one
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)


def test_the_changes_have_a_heading_for_each_release_the_newest_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", text, re.MULTILINE)
    assert len(headings) == len(re.findall(r"^## ", text, re.MULTILINE))
    names = [name for name, _ in headings]
    assert names[0] == "Unreleased"
    assert all(date for name, date in headings if name != "Unreleased")
    released = [tuple(map(int, name.split("."))) for name in names[1:]]
    prepared = tuple(int(part) for part in re.findall(r"\d+", __version__))
    assert [prepared, *released][int(prepared in released) :] == sorted({prepared, *released}, reverse=True)


def test_the_citation_names_the_paper_and_us() -> None:
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    assert CITATION["authors"] == [{"name": PROJECT["project"]["authors"][0]["name"]}]
    assert CITATION["license"] == PROJECT["project"]["license"]
    paper = CITATION["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Labussière", "Teulière", "Ait-Aider"]
    from plenodepth.camera.presets import SOURCE

    assert paper["title"] in SOURCE
