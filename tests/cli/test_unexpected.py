"""What nobody has foreseen, and signals: one line, an exit code of its own, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import Run

PROGRAM = [sys.executable, "-c", "from plenodepth.cli import main; main()"]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A camera file whose reader has a fault."""

    def fail(text: str, file: Path) -> object:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("plenodepth.camera.files.any_format.parse_yaml", fail)
    path = tmp_path / "camera.yaml"
    path.write_text("plenodepth_camera: 1\n")
    return path


def test_an_error_that_nobody_has_foreseen_is_one_line_with_the_file(run: Run, broken: Path) -> None:
    outcome = run("camera", "show", broken)
    assert (outcome.code, outcome.out) == (70, "")
    report = "(report it with what --debug prints)"
    assert outcome.err == f"plenodepth: {broken}: unexpected error, ZeroDivisionError: division by zero {report}\n"


@pytest.mark.parametrize("place", [0, 1, 3])
def test_its_traceback_is_there_for_those_who_ask(run: Run, broken: Path, place: int) -> None:
    words = ["camera", "show", str(broken)]
    outcome = run(*words[:place], "--debug", *words[place:])
    assert outcome.code == 70
    assert outcome.err.startswith("Traceback")
    assert outcome.err.splitlines()[-1].startswith("plenodepth: ")


def test_bad_input_is_one_line_with_its_traceback_before_it(run: Run, tmp_path: Path) -> None:
    outcome = run("camera", "show", tmp_path / "none.yaml", "--debug")
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback")
    assert outcome.err.splitlines()[-1].startswith("plenodepth: ")


def test_memory_that_is_not_there_is_said_so(run: Run, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str, file: Path) -> object:
        raise MemoryError

    monkeypatch.setattr("plenodepth.camera.files.any_format.parse_yaml", fail)
    outcome = run("camera", "show", broken)
    assert (outcome.code, outcome.err) == (70, f"plenodepth: {broken}: needs more memory than there is\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_run_and_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    command = ["simulate", "white", "--camera", "r12-mini", "--rays", "100000", "--out", str(tmp_path / "new" / "out")]
    with subprocess.Popen([*PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and not list(tmp_path.glob("new/.tmp-*")):
            time.sleep(0.05)
        time.sleep(0.3)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (128 + number, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_run_that_ignores_the_end_of_its_terminal_goes_on(tmp_path: Path) -> None:
    ignoring = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from plenodepth.cli import main; main()"
    command = ["simulate", "white", "--camera", "r12-mini", "--rays", "30", "--out", str(tmp_path / "out")]
    with subprocess.Popen([sys.executable, "-c", ignoring, *command], stdout=subprocess.DEVNULL) as running:
        while running.poll() is None and not list(tmp_path.glob(".tmp-*")):
            time.sleep(0.05)
        running.send_signal(signal.SIGHUP)
        assert running.wait(timeout=60) == 0
    assert (tmp_path / "out" / "raw.png").is_file()
