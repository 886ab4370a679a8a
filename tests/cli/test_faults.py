"""Runs that are killed, and places that are hostile: the next run completes, with the same results and nothing more."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from board_shots import SETTINGS, board_shots
from processes import LIMIT, PLENODEPTH, finish, kill_group, start, wait_until
from shots import write_shots

from plenodepth.camera import load_plenoptic_camera
from plenodepth.sim.simulate import simulate_white

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="processes and disks of Linux")]

NAME = "a b höhe [red]x&<b>\n'q\""  # of an image: blanks, letters, markup, a new line, quotation marks
TIMES = ("cpu", "date", "seconds", "stages", "time", "took", "wall")  # words of the keys that hold them
OPTICS = ["--sensor", "5.5um", "--focal", "50", "--aperture", "4", "--focus", "450mm"]


@dataclass(frozen=True)
class Case:
    """A command, without its --out, and what it was seen to make."""

    command: list[str]
    out: str
    made: dict[str, Any]
    seconds: float  # of the clock, undisturbed


def files_in(folder: Path) -> dict[str, Any]:
    """Every file and folder by its path, with its content; times in records are left out."""
    return {path.relative_to(folder).as_posix(): _content(path) for path in sorted(folder.rglob("*"))}


def _content(path: Path) -> Any:
    if path.is_dir():
        return None
    if path.suffix == ".json":
        return _without_times(json.loads(path.read_text(encoding="utf-8")))
    return path.read_bytes()


def _without_times(content: Any) -> Any:
    if isinstance(content, dict):
        named = {name: value for name, value in content.items() if not any(word in name for word in TIMES)}
        return {name: _without_times(value) for name, value in named.items()}
    return [_without_times(value) for value in content] if isinstance(content, list) else content


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    (image,) = write_shots(folder, 1)
    image.rename(folder / f"{NAME}.png")
    boards = board_shots(folder)
    simulate_white(4.0, load_plenoptic_camera(boards.camera), folder / "whites" / "f04.0", SETTINGS)
    simulate_white(8.0, load_plenoptic_camera(boards.camera), folder / "whites" / "f08.0", SETTINGS)
    return folder


@pytest.fixture(scope="module")
def cases(inputs: Path) -> dict[str, Case]:
    """Each command with its results when nothing disturbs it."""
    depth = ["depth", str(inputs / f"{NAME}.png"), "--camera", "r12-mini", "--threads", "1"]
    whites = ["--whites", str(inputs / "whites"), *OPTICS]
    commands = {
        "coarse": (depth, "out"),
        "refined": ([*depth, "--refined"], "out"),
        "simulate": (["simulate", "white", "--camera", "r12-mini", "--rays", "40", "--threads", "1"], "out"),
        "calibrate": (["calibrate", "white", *whites, "--lenses", "24x20"], "out"),
    }
    found = {}
    for name, (command, out) in commands.items():
        folder = inputs / "undisturbed" / name
        folder.mkdir(parents=True)
        began = time.monotonic()
        assert finish(start(PLENODEPTH, *command, "--out", out, folder=folder))[0] == 0
        found[name] = Case(command, out, files_in(folder), time.monotonic() - began)
        assert found[name].made
    return found


def completes(case: Case, folder: Path, **variables: str) -> None:
    """A run completes, and the folder holds what it would without a disturbance."""
    code, _, err = finish(start(PLENODEPTH, *case.command, "--out", case.out, folder=folder, **variables))
    assert code == 0, err
    found = files_in(folder)
    assert set(found) == set(case.made)
    assert found == case.made


KINDS = ["coarse", "refined", "simulate", "calibrate"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_random_moments(cases: dict[str, Case], tmp_path: Path, kind: str, seed: int) -> None:
    case, moment = cases[kind], random.Random(f"{kind}{seed}")
    for _ in range(3):
        run = start(PLENODEPTH, *case.command, "--out", case.out, folder=tmp_path)
        time.sleep(moment.uniform(0.3, 1.0) * case.seconds)
        kill_group(run)
    completes(case, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_leaves_nothing(
    cases: dict[str, Case], tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    case = cases[kind]
    run = start(PLENODEPTH, *case.command, "--out", case.out, folder=tmp_path)
    time.sleep(0.7 * case.seconds)
    run.send_signal(number)
    code, _, err = finish(run)
    assert code in (0, 128 + number, -number)  # it may have ended, or not have begun
    assert "Traceback" not in err
    assert not [name for name in files_in(tmp_path) if ".tmp-" in name or ".lock-" in name]
    completes(case, tmp_path)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that holds next to nothing."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk(cases: dict[str, Case], disk: Path, kind: str) -> None:
    case = cases[kind]
    code, out, err = finish(start(PLENODEPTH, *case.command, "--out", case.out, folder=disk))
    assert (code, out) == (2, "")
    assert "No space left on device" in err
    assert "Traceback" not in err
    assert not [name for name in files_in(disk) if ".tmp-" in name or ".lock-" in name]
    subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
    completes(case, disk)


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_that_takes_no_files(cases: dict[str, Case], disk: Path, kind: str) -> None:
    case = cases[kind]
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    code, out, err = finish(start(PLENODEPTH, *case.command, "--out", case.out, folder=disk))
    assert (code, out) == (2, "")
    assert "cannot be written: Read-only file system" in err
    assert "Traceback" not in err
    subprocess.run(["mount", "-o", "remount,rw,size=200m", str(disk)], check=True)
    completes(case, disk)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("variables", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"HOME": "/nowhere"}], ids=["C", "no HOME"])
def test_an_unusual_environment(cases: dict[str, Case], tmp_path: Path, kind: str, variables: dict[str, str]) -> None:
    completes(cases[kind], tmp_path, **variables)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_cache_that_cannot_be_written(cases: dict[str, Case], tmp_path: Path, disk: Path, kind: str) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    out = tmp_path / "out"
    out.mkdir()
    completes(cases[kind], out, NUMBA_CACHE_DIR=str(disk))


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_of_the_output_that_goes_away(cases: dict[str, Case], tmp_path: Path, kind: str) -> None:
    case = cases[kind]
    run = start(PLENODEPTH, *case.command, "--out", case.out, folder=tmp_path)
    assert run.stdout is not None
    run.stdout.close()
    assert run.stderr is not None
    err = run.stderr.read()
    assert run.wait(timeout=LIMIT) in (0, 1)
    assert "Traceback" not in err
    assert files_in(tmp_path) == case.made


def test_a_second_run_beside_the_first_stops(cases: dict[str, Case], tmp_path: Path) -> None:
    long = ["simulate", "white", "--camera", "r12-mini", "--rays", "100000", "--threads", "1"]
    first = start(PLENODEPTH, *long, "--out", "out", folder=tmp_path)
    wait_until(lambda: list(tmp_path.glob(".lock-*")))
    code, text, err = finish(start(PLENODEPTH, *long, "--out", "out", folder=tmp_path))
    kill_group(first)
    assert (code, text) == (2, "")
    assert err == "plenodepth: out: is being written by another run (wait for it, or give another place)\n"
    completes(cases["simulate"], tmp_path)


def test_the_page_of_an_image_with_markup_in_its_name_shows_it_as_text(inputs: Path, tmp_path: Path) -> None:
    image = tmp_path / "<img src=x onerror=alert(1)>&[red].png"
    shutil.copyfile(inputs / f"{NAME}.png", image)
    command = ["depth", image, "--camera", "r12-mini", "--report", "--out", "out"]
    code, out, err = finish(start(PLENODEPTH, *command, folder=tmp_path))
    assert (code, err) == (0, "")
    (page,) = (tmp_path / "out").glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert "&lt;img src=x" in text
    assert "[red]" in out
    assert os.path.basename(image).removesuffix(".png") in out
