"""Commands in the documentation run as they stand, page by page, in their order; see tests/docs/test_commands.py, too.

A page's folder has the examples, what the page's own commands made, and the reader's files (`documented_files`). What
starts from nothing but these examples (simulations, the quick reproduction) is made once for all pages.
"""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import documented_files
import pytest
from commands import Outcome, Run
from documented_commands import PAGES, ROOT, Line, blocks
from shared_files import shared

SHIPPED = ("examples", "docs")
ONCE = ("simulate", "reproduce")  # commands that take minutes and no file of the reader's
OUTPUTS = ("--out", "--params-out", "--figure", "--work")


def run_lines(page: Path) -> list[Line]:
    """The lines of a page that run here: those of blocks without a title."""
    lines = [line for block in blocks(page) if not block.title for line in block.lines]
    return [line for line in lines if line.words[0] == "plenodepth" or line.words[0] == "python"]


RUN_PAGES = [page for page in PAGES if run_lines(page)]


def written(words: tuple[str, ...]) -> list[str]:
    """What a command writes."""
    outputs = [value for option, value in pairwise(words) if option in OUTPUTS]
    return [*outputs, *([words[4]] if words[1:3] == ("camera", "convert") else [])]


def missing_files(line: Line, folder: Path) -> list[str]:
    """Files of the reader's that a line takes and that are not there yet."""
    taken = [word for word in line.words[1:] if word not in written(line.words) and not (folder / word).exists()]
    names = [name for word in taken if (name := documented_files.known(word))]
    return sorted({name for name in names if not (folder / name).exists()})


def link_shipped(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name in SHIPPED:
        (folder / name).symlink_to(ROOT / name)
    return folder


def run_once(line: Line, folder: Path, run: Run) -> Outcome | None:
    """Run a line that no file of the page changes, or link what an equal line has written before."""
    output = Path(line.words[line.words.index("--out") + 1])
    outcome: list[Outcome] = []
    place = shared(
        documented_files.key_of(" ".join(line.words)),
        lambda path: outcome.append(run(*line.words[1:], folder=link_shipped(path))),
    )
    (folder / output).parent.mkdir(parents=True, exist_ok=True)
    (folder / output).symlink_to(place / output)
    return outcome[0] if outcome else None


def run_line(line: Line, folder: Path, run: Run) -> None:
    if line.words[0] == "python":
        subprocess.run([sys.executable, *line.words[1:]], cwd=folder, check=True, capture_output=True)
        return
    for output in written(line.words):
        (folder / output).parent.mkdir(parents=True, exist_ok=True)
    once = line.words[1] in ONCE and not (folder / line.words[line.words.index("--out") + 1]).exists()
    outcome = run_once(line, folder, run) if once else run(*line.words[1:], folder=folder)
    if outcome is not None:
        assert outcome.code == line.code, f"{' '.join(line.words)}: {outcome.err}"
        if line.into:
            (folder / line.into).write_text(outcome.out, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: page.name)
def test_a_pages_commands_run_one_after_another(
    page: Path, run: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = link_shipped(tmp_path)
    for line in run_lines(page):
        for name in missing_files(line, folder):
            documented_files.put(name, folder, lambda: request.getfixturevalue("real_data"))
        run_line(line, folder, run)
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        if page.name in ("README.md", "tour.md"):
            exec(code, {})  # in that folder: the last command has gone there


def test_pages_that_promise_files_have_them() -> None:
    """Lines of README and tour need what ships, and what lines before them made; nothing of the reader's own."""
    for page in (path for path in PAGES if path.name in ("README.md", "tour.md")):
        made: list[str] = []
        for line in run_lines(page):
            outputs = [*written(line.words), *([line.into] if line.into else [])]
            for word in set(line.words[1:]) - set(outputs):
                if "/" in word or re.search(r"\.(png|tiff|yaml|js|xml|csv|json|ply|py)$", word):
                    below = any(Path(word).is_relative_to(output) for output in made)
                    assert below or (ROOT / word).is_file(), f"{word} of {' '.join(line.words)}"
            made += outputs
