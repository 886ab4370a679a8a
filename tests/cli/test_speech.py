"""How much the commands say: --quiet, --verbose, progress on terminals and in log files, colours, completion."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Refused, Run

from plenodepth.cli.app import COMMANDS, command_tree
from plenodepth.cli.shared import progress as shown_progress
from plenodepth.cli.shared.progress import FIRST_LINE, LineProgress, row_progress

PROGRAM = [sys.executable, "-c", "from plenodepth.cli import main; main()"]
COLOUR = re.compile(rb"\x1b\[[0-9;]*(?:3[0-7]|4[0-7]|9[0-7]|38|48)[0-9;]*m")


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def on_a_terminal(*arguments: str, **environment: str) -> bytes:
    """What a program prints, stdout and stderr together, where both are a terminal."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the terminal's last user has left
            break
        if not part:
            break
        printed += part
    os.close(ours)
    assert program.wait() == 0
    return printed


def test_every_command_takes_both_options(succeeds: Run) -> None:
    for words in COMMANDS:
        help_text = succeeds(*words, "--help").words
        assert "--quiet -q" in help_text, words
        assert "--verbose -v" in help_text, words


def test_quiet_prints_nothing_and_does_the_same(succeeds: Run, tmp_path: Path) -> None:
    assert succeeds("camera", "convert", "r12-mini", tmp_path / "loud.yaml").out
    assert succeeds("camera", "convert", "r12-mini", tmp_path / "quiet.yaml", "--quiet").out == ""
    assert (tmp_path / "quiet.yaml").read_bytes() == (tmp_path / "loud.yaml").read_bytes()


def test_quiet_prints_the_json_that_is_asked_for(succeeds: Run) -> None:
    assert succeeds("camera", "show", "r12-mini", "-q", "--json").json["camera"]["name"] == "r12-mini"


def test_errors_are_said_to_the_quiet_too(refused: Refused) -> None:
    assert "r13" in refused("camera", "show", "r13", "--quiet")


def test_quiet_and_verbose_together_are_refused(refused: Refused) -> None:
    assert refused("camera", "show", "r12-e", "-q", "-v") == "--quiet: says the opposite of --verbose (leave one out)"


def test_verbose_says_what_runs_each_step_and_what_it_took(run: Run, tmp_path: Path) -> None:
    outcome = run("simulate", "white", "--camera", "r12-mini", "--rays", "4", "--out", tmp_path / "white", "--verbose")
    assert outcome.code == 0
    first, *steps, last = outcome.err.splitlines()
    assert re.fullmatch(r"plenodepth \S+, Python \S+, \d+ cores", first)
    assert re.fullmatch(r" +\d+\.\d s  white image", steps[0])
    assert re.fullmatch(r"took \d+\.\d s, \d+\.\d CPU-seconds, at most \d+\.\d\d GB", last)
    assert "million rays" in outcome.out


def test_verbose_says_what_it_took_after_an_error_too(run: Run) -> None:
    lines = run("camera", "show", "r13", "-v").err.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("took ")
    assert lines[2].startswith("plenodepth: ")


# --- progress ---------------------------------------------------------------------------------------------------


def test_a_log_file_gets_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LineProgress(clock)
    lines.frame(1, 3, "raw2")
    for second in range(101):
        clock.now = 100.0 + second
        lines(second, 400)
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 10
    assert err[0] == "2/3 raw2: 2 %, 10 s so far, about 6 min 30 s left"
    assert err[-1] == "2/3 raw2: 25 %, 1 min 40 s so far, about 5 min 00 s left"


def test_a_long_run_does_not_fill_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LineProgress(clock)
    hours = 24
    for minute in range(hours * 60):
        clock.now = 100.0 + 60 * minute
        lines(minute, hours * 60)
    err = capsys.readouterr().err.splitlines()
    assert 30 < len(err) < 100
    assert " h " in err[-1]


def test_a_short_run_leaves_nothing_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LineProgress(clock)
    for part in range(100):
        clock.now = 100.0 + (FIRST_LINE - 0.1) * part / 100
        lines(part, 100)
    lines(0, 0)
    assert capsys.readouterr().err == ""


def test_the_time_left_is_that_of_the_frame_at_hand(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LineProgress(clock)
    lines.frame(0, None, "a")
    clock.now += 100
    lines.frame(1, None, "b")
    clock.now += 10
    lines(50, 100)
    assert capsys.readouterr().err == "2 b: 50 %, 1 min 50 s so far, about 10 s left\n"


def test_the_time_left_is_that_of_the_pass_over_the_frame(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LineProgress(clock)
    lines.frame(0, 1, "raw")
    for second in range(8):
        clock.now = 100.0 + second
        lines(second, 8)
    lines(0, 100)
    clock.now += 10
    lines(50, 100)
    assert capsys.readouterr().err == "raw: 50 %, 17 s so far, about 10 s left\n"


def test_no_carriage_returns_where_colours_are_forced_upon_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(shown_progress, "FIRST_LINE", 0.0)
    with row_progress("rows") as bar:
        bar(1, 2)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("rows: 50 %")
    assert not {"\r", "\x1b"} & set(printed.err)


def test_a_terminal_gets_a_bar_that_is_gone_at_the_end(tmp_path: Path) -> None:
    out = str(tmp_path / "white")
    printed = on_a_terminal("simulate", "white", "--camera", "r12-mini", "--rays", "4", "--out", out)
    assert "━".encode() in printed
    *_, after = printed.split(b"\x1b[2K")  # erases a line
    assert "━".encode() not in after
    assert b"million rays" in after


def test_a_terminal_that_cannot_move_its_cursor_gets_no_bar(tmp_path: Path) -> None:
    out = str(tmp_path / "white")
    printed = on_a_terminal("simulate", "white", "--camera", "r12-mini", "--rays", "4", "--out", out, TERM="dumb")
    assert "━".encode() not in printed
    assert not re.search(rb"\x1b\[[0-9;]*[A-LST]", printed)  # what moves the cursor or erases


@pytest.mark.parametrize("arguments", [("--help",), ("simulate", "white", "--camera", "r12-mini", "--rays", "4")])
def test_no_colour_where_none_is_wanted(arguments: tuple[str, ...], tmp_path: Path) -> None:
    def printed(folder: str, **environment: str) -> bytes:
        more = () if arguments == ("--help",) else ("--out", str(tmp_path / folder))
        return on_a_terminal(*arguments, *more, **environment)

    assert COLOUR.search(printed("coloured"))
    assert not COLOUR.search(printed("plain", NO_COLOR="1"))


# --- completion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("cam", ["camera"]),
        ("camera sh", ["show"]),
        ("depth raw.png --re", ["--refined", "--report"]),
        ("depth raw.png --camera r12-e", ["r12-e", "r12-es"]),
        ("camera show upc", ["upc-s"]),
        ("depth raw.png --device c", ["cpu", "cuda"]),
    ],
)
def test_bash_completes_commands_options_and_presets(typed: str, offered: list[str]) -> None:
    line = f"plenodepth {typed}"
    asked = {"_PLENODEPTH_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(typed.split()))}
    program = [sys.executable, "-c", "import sys; sys.argv[0] = 'plenodepth'; from plenodepth.cli import main; main()"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env={**os.environ, **asked})
    assert (sorted(done.stdout.split()), done.stderr) == (offered, "")


def test_the_help_tells_how_to_install_completion_and_the_exit_codes(succeeds: Run) -> None:
    words = succeeds("--help").words
    assert "--install-completion" in words
    for code in ("0 done", "2 bad input", "3 a map", "70 an error", "130 Ctrl-C"):
        assert code in words


def test_whatever_is_printed_can_be_had_as_json() -> None:
    import typer

    tree = typer.main.get_command(command_tree())
    without = []
    for words in COMMANDS:
        command = tree
        for word in words:
            command = command.commands[word]  # type: ignore[attr-defined]
        if not any("--json" in parameter.opts for parameter in command.params):
            without.append(words)
    assert without == [("view",)]  # a server, which prints its address
