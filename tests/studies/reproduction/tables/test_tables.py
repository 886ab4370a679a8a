"""Results of experiments stand beside the paper's, and what is asked is said to be met or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from reproductions import absolute_values as handmade_absolute
from reproductions import moved, scale_values

from plenodepth.studies.reproduction import published
from plenodepth.studies.reproduction.methods import table_methods
from plenodepth.studies.reproduction.results import (
    AbsoluteResult,
    Check,
    DistortionFit,
    DistortionResult,
    HeldOutBoards,
    MeanAndSpread,
    OtherProgram,
    RelativeErrors,
    RelativeResult,
    ScaleResult,
)
from plenodepth.studies.reproduction.tables import absolute_tables, distortion_tables, relative_tables, scale_tables

ABC = ("r12-a", "r12-b", "r12-c")


def with_mean(mean: float, interval: tuple[float, float]) -> RelativeErrors:
    return replace(moved("r12-a", 0.1, 0), mean=mean, interval=interval)


def relative_result(blade: float, unscaled: float) -> RelativeResult:
    interval = blade - 0.001, blade + 0.001
    methods = {"BLADE": with_mean(blade, interval), "BLADEu": with_mean(unscaled, interval)}
    means = {"BLADE": MeanAndSpread(blade, 0.002), "BLADEu": MeanAndSpread(unscaled, 0.03)}
    return RelativeResult(dict.fromkeys((*ABC, "r12-es"), methods), means)


def named(checks: Sequence[Check], part: str) -> Check:
    (found,) = [check for check in checks if part in check.what]
    return found


def test_relative_errors_stand_beside_the_paper_s() -> None:
    (first, second), checks = relative_tables(relative_result(0.012, 0.09))
    row = dict(zip(first.columns, first.rows[0], strict=False))
    assert row["method"] == "BLADE"
    assert row["r12-a [%]"] == pytest.approx(1.2)
    assert row["difference"] == pytest.approx(1.2 - 4.09)
    assert second.rows[0] == ("BLADE", pytest.approx(1.2), "1.10 … 1.30", 3.78)
    assert named(checks, "r12-es: ε_z, BLADE").met is True
    assert named(checks, "paper's size").met is True


def test_other_programs_stand_below_ours_and_lack_what_they_lack() -> None:
    result = relative_result(0.012, 0.09)
    datasets = {name: dict(methods) for name, methods in result.datasets.items()}
    for name in ABC:
        datasets[name]["RTRX"] = with_mean(0.05, (0.04, 0.06))
    datasets["r12-b"]["X"] = with_mean(0.07, (0.06, 0.08))
    means = {**result.over_a_b_c, "RTRX": MeanAndSpread(0.05, 0.01)}
    others = {"RTRX": OtherProgram("rxlive", ("r12-es left out",)), "X": OtherProgram("x", ())}
    (first, second), checks = relative_tables(RelativeResult(datasets, means, others))
    assert [row[0] for row in first.rows] == ["BLADE", "BLADEu", "RTRX", "X"]
    assert first.rows[2][1:] == (*[pytest.approx(5)] * 3, None, pytest.approx(5), 1.0, 6.76, 3.96,
                                 pytest.approx(5 - 6.76))  # fmt: skip
    assert first.rows[3][1:] == (None, pytest.approx(7), *[None] * 7)
    assert first.note == "RTRX: r12-es left out."
    assert [row[0] for row in second.rows] == ["BLADE", "BLADEu"]
    assert not any("RTRX" in check.what for check in checks)


def test_what_is_not_reached_is_said() -> None:
    _, checks = relative_tables(relative_result(0.03, 0.02))
    assert named(checks, "r12-es: ε_z, BLADE").met is False
    assert named(checks, "paper's size").met is False


def absolute_result(out: Path, worse: str | None = None) -> AbsoluteResult:
    """Every variant as good as its letters say; one may be worse in one scene."""
    size = {"B": 0, "D": 1, "A": -2, "S": 0, "U": 20, "C": 0, "R": 3, "V": 4}
    made = handmade_absolute(out, (4, 5))
    scenes = {
        scene: {
            method.label: replace(
                made.scenes[scene][method.label],
                median=8.0
                + sum(size[letter] for letter in method.label.split("/"))
                + 10 * (method.label == worse and scene == "plane-2"),
            )
            for method in table_methods()
        }
        for scene in published.SCENES
    }
    means = {label: sum(scenes[scene][label].median for scene in scenes) / 5 for label in scenes["calib"]}
    return replace(made, scenes=scenes, means=means)


def test_the_best_variant_counts(tmp_path: Path) -> None:
    (first, _), checks = absolute_tables(absolute_result(tmp_path))
    assert len(first.rows) == 14
    assert all(len(row) == len(first.columns) for row in first.rows)
    best = named(checks, "best variant")
    assert "A/C/S" in best.what
    assert (best.ours, best.met) == (6.0, True)
    assert named(checks, "B is better than D").met is True
    assert named(checks, "S is better than U").met is True


def test_a_single_scene_that_is_worse_is_named(tmp_path: Path) -> None:
    _, checks = absolute_tables(absolute_result(tmp_path, worse="B/C/S"))
    assert named(checks, "B is better than D").met is False
    assert "B/C/S in plane-2" in named(checks, "B is better than D").what
    assert named(checks, "S is better than U").met is True


def test_scale_table_has_gamma_as_the_paper_prints_it() -> None:
    found = replace(
        scale_values().datasets["r12-a"]["BLADE"], order="quadratic", depth_scale=(31.0, 0.62, 79e-5),
        median_before=-0.1, median_after=4e-4, held_out={"quadratic": HeldOutBoards(2e-3, (2e-3,))},
    )  # fmt: skip
    (table,), checks = scale_tables(ScaleResult({"r12-a": {"BLADE": found}}))
    row = dict(zip(table.columns[:10], table.rows[0], strict=False))
    assert row["γ2 · 1e5"] == pytest.approx(79)
    assert row["median error before [%]"] == pytest.approx(-10)
    assert row["boards not seen by the fit [%]"] == pytest.approx(0.2)
    assert table.rows[0][-4:] == (79.709, 0.625, 31.512, -0.014)
    assert checks[0].ours == pytest.approx(0.04)
    assert checks[0].met is True


def test_distortion_stands_in_the_paper_s_units() -> None:
    direct = (24.63e-5, -3.032e-6, 1.095e-8, -11.1e-5, -3.599e-5)
    found = DistortionFit(direct, (0.0,) * 5, rmse_mm=1e-5, largest_mm=1e-4, exact_rmse_mm=0.0, iterations=3)
    (table,), _ = distortion_tables(DistortionResult({"r12-a": found}))
    ours, theirs = table.rows[0][2:-1:2], table.rows[0][3:-1:2]
    assert ours == pytest.approx(theirs)
