"""The program as a whole: help, version, exit codes, and what a shell sees."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from commands import Refused, Run

from plenodepth.version import __version__

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
    ("arguments", "culprit", "command"),
    [
        ("depht raw.png", "'depht'", ""),
        ("--colour", "--colour", ""),
        ("camera shwo r12-e", "'shwo'", " camera"),
        ("camera show", "CAMERA", " camera show"),
        ("camera show r12-e --colour", "--colour", " camera show"),
        ("camera show r12-e --virtual-range 2", "--virtual-range", " camera show"),
        ("camera show r12-e --blur-limit half", "--blur-limit", " camera show"),
        ("camera show r12-e --blur-limit", "--blur-limit", " camera show"),
        ("camera show r12-e --json=yes", "--json", " camera show"),
        ("camera show r12-e upc-s", "upc-s", " camera show"),
        ("camera convert r12-e", "OUT", " camera convert"),
        ("camera convert r12-e a.yaml --format xml", "xml", " camera convert"),
        ("camera check r12-e --features", "--features", " camera check"),
        ("depth raw.png --camera r12-e", "--out", " depth"),
        ("depth raw.png --camera r12-e --out depth --threads few", "--threads", " depth"),
        ("depth raw.png --camera r12-e --out depth --device tpu", "'tpu'", " depth"),
        ("cost raw.png --camera r12-e", "--at", " cost"),
        ("simulate scene scene.yaml", "--out", " simulate scene"),
        ("simulate white --out white --rays many", "--rays", " simulate white"),
        ("simulate dataset --out twin", "NAME", " simulate dataset"),
    ],
)
def test_a_wrong_command_line_is_one_line_that_names_the_culprit_and_the_help(
    refused: Refused, arguments: str, culprit: str, command: str
) -> None:
    message = refused(*arguments.split())
    assert culprit in message
    assert message.endswith(f"(see plenodepth{command} --help)")
    assert message[0].islower()


@pytest.mark.parametrize("group", [(), ("camera",), ("simulate",)])
def test_a_group_without_a_command_lists_its_commands(run: Run, group: tuple[str, ...]) -> None:
    outcome = run(*group)
    assert (outcome.code, outcome.err) == (2, "")
    assert "Commands" in outcome.words


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_full_disk_behind_the_output_is_one_line(option: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [SCRIPT, "camera", "show", "r12-mini", *option], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "plenodepth: No space left on device\n")
