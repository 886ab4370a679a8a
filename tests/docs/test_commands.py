"""Every command in the documentation is one that the real command line takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from documented_commands import PAGES, REASONS, ROOT, blocks, require_complete, require_options, spans

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
OTHER_PROGRAMS = re.compile(
    r"source \.venv/bin/activate|cd \w+|git clone .*|export \w+=\S+"
    r"|(\.venv/bin/)?(python3 -m )?pip install .*|python (examples|docs)/\w+\.py( .*)?"
)


@every_page
def test_commands_are_complete(page: Path) -> None:
    for words in (list(line.words) for block in blocks(page) for line in block.lines):
        if words[0] == "plenodepth":
            require_complete(words[1:])


@every_page
def test_what_is_no_command_of_ours_installs_or_runs_what_ships(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for words in (line.words for block in blocks(page) for line in block.lines):
        if words[0] == "make":
            assert not {word for word in words[1:] if "=" not in word} - set(targets)
        elif words[0] != "plenodepth":
            assert OTHER_PROGRAMS.fullmatch(" ".join(words)), " ".join(words)
        if words[0] == "python":
            assert (ROOT / words[1]).is_file()


@every_page
def test_what_is_not_run_says_why(page: Path) -> None:
    titles = [block.title for block in blocks(page) if block.title]
    assert not [title for title in titles if not title.startswith(REASONS)]


@every_page
def test_commands_within_sentences_have_options_that_exist(page: Path) -> None:
    for words in spans(page):
        require_options([word for word in words[1:] if word not in ("…", "|")])


@pytest.mark.parametrize(
    "line",
    [
        "depht raw.png --out depth",
        "depth raw.png --out depth --refine",
        "depth raw.png",
        "depth raw.png --out depth --threads many",
        "calibrate --boards boards --board 9x5:10mm --refined --out camera.yaml",
        "camera show",
        "calibrate … --out pose.yaml",
    ],
)
def test_a_command_that_does_not_work_is_noticed(line: str) -> None:
    with pytest.raises((ValueError, typer.BadParameter)):
        require_complete(line.split())
