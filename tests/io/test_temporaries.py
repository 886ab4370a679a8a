"""What killed runs leave is removed, what living ones write is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plenodepth.io import atomic_files, atomic_path
from plenodepth.io.temporaries import PREFIX, is_stale, sweep, temporary_name

WRITES = """
import sys, time
from pathlib import Path
from plenodepth.io import atomic_files, atomic_path
with atomic_path(Path("map.tiff")) as file, atomic_files(Path(".")) as folder:
    (folder / "half").write_text("x")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def writer(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that is writing a file and several files together into `tmp_path`."""
    process = subprocess.Popen([sys.executable, "-c", WRITES], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    yield process  # type: ignore[misc]
    process.kill()
    process.communicate()


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_name_ends_as_the_file_and_is_that_of_a_living_run() -> None:
    name = temporary_name("map.bin.gz")
    assert name.startswith(PREFIX)
    assert name.endswith("map.bin.gz")
    assert not is_stale(name)
    assert temporary_name("a") != temporary_name("a")
    assert len(os.fsencode(temporary_name("é" * 200))) < 255


@pytest.mark.skipif(sys.platform != "linux", reason="told by /proc")
def test_what_a_living_run_writes_stays_and_what_a_killed_one_left_goes(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    assert len(left(tmp_path)) == 2
    with atomic_path(tmp_path / "other"):
        pass
    assert len(left(tmp_path)) == 3
    writer.send_signal(signal.SIGKILL)
    # Not waited for: it is still in the list of processes.
    os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)
    subprocess.run([sys.executable, "-c", f"from plenodepth.io import temporaries as t; t.sweep({str(tmp_path)!r})"])
    assert left(tmp_path) == ["other"]


@pytest.mark.skipif(sys.platform != "linux", reason="told by /proc")
def test_a_number_that_another_process_has_got_since_is_told(tmp_path: Path) -> None:
    machine, process, started = temporary_name().removeprefix(PREFIX).split("-")[:3]
    for name, stale in {
        f"{PREFIX}{machine}-{process}-{started}-0123abcd-a.png": False,
        f"{PREFIX}{machine}-{process}-{int(started) - 1}-0123abcd-a.png": True,
        f"{PREFIX}{machine}-{process}-{int(started) - 1}-0123abcd-a\nb.png": True,
        f"{PREFIX}{int(machine, 16) ^ 1:08x}-{process}-{int(started) - 1}-0123abcd": False,  # of another machine
        f"{PREFIX}0123abcd-a.png": False,
        f"{PREFIX}mine": False,
    }.items():
        assert is_stale(name) is stale
        (tmp_path / name).write_text("x")
    (tmp_path / f"{PREFIX}{machine}-{process}-1-0123abcd" / "below").mkdir(parents=True)
    sweep(tmp_path)
    assert len(left(tmp_path)) == 4
    (tmp_path / f"{PREFIX}{machine}-{process}-1-0123abcd").mkdir()
    with atomic_files(tmp_path):  # which looks once in each folder
        pass
    assert len(left(tmp_path)) == 5


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    sweep(tmp_path / "none")
