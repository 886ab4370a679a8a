"""Processes that work ahead: what they do is on disk, what they say and what goes wrong reaches the caller."""

from __future__ import annotations

import json
from operator import methodcaller
from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.studies.reproduction.sources import source_of
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import Crew, Task


def test_tasks_are_done_and_progress_is_told(tmp_path: Path) -> None:
    said: list[tuple[int, int, str]] = []
    study = Study(tmp_path, processes=2, progress=lambda *message: said.append(message))
    with Crew(study) as crew:
        crew.work_ahead([Task(Study.folder, (name,)) for name in ("one", "two", "three")])
        assert {path.name for path in (tmp_path / "work").iterdir()} == {"one", "two", "three"}
        crew.work_ahead([Task(methodcaller("progress", done, 3, "working"), ()) for done in range(3)])
    assert sorted(said) == [(0, 3, "working"), (1, 3, "working"), (2, 3, "working")]


def test_an_error_of_a_worker_is_that_of_the_caller(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="is no dataset"),
        Crew(Study(tmp_path, processes=2)) as crew,
    ):
        crew.work_ahead([Task(Study.folder, ("one",)), Task(source_of, ("r12-z",))])


def test_an_error_stops_the_others_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="is no dataset"),
        Crew(Study(tmp_path, quick=True, processes=2)) as crew,
    ):
        crew.work_ahead([Task(source_of, (name,)) for name in ("r12-a", "r12-z", "r12-b")])
    for name in ("r12-a", "r12-b"):
        manifest = tmp_path / "work" / "twins" / name / "manifest.json"
        assert not manifest.is_file() or not json.loads(manifest.read_text())["complete"]
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".tmp")]


def test_one_process_does_nothing_ahead(tmp_path: Path) -> None:
    with Crew(Study(tmp_path)) as crew:
        crew.work_ahead([Task(Study.folder, (name,)) for name in ("one", "two")])
    assert not list(tmp_path.iterdir())
