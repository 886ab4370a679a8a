"""The site that `make docs` builds opens from its files: every link leads to a file, and to a place in it."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OF_A_SERVER = {"404.html"}  # shown for any address, so its links begin at the server's root


class Page(HTMLParser):
    """The links of a page, and the places in it that links may name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


@pytest.mark.slow
def test_every_link_opens_from_the_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    pages = {path: Page(path) for path in tmp_path.rglob("*.html") if path.name not in OF_A_SERVER}
    assert len(pages) > 10
    dead, followed = [], 0
    for path, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            followed += 1
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            place = unquote(to.fragment)
            known = target.is_file() and (not place or target not in pages or place in pages[target].places)
            if to.path.startswith("/") or not known:
                dead.append(f"{path.name}: {link}")
    assert followed > 1000
    assert not dead


def test_pages_are_files_and_not_folders() -> None:
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(lines)["use_directory_urls"] is False


def pages_of(entries: list[dict[str, Any]]) -> list[str]:
    """The pages that a part of the navigation names, those of its sections included."""
    places = [place for entry in entries for place in entry.values()]
    return [page for place in places for page in (pages_of(place) if isinstance(place, list) else [place])]


def test_every_page_is_in_the_navigation() -> None:
    listed = set(pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "notebooks").glob("*.ipynb")]
    assert listed == {path.relative_to(ROOT / "docs").as_posix() for path in pages}


@pytest.mark.slow
def test_no_page_depends_on_the_theme(tmp_path: Path) -> None:
    """The theme is near its end of life: the pages must build as strictly with the one that MkDocs brings along."""
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert settings["theme"]["name"] == "material"
    settings["theme"] = {"name": "mkdocs", "highlightjs": False}  # that script would be loaded from elsewhere
    for folder in ("docs", "src"):  # settings name them relative to their own file
        (tmp_path / folder).symlink_to(ROOT / folder)
    for plugin in settings["plugins"]:
        if isinstance(plugin, dict) and "mkdocs-jupyter" in plugin:
            plugin["mkdocs-jupyter"]["execute"] = False  # the other build does
    path = tmp_path / "mkdocs.yml"
    path.write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(path), "--site-dir", str(site)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        # Marks of a theme's own that another shows as plain text.
        assert not re.search(r"<p>[^<]*(?:=== |!!! |\?\?\? |\{: |:material-|:octicons-)", text), page.name
