"""The program as a whole: help, version, exit codes, and what a shell sees."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from commands import Run

from plenodepth import __version__

COMMANDS = {
    "show": "plenodepth camera show r12-e --figure r12-e.png",
    "convert": "plenodepth camera convert intrinsics.js camera.yaml --params params.js",
    "check": "plenodepth camera check intrinsics.js --features bap.csv --poses poses.js",
}


def test_the_version_is_that_of_the_package(succeeds: Run) -> None:
    assert succeeds("--version").out == f"plenodepth {__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(succeeds: Run, command: str, option: str) -> None:
    assert f"Example: {COMMANDS[command]}" in succeeds("camera", command, option).words


def test_the_help_lists_every_command(succeeds: Run) -> None:
    assert "camera" in succeeds("--help").words
    listed = succeeds("camera", "--help").words
    assert all(command in listed for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ("camera shwo r12-e", "shwo"),
        ("camera show", "CAMERA"),
        ("camera show r12-e --colour", "--colour"),
        ("camera show r12-e --virtual-range 2", "--virtual-range"),
        ("camera show r12-e --blur-limit half", "--blur-limit"),
        ("camera convert r12-e", "OUT"),
        ("camera convert r12-e a.yaml --format xml", "xml"),
    ],
)
def test_a_wrong_command_line_exits_with_2_and_names_the_culprit(run: Run, arguments: str, culprit: str) -> None:
    outcome = run(*arguments.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert "Error" in outcome.err
    assert culprit in outcome.err
    assert "Traceback" not in outcome.err


# --- as a shell sees it -----------------------------------------------------------------------------------------

SCRIPT = Path(sysconfig.get_path("scripts")) / "plenodepth"


def test_the_installed_script_says_bad_input_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("plenodepth_camera: 7\n")
    done = subprocess.run([SCRIPT, "camera", "show", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"plenodepth: {path}: plenodepth_camera: is 7, this version of plenodepth reads 1\n"


def test_greek_letters_are_no_obstacle_where_there_are_none() -> None:
    program = [sys.executable, "-W", "error", "-c", "from plenodepth.cli import main; main()"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*program, "camera", "show", "r12-mini"], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "blur coefficient \\u03ba" in done.stdout


def test_a_reader_that_stops_early_is_no_error() -> None:
    writer = subprocess.Popen([SCRIPT, "camera", "show", "r12-mini"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.close()
    _, err = writer.communicate()
    assert b"Traceback" not in err
