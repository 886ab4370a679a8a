"""Results of experiments stand beside the paper's, and what is asked is said to be met or not."""

from __future__ import annotations

from typing import Any

import pytest

from plenodepth.studies.reproduction import published
from plenodepth.studies.reproduction.methods import table_methods
from plenodepth.studies.reproduction.tables import tables


def relative_values(blade: float, unscaled: float) -> dict[str, Any]:
    found = {"mean": blade, "interval": [blade - 0.001, blade + 0.001]}
    datasets = {
        name: {"BLADE": found, "BLADEu": {**found, "mean": unscaled}} for name in ("r12-a", "r12-b", "r12-c", "r12-es")
    }
    means = {"BLADE": {"mean": blade, "spread": 0.002}, "BLADEu": {"mean": unscaled, "spread": 0.03}}
    return {"datasets": datasets, "over_a_b_c": means}


def named(checks: list[dict[str, Any]], part: str) -> dict[str, Any]:
    (found,) = [check for check in checks if part in check["what"]]
    return found


def test_relative_errors_stand_beside_the_paper_s() -> None:
    (first, second), checks = tables.relative_tables(relative_values(0.012, 0.09))
    row = dict(zip(first["columns"], first["rows"][0], strict=False))
    assert row["method"] == "BLADE"
    assert row["r12-a [%]"] == pytest.approx(1.2)
    assert row["difference"] == pytest.approx(1.2 - 4.09)
    assert second["rows"][0] == ["BLADE", pytest.approx(1.2), "1.10 … 1.30", 3.78]
    assert named(checks, "r12-es: ε_z, BLADE")["met"] is True
    assert named(checks, "paper's size")["met"] is True


def test_other_programs_stand_below_ours_and_lack_what_they_lack() -> None:
    values = relative_values(0.012, 0.09)
    for name in ("r12-a", "r12-b", "r12-c"):
        values["datasets"][name]["RTRX"] = {"mean": 0.05, "interval": [0.04, 0.06]}
    values["datasets"]["r12-b"]["X"] = {"mean": 0.07, "interval": [0.06, 0.08]}
    values["over_a_b_c"]["RTRX"] = {"mean": 0.05, "spread": 0.01}
    values["others"] = {"RTRX": {"notes": ["r12-es left out"]}, "X": {"notes": []}}
    (first, second), checks = tables.relative_tables(values)
    assert [row[0] for row in first["rows"]] == ["BLADE", "BLADEu", "RTRX", "X"]
    assert first["rows"][2][1:] == [*[pytest.approx(5)] * 3, None, pytest.approx(5), 1.0, 6.76, 3.96,
                                    pytest.approx(5 - 6.76)]  # fmt: skip
    assert first["rows"][3][1:] == [None, pytest.approx(7), *[None] * 7]
    assert first["note"] == "RTRX: r12-es left out."
    assert [row[0] for row in second["rows"]] == ["BLADE", "BLADEu"]
    assert not any("RTRX" in check["what"] for check in checks)


def test_what_is_not_reached_is_said() -> None:
    _, checks = tables.relative_tables(relative_values(0.03, 0.02))
    assert named(checks, "r12-es: ε_z, BLADE")["met"] is False
    assert named(checks, "paper's size")["met"] is False


def absolute_values(worse: str | None = None) -> dict[str, Any]:
    """Every variant as good as its letters say; one may be worse in one scene."""
    size = {"B": 0, "D": 1, "A": -2, "S": 0, "U": 20, "C": 0, "R": 3}
    scenes: dict[str, Any] = {}
    for scene in published.SCENES:
        scenes[scene] = {}
        for method in table_methods():
            median = 8.0 + sum(size[letter] for letter in method.label.split("/"))
            if method.label == worse and scene == "plane-2":
                median += 10
            bad = {"1 %": 20.0, "2 %": 10.0, "5 %": 2.0}
            scenes[scene][method.label] = {
                "q25": 2.0, "median": median, "q75": 20.0, "bias": 0.5, "mean": 9.0, "completeness": 60.0, "bad": bad,
            }  # fmt: skip
    means = {label: sum(scenes[scene][label]["median"] for scene in scenes) / 5 for label in scenes["calib"]}
    return {"scenes": scenes, "means": means}


def test_the_best_variant_counts() -> None:
    (first, _), checks = tables.absolute_tables(absolute_values())
    assert len(first["rows"]) == 12
    assert all(len(row) == len(first["columns"]) for row in first["rows"])
    best = named(checks, "best variant")
    assert "A/C/S" in best["what"]
    assert (best["ours"], best["met"]) == (6.0, True)
    assert named(checks, "B is better than D")["met"] is True
    assert named(checks, "S is better than U")["met"] is True


def test_a_single_scene_that_is_worse_is_named() -> None:
    _, checks = tables.absolute_tables(absolute_values(worse="B/C/S"))
    assert named(checks, "B is better than D")["met"] is False
    assert "B/C/S in plane-2" in named(checks, "B is better than D")["what"]
    assert named(checks, "S is better than U")["met"] is True


def test_scale_table_has_gamma_as_the_paper_prints_it() -> None:
    record = {
        "order": "quadratic", "depth_scale": [31.0, 0.62, 79e-5], "median_before": -0.1, "median_after": 4e-4,
        "median_size_after": 1e-3, "held_out": {"quadratic": {"median": 2e-3}},
    }  # fmt: skip
    (found,), checks = tables.scale_tables({"datasets": {"r12-a": {"BLADE": record}}})
    row = dict(zip(found["columns"][:10], found["rows"][0], strict=False))
    assert row["γ2 · 1e5"] == pytest.approx(79)
    assert row["median error before [%]"] == pytest.approx(-10)
    assert found["rows"][0][-4:] == [79.709, 0.625, 31.512, -0.014]
    assert checks[0]["ours"] == pytest.approx(0.04)
    assert checks[0]["met"] is True


def test_distortion_stands_in_the_paper_s_units() -> None:
    found = {"direct": [24.63e-5, -3.032e-6, 1.095e-8, -11.1e-5, -3.599e-5], "inverse": [0.0] * 5, "rmse_mm": 1e-5}
    (result,), _ = tables.distortion_tables({"datasets": {"r12-a": found}})
    ours, theirs = result["rows"][0][2:-1:2], result["rows"][0][3:-1:2]
    assert ours == pytest.approx(theirs)
