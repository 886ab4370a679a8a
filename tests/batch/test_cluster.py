"""Frames on workers in processes of their own: the same results, whoever makes them and whoever dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from processes import PLENODEPTH, children, finish, kill_group, scheduler_and_workers, start, wait_until
from shots import CAMERA, everything, results, write_shots

from plenodepth.batch import read_manifest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("batch") / "shots"
    write_shots(folder, 12)
    return folder


@pytest.fixture(scope="module")
def undisturbed(shots: Path) -> Path:
    out = shots.parent / "undisturbed"
    code, _, err = finish(start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 1))
    assert (code, err) == (0, "")
    return out


def same(out: Path, undisturbed: Path) -> None:
    """Results byte for byte, nothing extra, nothing lost."""
    assert results(out) == results(undisturbed)
    assert everything(out) == everything(undisturbed)
    assert not any(entry.error for entry in read_manifest(out).values())


def frames_done(out: Path) -> int:
    return sum(1 for path in out.glob("shot*"))


@pytest.mark.parametrize("options", [[], ["--ship"]], ids=["by path", "shipped"])
def test_two_processes_make_what_one_makes(shots: Path, undisturbed: Path, tmp_path: Path, options: list[str]) -> None:
    out = tmp_path / "out"
    code, text, err = finish(start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 2, *options))
    assert (code, err) == (0, "")
    assert "12 made" in text
    same(out, undisturbed)
    assert len({entry.worker for entry in read_manifest(out).values()}) == 2


def test_ctrl_c_stops_with_one_line(shots: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 2)
    wait_until(lambda: frames_done(out) >= 2)
    began = children(run.pid)
    os.killpg(run.pid, signal.SIGINT)
    code, text, err = finish(run)
    assert (code, text) == (130, "")
    assert err.count("\n") == 1
    assert err.startswith("plenodepth: stopped after ")
    assert everything(out) == {
        "manifest.jsonl",
        "frames.csv",
        *(p for p in everything(undisturbed) if (out / p).exists()),
    }
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in began))
    assert finish(start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 2))[0] == 0
    same(out, undisturbed)


def kill_worker(run: int) -> None:
    workers = [process for process in children(run) if b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()]
    os.kill(workers[-1], signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("after", [0, 1, 5, 11])
def test_a_driver_that_is_killed_loses_at_most_what_was_being_made(
    shots: Path, undisturbed: Path, tmp_path: Path, after: int, workers: int
) -> None:
    out = tmp_path / "out"
    command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", workers)
    run = start(*command)
    wait_until(lambda: frames_done(out) >= after and out.is_dir())
    began = children(run.pid)
    os.kill(run.pid, signal.SIGKILL)
    there = frames_done(out)
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in began))
    kill_group(run)
    code, text, err = finish(start(*command))
    assert (code, err) == (0, "")
    assert f"{there} there already" in text
    same(out, undisturbed)


@pytest.mark.parametrize("after", [1, 5])
def test_a_worker_that_is_killed_is_replaced(shots: Path, undisturbed: Path, tmp_path: Path, after: int) -> None:
    out = tmp_path / "out"
    run = start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--workers", 2)
    wait_until(lambda: frames_done(out) >= after)
    kill_worker(run.pid)
    code, text, err = finish(run)
    assert code == 0
    assert "12 made" in text
    assert err.count(" is lost\n") == err.count("\n") == 1
    same(out, undisturbed)


def test_workers_started_by_hand_of_which_one_is_killed(shots: Path, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with scheduler_and_workers(tmp_path, ["--no-nanny"], ["--no-nanny"]) as (address, workers):
        run = start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--scheduler", address)
        wait_until(lambda: frames_done(out) >= 3)
        workers[0].kill()
        code, text, err = finish(run)
        assert (code, err.count("\n")) == (0, 1)
        assert "worker 0" in err
        assert "12 made" in text
        same(out, undisturbed)


def test_a_frame_that_a_worker_cannot_make_is_tried_on_another(shots: Path, tmp_path: Path) -> None:
    out, mixed = tmp_path / "out", tmp_path / "mixed"
    mixed.mkdir()
    for path in sorted(shots.iterdir())[:3]:
        os.link(path, mixed / path.name)
    (mixed / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n, no more")
    code, text, _ = finish(start(PLENODEPTH, "batch", mixed, *CAMERA, "--out", out, "--workers", 2, "--retries", 1))
    assert code == 2
    assert "3 made, 0 there already, 1 failed" in text
    assert read_manifest(out)["bad"].attempts == 2


OTHER = "import plenodepth.version as v; v.__version__ = '9.9'"


def test_a_worker_of_another_version_gets_no_frame(shots: Path, tmp_path: Path) -> None:
    out, preload = tmp_path / "out", tmp_path / "other.py"
    preload.write_text(OTHER)
    with scheduler_and_workers(tmp_path, [], ["--preload", str(preload)]) as (address, _):
        code, text, err = finish(start(PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--scheduler", address))
    assert code == 0
    assert "12 made" in text
    assert {entry.worker for entry in read_manifest(out).values()} == {"worker 0"}
    if err:  # all frames may have been made before it came
        assert err.endswith("is refused: plenodepth 9.9, not 0.1.0\n")


def test_only_workers_with_the_resource_are_used(shots: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with scheduler_and_workers(tmp_path, [], ["--resources", "GPU=1"]) as (address, _):
        command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", out, "--scheduler", address)
        assert finish(start(*command, "--resource", "GPU"))[0] == 0
    assert {entry.worker for entry in read_manifest(out).values()} == {"worker 1"}


def test_a_scheduler_that_is_not_there_is_one_line(shots: Path, tmp_path: Path) -> None:
    command = (PLENODEPTH, "batch", shots, *CAMERA, "--out", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:1")
    code, text, err = finish(start(*command))
    assert (code, text, err.count("\n")) == (2, "", 1)
    assert err.startswith("plenodepth: scheduler tcp://127.0.0.1:1: cannot be reached")
    assert not (tmp_path / "out").exists()
