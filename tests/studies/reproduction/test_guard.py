"""The guard of a reproduction's figures, and the quick reproduction that it guards."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reproductions import reproduction

from plenodepth.errors import InputError
from plenodepth.studies.reproduction.guard import (
    check_expectations,
    expectations_of,
    figures,
    load_expectations,
    save_expectations,
)
from plenodepth.studies.reproduction.results import AbsoluteResult, RelativeResult, ReproductionResult, ScaleResult
from plenodepth.studies.reproduction.run import reproduce
from plenodepth.studies.reproduction.study import Study

EXPECTATIONS = Path(__file__).parents[2] / "expectations" / "reproduction-quick.json"


@pytest.fixture
def results(tmp_path: Path) -> ReproductionResult:
    return reproduction(tmp_path)


def test_results_meet_the_expectations_made_of_them(results: ReproductionResult, tmp_path: Path) -> None:
    path = tmp_path / "expectations.json"
    save_expectations(expectations_of(results), path)
    expectations = load_expectations(path)
    assert expectations == expectations_of(results)
    assert check_expectations(results, expectations) == []
    assert set(expectations.figures) == set(figures(results))
    assert {"relative/r12-a/BLADE", "relative/a, b, c/aware", "scale/r12-c/BLADE", "absolute/calib/B/C/S"} <= set(
        expectations.figures
    )


def changed(results: ReproductionResult, experiment: str, **values: Any) -> ReproductionResult:
    """The same results with other values of one experiment."""
    found = results.experiments[experiment]
    return replace(
        results,
        experiments={**results.experiments, experiment: replace(found, values=replace(found.values, **values))},
    )


def test_a_figure_that_gets_worse_or_vanishes_is_a_violation(results: ReproductionResult) -> None:
    expectations = expectations_of(results, margin=0.1)
    relative = results.experiments["relative"].values
    assert isinstance(relative, RelativeResult)
    blade = relative.datasets["r12-b"]["BLADE"]
    with_worse = {**relative.datasets["r12-b"], "BLADE": replace(blade, mean=1.3 * blade.mean)}
    worse = changed(results, "relative", datasets={**relative.datasets, "r12-b": with_worse})
    (violation,) = check_expectations(worse, expectations)
    assert violation.startswith("relative/r12-b/BLADE: ")
    assert " is above " in violation
    absolute, scale = results.experiments["absolute"].values, results.experiments["scale"].values
    assert isinstance(absolute, AbsoluteResult)
    assert isinstance(scale, ScaleResult)
    calib = absolute.scenes["calib"]
    without_median = {**calib, "B/C/S": replace(calib["B/C/S"], median=float("nan"))}
    gone = changed(results, "absolute", scenes={**absolute.scenes, "calib": without_median})
    without_blade = {label: found for label, found in scale.datasets["r12-a"].items() if label != "BLADE"}
    gone = changed(gone, "scale", datasets={**scale.datasets, "r12-a": without_blade})
    violations = check_expectations(gone, expectations)
    assert [line.split(":")[0] for line in violations] == ["scale/r12-a/BLADE", "absolute/calib/B/C/S"]
    with pytest.raises(InputError, match="has no value"):
        expectations_of(gone)


def test_a_figure_that_gets_far_better_asks_for_new_expectations(results: ReproductionResult) -> None:
    expectations = expectations_of(results)
    absolute = results.experiments["absolute"].values
    assert isinstance(absolute, AbsoluteResult)
    better = changed(results, "absolute", means={**absolute.means, "B/C/U": absolute.means["B/C/U"] / 2})
    assert "write new expectations" in check_expectations(better, expectations)[0]
    name = "absolute/all scenes/B/C/U"
    open_below = replace(expectations.figures[name], low=None)
    assert check_expectations(better, replace(expectations, figures={**expectations.figures, name: open_below})) == []


def test_experiments_that_did_not_run_are_left_out_but_other_settings_are_not(results: ReproductionResult) -> None:
    expectations = expectations_of(results)
    alone = replace(results, experiments={"scale": results.experiments["scale"]})
    assert check_expectations(alone, expectations) == []
    assert check_expectations(replace(results, seed=1), expectations) == ["seed is 1, expectations are for 0"]


def test_expectations_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_expectations(tmp_path / "none.json")


@pytest.mark.slow
def test_the_quick_reproduction_reaches_what_it_did(tmp_path: Path) -> None:
    cores = os.cpu_count() or 1
    study = Study(tmp_path, quick=True, threads=cores, processes=min(cores, 4))
    assert check_expectations(reproduce(study), load_expectations(EXPECTATIONS)) == []
