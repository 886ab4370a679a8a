"""The guard of a reproduction's figures, and the quick reproduction that it guards."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import pytest
from reproductions import reproduction

from plenodepth.errors import InputError
from plenodepth.studies.reproduction.guard import (
    compare,
    expectations_of,
    figures,
    read_expectations,
    write_expectations,
)
from plenodepth.studies.reproduction.run import reproduce
from plenodepth.studies.reproduction.study import Study

EXPECTATIONS = Path(__file__).parents[2] / "expectations" / "reproduction-quick.json"


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Any]:
    return reproduction(tmp_path)


def test_results_meet_the_expectations_made_of_them(results: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "expectations.json"
    write_expectations(results, path)
    expectations = read_expectations(path)
    assert compare(results, expectations) == []
    assert set(expectations["figures"]) == set(figures(results))
    assert {"relative/r12-a/BLADE", "relative/a, b, c/aware", "scale/r12-c/BLADE", "absolute/calib/B/C/S"} <= set(
        expectations["figures"]
    )


def test_a_figure_that_gets_worse_or_vanishes_is_a_violation(results: dict[str, Any]) -> None:
    expectations = expectations_of(results, margin=0.1)
    worse = copy.deepcopy(results)
    worse["experiments"]["relative"]["values"]["datasets"]["r12-b"]["BLADE"]["mean"] *= 1.3
    (violation,) = compare(worse, expectations)
    assert violation.startswith("relative/r12-b/BLADE: ")
    assert " is above " in violation
    gone = copy.deepcopy(results)
    gone["experiments"]["absolute"]["values"]["scenes"]["calib"]["B/C/S"]["median"] = None
    del gone["experiments"]["scale"]["values"]["datasets"]["r12-a"]["BLADE"]
    assert [line.split(":")[0] for line in compare(gone, expectations)] == ["scale/r12-a/BLADE", "absolute/calib/B/C/S"]
    with pytest.raises(InputError, match="has no value"):
        expectations_of(gone)


def test_a_figure_that_gets_far_better_asks_for_new_expectations(results: dict[str, Any]) -> None:
    expectations = expectations_of(results)
    better = copy.deepcopy(results)
    better["experiments"]["absolute"]["values"]["means"]["B/C/U"] /= 2
    assert "write new expectations" in compare(better, expectations)[0]
    expectations["figures"]["absolute/all scenes/B/C/U"]["low"] = None
    assert compare(better, expectations) == []


def test_experiments_that_did_not_run_are_left_out_but_other_settings_are_not(results: dict[str, Any]) -> None:
    expectations = expectations_of(results)
    alone = {**results, "experiments": {"scale": results["experiments"]["scale"]}}
    assert compare(alone, expectations) == []
    assert compare({**results, "seed": 1}, expectations) == ["seed is 1, expectations are for 0"]


def test_expectations_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_expectations(tmp_path / "none.json")


@pytest.mark.slow
def test_the_quick_reproduction_reaches_what_it_did(tmp_path: Path) -> None:
    cores = os.cpu_count() or 1
    study = Study(tmp_path, quick=True, threads=cores, processes=min(cores, 4))
    assert compare(reproduce(study), read_expectations(EXPECTATIONS)) == []
