"""Runs that are killed at any moment, and places that take no results: the next run completes what is missing."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import psutil
import pytest
from processes import PLENODEPTH, finish, kill_group, scheduler_and_workers, start
from shots import CAMERA, everything, results, write_clip, write_shots

from plenodepth.batch import read_manifest

pytestmark = pytest.mark.slow

NAMES = ["a b", "höhe 深度", "[red]x[red]", "new\nline", "'quoted' \"twice\"", "-dash", "p%20&<b>"]


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults") / "shots"
    for name, path in zip(NAMES, write_shots(folder, len(NAMES)), strict=True):
        path.rename(folder / f"{name}.png")
    return folder


@pytest.fixture(scope="module")
def undisturbed(shots: Path) -> Path:
    out = shots.parent / "undisturbed"
    code, _, err = finish(start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 1))
    assert (code, err) == (0, "")
    assert {path.name for path in out.iterdir() if path.is_dir()} == set(NAMES)
    return out


@pytest.mark.parametrize("seed", range(20))
def test_a_driver_killed_at_a_random_moment_and_again_in_the_next_run(
    shots: Path, undisturbed: Path, tmp_path: Path, seed: int
) -> None:
    out, moment = tmp_path / "out", random.Random(seed)
    command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 1)
    before = set[str]()
    for _ in range(3):
        run = start(*command)
        time.sleep(moment.uniform(0.5, 5.0))
        run.kill()
        kill_group(run)
        made = {path.name for path in out.glob("*") if path.is_dir() and not path.name.startswith(".")}
        assert before <= made  # what was done stays
        before = made
    assert finish(start(*command))[0] == 0
    assert results(out) == results(undisturbed)
    assert everything(out) == everything(undisturbed)


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"HOME": "/nowhere"}], ids=["LC_ALL=C", "no HOME"])
def test_names_of_all_kinds_whatever_the_environment(
    shots: Path, undisturbed: Path, tmp_path: Path, variables: dict[str, str]
) -> None:
    out = tmp_path / "out"
    command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 2)
    assert finish(start(*command, **variables))[0] == 0
    assert results(out) == results(undisturbed)
    assert everything(out) == everything(undisturbed)


def test_a_second_run_beside_the_first(shots: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 1)
    first = start(*command)
    while not (out / ".batch-lock").exists():
        time.sleep(0.02)
    code, text, err = finish(start(*command))
    assert (code, text, err.count("\n")) == (2, "", 1)
    assert f"another run is at work in it (process {first.pid} on " in err
    assert finish(first)[0] == 0
    assert results(out) == results(undisturbed)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_folder_that_takes_no_files(shots: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o500)
    code, text, err = finish(start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out))
    assert (code, text, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"plenodepth: {out}: cannot be written")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_fails_frames_and_the_next_run_makes_them(
    shots: Path, undisturbed: Path, tmp_path: Path, workers: int
) -> None:
    import shutil
    import subprocess

    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        not shutil.which("mount")
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small disk cannot be mounted here")
    try:
        command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", disk / "out", "--workers", workers)
        code, _, err = finish(start(*command))
        assert code == 2
        assert "No space left" in err
        assert "Traceback" not in err
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        assert finish(start(*command))[0] == 0
        assert results(disk / "out") == results(undisturbed)
        assert everything(disk / "out") == everything(undisturbed)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_the_frames_of_a_video_on_two_processes(shots: Path, tmp_path: Path) -> None:
    clip, out, alone = tmp_path / "clip.mkv", tmp_path / "out", tmp_path / "alone"
    write_clip(clip, sorted(shots.iterdir()))
    assert finish(start(PLENODEPTH, "batch", clip, *CAMERA, "--out", out, "--workers", 2))[0] == 0
    assert finish(start(PLENODEPTH, "depth", clip, *CAMERA, "--out", alone))[0] == 0
    assert {path.rsplit("/", 1)[-1]: data for path, data in results(out).items()} == results(alone)


def test_a_worker_that_stands_still_is_lost_when_it_is_killed(shots: Path, undisturbed: Path, tmp_path: Path) -> None:
    """One that is stopped keeps its frames; killed, others make them."""
    out = tmp_path / "out"
    with scheduler_and_workers(tmp_path, ["--no-nanny"], ["--no-nanny"]) as (address, workers):
        run = start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--scheduler", address)
        while not any(out.glob("[!.]*/")):
            time.sleep(0.02)
        workers[1].send_signal(signal.SIGSTOP)
        time.sleep(3)
        workers[1].kill()
        code, _, err = finish(run)
    assert code == 0, err
    assert results(out) == results(undisturbed)


def test_soak_five_hundred_frames_on_two_processes(tmp_path: Path) -> None:
    shots, out = tmp_path / "shots", tmp_path / "out"
    paths = write_shots(shots, 20)
    for number in range(500 - len(paths)):
        os.link(paths[number % len(paths)], shots / f"more {number}.png")
    shared = set(Path("/dev/shm").iterdir())
    run = start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 2, "--outputs", "depth,cloud")
    driver = psutil.Process(run.pid)
    samples = list[tuple[int, float, int, int]]()  # frames done; MB, threads and open files of all processes
    while run.poll() is None:
        time.sleep(1.0)
        done = sum(1 for _ in out.glob("[!.]*/")) if out.is_dir() else 0
        try:
            processes = [driver, *driver.children(recursive=True)]
            memory = sum(process.memory_info().rss for process in processes) / 1e6
            samples.append((done, memory, *(sum(p) for p in zip(*map(_held, processes), strict=True))))  # type: ignore[arg-type]
        except psutil.Error:
            continue  # one has just ended
    code, text, err = finish(run)
    assert code == 0
    assert "is lost" not in err
    assert "500 made" in text
    assert len(read_manifest(out)) == 500
    settled = [sample for sample in samples if 100 <= sample[0] < 500]
    half = len(settled) // 2
    first, last = (
        [sum(column) / len(part) for column in zip(*part, strict=True)] for part in (settled[:half], settled[half:])
    )
    slope = (last[1] - first[1]) / (last[0] - first[0]) * 1000
    print(f"memory {first[1]:.0f} to {last[1]:.0f} MB: {slope:.0f} kB per frame")
    print(f"threads {first[2]:.1f} to {last[2]:.1f}, files {first[3]:.1f} to {last[3]:.1f}")
    assert slope < 50  # kB per frame, both processes and the driver together
    assert abs(last[2] - first[2]) < 3
    assert abs(last[3] - first[3]) < 5
    assert set(Path("/dev/shm").iterdir()) == shared


def _held(process: psutil.Process) -> tuple[int, int]:
    return process.num_threads(), process.num_fds()
