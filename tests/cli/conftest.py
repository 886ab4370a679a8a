"""The command line, run inside the test's own process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import COLOURS, COMPILING, PROGRESS, Outcome, Refused, Run

from plenodepth.cli import main


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """``run("camera", "show", "r12-e")`` as a shell would, in a folder if one is given."""
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*arguments: object, folder: str | Path = ".") -> Outcome:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["plenodepth", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        out, err = (COLOURS.sub("", text) for text in capsys.readouterr())
        err = PROGRESS.sub("", COMPILING.sub("", err))  # whether the kernels are on disk depends on who ran before
        assert isinstance(code, int)
        return Outcome(code, out, err)

    return run_command


@pytest.fixture
def succeeds(run: Run) -> Run:
    """As `run`; the exit code is 0 and nothing is on stderr."""

    def run_command(*arguments: object, folder: str | Path = ".") -> Outcome:
        outcome = run(*arguments, folder=folder)
        assert outcome.code == 0, outcome.err
        assert outcome.err == ""
        return outcome

    return run_command


@pytest.fixture
def refused(run: Run) -> Refused:
    """Runs a command with bad input: exit code 2, nothing on stdout, one line on stderr, which is returned."""

    def run_command(*arguments: object, folder: str | Path = ".") -> str:
        outcome = run(*arguments, folder=folder)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("plenodepth: ")
        assert outcome.err.count("\n") == 1
        return outcome.err.removeprefix("plenodepth: ").rstrip("\n")

    return run_command
