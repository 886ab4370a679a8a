"""The README's lines run as they stand and in their order: each needs what ships, and what lines before it made."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from commands import Run

from plenodepth.cli.app import command_tree

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
OUTPUTS = ("--out", "--params-out", "--figure")
SUFFIXES = re.compile(r".*\.(png|tiff|yaml|js|xml|csv|json|ply|py)")
# The same lines on small sensors and with fewer rays, so that they take seconds.
SMALLER = {
    "r12-es": "r12-mini",
    "simulate scene": "simulate scene --rays 8",
    "simulate white": "simulate white --rays 8",
    "simulate dataset r12-a": "simulate dataset r12-a --quick --rays 16",
    "9x5:10mm": "9x5:1.372549mm",
}
LONG = ("simulate dataset", "calibrate", "camera convert")  # half a minute all the same


def shell_lines() -> list[list[str]]:
    """The words of all lines in blocks of shell commands."""
    blocks = re.findall(r"^```sh\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    return [shlex.split(line, comments=True) for block in blocks for line in block.replace("\\\n", " ").splitlines()]


LINES = [words for words in shell_lines() if words]
COMMANDS = [words[1:] for words in LINES if words[0] == "plenodepth"]


def python_block() -> str:
    blocks = [block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "estimate_depth" in block]
    assert len(blocks) == 1
    return blocks[0]


def written_by(words: list[str]) -> list[str]:
    """The files and folders that a command writes."""
    written = [value for option, value in pairwise(words) if option in OUTPUTS]
    return [*written, *([words[3]] if words[:2] == ["camera", "convert"] else [])]


def files_in(words: list[str]) -> list[str]:
    """The words that name a file or a folder."""
    return [word for word in words if not word.startswith("-") and ("/" in word or SUFFIXES.fullmatch(word))]


def smaller(words: list[str]) -> list[str]:
    line = " ".join(words)
    for large, small in SMALLER.items():
        line = line.replace(large, small)
    return line.split()


def test_every_file_ships_or_was_made_by_a_line_before() -> None:
    made: list[str] = []
    for words in COMMANDS:
        outputs = written_by(words)
        for name in set(files_in(words)) - set(outputs):
            below = any(Path(name).is_relative_to(output) for output in made)
            assert below or (ROOT / name).is_file(), f"{name} of plenodepth {' '.join(words)}"
        made += outputs
    for name in re.findall(r'(?:load_raw|load_camera|white=)\(?"([^"]+)"', python_block()):
        assert any(Path(name).is_relative_to(output) for output in made), name


def test_every_line_is_a_command_with_all_that_it_needs() -> None:
    assert len(COMMANDS) > 8
    for words in COMMANDS:
        command, rest = typer.main.get_command(command_tree()), list(words)
        while rest and rest[0] in getattr(command, "commands", {}):
            command = command.commands[rest.pop(0)]  # type: ignore[attr-defined]
        if hasattr(command, "commands"):  # a group that is a command, too
            command = command.commands["all"]
        command.make_context(" ".join(words), rest)  # a wrong or missing option is an error


def test_what_is_no_command_of_ours_is_a_target_of_make_or_its_environment() -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for words in LINES:
        if words[0] == "make":
            assert words[1] in targets
        elif words[0] != "plenodepth":
            assert words == ["source", ".venv/bin/activate"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the examples, as a fresh clone has them."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def test_the_quick_lines_run_one_after_another_and_then_those_of_python(succeeds: Run, clone: Path) -> None:
    for words in COMMANDS:
        if not " ".join(words).startswith((*LONG, "reproduce")):
            succeeds(*smaller(words), folder=clone)
    code = python_block()
    for large, small in SMALLER.items():
        code = code.replace(large, small)
    exec(code, {})
    assert {path.suffix for path in (clone / "out").iterdir()} == {".tiff", ".ply", ".json", ".png"}


@pytest.mark.slow
def test_the_lines_that_calibrate_run_one_after_another(succeeds: Run, clone: Path) -> None:
    for words in COMMANDS:
        if " ".join(words).startswith(LONG):
            succeeds(*smaller(words), folder=clone)
    assert {"camera.yaml", "intrinsics.js", "params.js"} <= {path.name for path in clone.iterdir()}
