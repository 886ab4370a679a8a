"""Who gets which frame, how many fit, what Slurm is asked for: what needs no cluster to be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from plenodepth.batch import BatchFrame, Recipe, Slurm
from plenodepth.batch.engines.clients import slurm_options
from plenodepth.batch.engines.sizing import bytes_of_frame, frames_at_a_time, local_workers
from plenodepth.batch.queue import TaskQueue
from plenodepth.batch.recipe import program, unlike
from plenodepth.camera import preset
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.settings_file import SettingsFile
from plenodepth.errors import InputError

GIGABYTE = 1 << 30
R12 = Recipe(preset("r12-es"), ("depth",))


def queue(count: int, retries: int = 1) -> TaskQueue:
    return TaskQueue([BatchFrame(Path(f"{one}.png"), None, f"{one}") for one in range(count)], retries=retries)


def test_a_frame_that_failed_goes_to_another_worker() -> None:
    frames, workers = queue(2), {"a", "b"}
    first = frames.take("a", workers)
    assert first is not None
    assert frames.again(first)
    second = frames.take("a", workers)
    assert second is not None
    assert second is not first
    assert frames.take("a", workers) is None
    assert len(frames) == 1
    assert frames.take("b", workers) is first
    assert not frames.again(first)


def test_a_frame_that_all_workers_failed_goes_to_any_of_them() -> None:
    frames = queue(1)
    task = frames.take("a", {"a"})
    assert task is not None
    assert frames.again(task)
    assert frames.take("a", {"a"}) is task
    assert task.tried_on == ["a", "a"]


def test_a_frame_that_only_waited_at_a_worker_has_not_been_tried() -> None:
    frames = queue(1, retries=0)
    task = frames.take("a", {"a", "b"})
    assert task is not None
    frames.untried(task)
    assert frames.take("b", {"b"}) is task
    assert task.tried_on == ["b"]


def test_processes_are_as_many_as_cores_and_memory_take() -> None:
    assert 0.7 * GIGABYTE < bytes_of_frame(R12) < 1.1 * GIGABYTE
    assert local_workers(8, 64 * GIGABYTE, R12) == 8
    assert local_workers(8, 3 * GIGABYTE, R12) == 3
    assert local_workers(8, 0, R12) == 1
    refined = Recipe(preset("r12-es"), ("depth",), SettingsFile(DepthSettings(refined=True)))
    assert local_workers(8, 3 * GIGABYTE, refined) == 2
    assert frames_at_a_time(4, 0, R12) == 4
    assert frames_at_a_time(4, 2 * GIGABYTE, R12) == 2


@pytest.mark.parametrize("name", ["plenodepth", "sources", "numpy", "numba"])
def test_another_program_is_told_by_each_of_its_parts(name: str) -> None:
    assert unlike(program(), program()) == ""
    assert unlike({**program(), name: "other"}, program())


def test_the_script_of_a_slurm_job_asks_for_what_the_frames_need() -> None:
    options = slurm_options(["queue=short", "walltime=04:00:00", "cores=4", "directives=--gres=gpu:1;--exclusive"])
    script = Slurm(3, options).script(R12).splitlines()
    assert script[0] == "#!/usr/bin/env bash"
    for line in ("-p short", "-t 04:00:00", "-J plenodepth", "--cpus-per-task=4", "--gres=gpu:1", "--exclusive"):
        assert f"#SBATCH {line}" in script
    [memory] = [line for line in script if line.startswith("#SBATCH --mem=")]
    assert memory == "#SBATCH --mem=5G"
    assert "--nthreads 4" in script[-1]


@pytest.mark.parametrize("texts", [["queue"], ["=short"], ["cores=many"], ["cores=0"], ["nonsense=1"]])
def test_wrong_options_of_slurm_are_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match="--slurm-option"):
        Slurm(1, slurm_options(texts)).script(R12)
