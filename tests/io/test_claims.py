"""Two runs that write the same: the second stops. What a killed run has left holds nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.io.claims import claimed, claimed_each

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")

HOLDS = """
import sys, time
from plenodepth.io.claims import claimed
with claimed(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def refused(path: Path) -> None:
    with pytest.raises(InputError, match="is being written by another run"), claimed(path):
        pytest.fail("the block must not run")


def test_an_output_is_held_by_one_run_at_a_time(tmp_path: Path) -> None:
    with claimed(tmp_path / "frame"):
        refused(tmp_path / "frame")
        with claimed(tmp_path / "other"):
            pass
    with claimed(tmp_path / "frame"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_error_lets_go(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), claimed(tmp_path / "frame"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_several_are_held_or_none(tmp_path: Path) -> None:
    with (
        claimed(tmp_path / "b"),
        pytest.raises(InputError, match=r"b: is being written"),
        claimed_each([tmp_path / "a", tmp_path / "b"]),
    ):
        pytest.fail("the block must not run")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_holds_nothing(tmp_path: Path) -> None:
    with claimed(tmp_path / "none" / "frame"):
        assert list(tmp_path.iterdir()) == []


def test_another_process_is_told_and_its_death_lets_go(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path / "frame"], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    refused(tmp_path / "frame")
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert len(list(tmp_path.iterdir())) == 1
    with claimed(tmp_path / "frame"):
        pass
    assert list(tmp_path.iterdir()) == []
