"""How much a command says: `--quiet` and `--verbose`, which every command takes."""

from __future__ import annotations

import inspect
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from enum import Enum
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from plenodepth.errors import InputError
from plenodepth.timing import STARTED
from plenodepth.version import __version__

Command = Callable[..., None]

QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print warnings and errors only (and what --json asks for).")
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also say each step, time and memory, a line each, on stderr.")
]


class Speech(Enum):
    """How much is said."""

    QUIET = "quiet"
    USUAL = "usual"
    VERBOSE = "verbose"


_SPEECH: ContextVar[Speech] = ContextVar("speech", default=Speech.USUAL)


def speech() -> Speech:
    """How much the command that runs is to say."""
    return _SPEECH.get()


def with_speech(command: Command) -> Command:
    """The command with the options `--quiet` and `--verbose`, which hold while it runs."""
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints.get(name, parameter.annotation), kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
    ]
    for name, option in (("quiet", QuietOption), ("verbose", VerboseOption)):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option))

    @wraps(command)
    def speaking(*, quiet: bool, verbose: bool, **values: Any) -> None:
        if quiet and verbose:
            raise InputError("says the opposite of --verbose", field="--quiet", fix="leave one out")
        chosen = Speech.QUIET if quiet else Speech.VERBOSE if verbose else Speech.USUAL
        before = _SPEECH.set(chosen)
        try:
            with _silent(quiet and not values.get("as_json")), _said_at_the_ends(verbose):
                command(**values)
        finally:
            _SPEECH.reset(before)

    speaking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    speaking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return speaking


@contextmanager
def _silent(wanted: bool) -> Iterator[None]:
    """Print nothing on stdout."""
    if not wanted:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield


@contextmanager
def _said_at_the_ends(wanted: bool) -> Iterator[None]:
    """Say what runs, and at the end, also after an error, what that took."""
    if wanted:
        say(f"plenodepth {__version__}, Python {platform.python_version()}, {os.cpu_count()} cores")
    try:
        yield
    finally:
        if wanted:
            wall, cpu, memory = time.perf_counter() - STARTED, time.process_time(), _most_memory()
            say(f"took {wall:.1f} s, {cpu:.1f} CPU-seconds" + (f", at most {memory:.2f} GB" if memory else ""))


def say(line: str) -> None:
    """A line on stderr."""
    print(line, file=sys.stderr, flush=True)


def _most_memory() -> float | None:
    """The most memory that the process has held, GB; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
