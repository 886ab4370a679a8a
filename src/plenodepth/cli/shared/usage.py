"""A wrong command line said in one line, as all other bad input is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.main import get_command

# Typer names this one of its errors only; its base stands for all that can be wrong with a command line.
UsageError: type[Any] = typer.BadParameter.__base__ or typer.BadParameter

OUR_WORDS = {"Value error, ": "", "Input should be ": "needs "}


def usage_line(error: Any, app: typer.Typer, program: str, arguments: Sequence[str]) -> str:
    """What is wrong and which help tells more. Empty for a group without a command: its help has been printed."""
    if type(error).__name__ == "NoArgsIsHelpError":  # a class that Typer keeps to itself
        return str(error.format_message())
    message = " ".join(error.format_message().split()).rstrip(".")
    for theirs, ours in OUR_WORDS.items():
        message = message.replace(theirs, ours)
    help_of = " ".join([program, *_command_words(app, arguments)])
    return f"{message[:1].lower()}{message[1:]} (see {help_of} --help)"


def _command_words(app: typer.Typer, arguments: Sequence[str]) -> list[str]:
    """The words of the command line that name the command: `camera show`. Not every error knows its command."""
    words: list[str] = []
    command: Any = get_command(app)
    for argument in arguments:
        command = getattr(command, "commands", {}).get(argument)
        if command is None:
            break
        words.append(argument)
    return words
