"""The shell commands that stand in the documentation, block by block.

A block may carry a title, as in ```` ```sh title="needs a GPU" ````. Readers see it above the block. It says why the
tests cannot run the block, and its commands are then only parsed. A line that ends with `# exit code 3` ends with that.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from plenodepth.cli.app import command_tree

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r'^```sh(?: title="([^"\n]*)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
REASONS = ("needs ", "takes ", "runs until ")


@dataclass(frozen=True)
class Line:
    words: tuple[str, ...]
    into: str  # file that what is printed goes to; empty: none
    code: int  # the exit code that it says it has


@dataclass(frozen=True)
class Block:
    title: str  # why it is not run; empty: it is
    lines: tuple[Line, ...]


def blocks(page: Path) -> list[Block]:
    """The blocks of shell commands on a page, in their order."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [Block(title, tuple(map(line, filter(says_something, joined(text))))) for title, text in found]


def joined(text: str) -> list[str]:
    """Lines, with those that a backslash continues made one."""
    return text.replace("\\\n", " ").splitlines()


def says_something(text: str) -> bool:
    return bool(shlex.split(text, comments=True))


def line(text: str) -> Line:
    """A line of shell, taken apart."""
    words = shlex.split(text, comments=True)
    into = words.pop() if ">" in words else ""
    code = re.search(r"# exit code (\d+)", text)
    return Line(tuple(word for word in words if word != ">"), into, int(code[1]) if code else 0)


def spans(page: Path) -> list[list[str]]:
    """The words of commands of ours that stand within sentences: `plenodepth …`."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [shlex.split(span.replace("'", "")) for span in re.findall(r"`(plenodepth [^`]+)`", text)]


def found(words: list[str]) -> tuple[Any, list[str]]:
    """The command or group that the words name, without the program's, and the words after its name."""
    command: Any = typer.main.get_command(command_tree())
    rest = list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    if "all" in getattr(command, "commands", {}) and "--help" not in rest:
        command = command.commands["all"]  # a group that is a command, too
    return command, rest


def require_options(words: list[str]) -> None:
    """Raise if the command or one of its options does not exist."""
    command, rest = found(words)
    if hasattr(command, "commands") and any(not word.startswith("-") for word in rest):
        raise ValueError(f"plenodepth {' '.join(words)}: no such command")
    options = (option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts))
    known = {"-h", "--help", *options}
    unknown = [word for word in rest if re.match("--?[a-z]", word) and word.split("=")[0] not in known]
    if unknown:
        raise ValueError(f"plenodepth {' '.join(words)}: no option {unknown}")


def require_complete(words: list[str]) -> None:
    """Raise if the real command line would not take the words: all options, their types, and what it cannot do without.

    Files need not exist.
    """
    command, rest = found(words)
    require_options(words)
    if not hasattr(command, "commands") and "--help" not in rest:
        command.make_context(" ".join(words), rest)
