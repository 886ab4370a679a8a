"""A reproduction from beginning to end, with datasets that are given instead of simulated and calibrated."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from plenodepth.calib.features import Board, Features
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.camera import preset
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.studies import Study, reproduce
from plenodepth.studies.reproduction import datasets, load_results, plan_stages, run
from plenodepth.studies.reproduction.datasets import BoardShots, Dataset, DatasetCalibration, calibration_stage
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.results import DistortionResult, as_content
from plenodepth.studies.reproduction.sources import BoardImages, Source
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks, check_at_most, check_holds


def given_dataset(study: Study, name: str) -> Dataset:
    camera = shrunk(preset(name), 6, 5)
    optics = Optics(50.0, 4.0, 1000.0, 0.0055, camera.sensor.width, camera.sensor.height)
    board = Board(6, 4, 30.0)
    source = Source(study.out, optics, (), BoardImages(board, ()), None, (), {}, checksum=f"content of {name}")
    none = BoardShots(board, (), study.out / "white.png", cast(Features, None))
    return Dataset(name, source, DatasetCalibration(name, camera, camera, camera, none), none)


def dataset_job(name: str) -> Job[Dataset]:
    return Job(given_dataset, (name,), calibration_stage(name), f"{name}, calibration")


@pytest.fixture(autouse=True)
def _datasets_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "dataset_job", dataset_job)


def test_results_are_returned_written_and_the_same_in_a_second_run(tmp_path: Path) -> None:
    shown: list[tuple[float, float, str]] = []
    study = Study(tmp_path / "out", quick=True)
    first = reproduce(study, ["distortion"], lambda *what: shown.append(what))
    assert list(first.experiments) == ["distortion"]
    values = first.experiments["distortion"].values
    assert isinstance(values, DistortionResult)
    assert list(values.datasets) == ["r12-a", "r12-b", "r12-c", "r12-es"]
    assert first.experiments["distortion"].tables[0].title == "Distortion"
    assert first.checksums["r12-a"] == "content of r12-a"
    assert first.calibration["r12-a"].parameters["main_lens.focal_length"][1] is None
    assert as_content(load_results(study.out / "results.json")) == as_content(first)
    second = reproduce(study, ["distortion"])
    assert second.experiments["distortion"].values == values
    done, total, what = shown[-1]
    simulated = sum(stage.seconds for stage in plan_stages(study, ["distortion"]) if "simulation" in stage.experiment)
    assert done == pytest.approx(total - simulated)  # nothing was simulated here
    assert what == "r12-es, inverse distortion"


def test_what_cannot_be_run_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for study, message in (
        (Study(tmp_path / "out", seed=-1), "--seed"),
        (Study(tmp_path / "out", quick=True, data=tmp_path), "--quick"),
        (Study(tmp_path / "out", data=tmp_path), "has no folder R12-A"),
        (Study(Path(__file__)), "is a file"),
        (Study(Path(__file__) / "out"), "cannot be written"),
    ):
        with pytest.raises(InputError, match=message):
            reproduce(study, ["disparity"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("quick", [False, True])
def test_what_is_asked_is_asked_of_the_full_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    asked = (check_at_most("ε_z", 5.0, "%", paper=4.0, asked=4.0), check_holds("B is better than D", False))
    experiment = run.EXPERIMENTS["distortion"]._replace(tables=lambda values: TablesAndChecks((), asked))
    monkeypatch.setitem(run.EXPERIMENTS, "distortion", experiment)  # type: ignore[arg-type]
    checks = reproduce(Study(tmp_path / "out", quick=quick), ["distortion"]).experiments["distortion"].checks
    assert [check.met for check in checks] == ([None, None] if quick else [False, False])
    assert [check.ours for check in checks] == [5.0, 0.0]
    assert [check.is_statement for check in checks] == [False, True]


def test_a_run_that_fails_leaves_no_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(study: Study, name: str) -> Dataset:
        study.work_folder("maps", name)
        raise InputError("cannot be read")

    monkeypatch.setattr(datasets, "dataset_job", lambda name: Job(fail, (name,), calibration_stage(name), name))
    with pytest.raises(InputError, match="cannot be read"):
        reproduce(Study(tmp_path / "some" / "out", quick=True), ["distortion"])
    assert list(tmp_path.iterdir()) == []
