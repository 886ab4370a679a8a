"""plenodepth reproduce: help, plan and bad input; the run itself is slow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from commands import Refused, Run
from reproductions import reproduction

from plenodepth.camera import preset
from plenodepth.camera.presets import shrunk
from plenodepth.cli.reproduce import _print_checks
from plenodepth.studies.optics import run as study
from plenodepth.studies.optics.effects import EFFECTS


def test_help_has_an_example_and_all_experiments(succeeds: Run) -> None:
    said = succeeds("reproduce", "--help").words
    assert "Example: plenodepth reproduce relative scale --quick" in said
    for name in ("scale", "relative", "absolute", "disparity", "distortion", "confidence", "views"):
        assert name in said
    for option in ("--data", "--twins", "--other", "--optics", "--seed", "--fresh", "--json"):
        assert option in said


def test_what_cannot_be_is_one_line_and_writes_nothing(refused: Refused, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "there are: scale, relative" in refused("reproduce", "relativity", "--out", out)
    assert "--seed" in refused("reproduce", "--seed", -1, "--out", out)
    assert "threads" in refused("reproduce", "--threads", 0, "--out", out)
    assert "is no folder" in refused("reproduce", "--data", tmp_path / "none", "--out", out)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no folder R12-A" in refused("reproduce", "disparity", "--data", empty, "--out", out)
    (empty / "R12-A").mkdir()
    assert "white images" in refused("reproduce", "disparity", "--data", empty, "--out", out)
    assert "--quick" in refused("reproduce", "--data", empty, "--quick", "--out", out)
    assert not out.exists()


def test_results_of_other_programs_that_cannot_be_used_are_one_line_before_the_work(
    refused: Refused, tmp_path: Path
) -> None:
    out, results = tmp_path / "out", tmp_path / "rxlive"
    (results / "r12-a").mkdir(parents=True)
    assert "needs LABEL=FOLDER" in refused("reproduce", "relative", "--other", results, "--out", out)
    assert "is no folder" in refused("reproduce", "relative", "--other", "RTRX=none", "--out", out)
    assert "is for the experiment relative" in refused("reproduce", "scale", "--other", f"R={results}", "--out", out)
    assert "holds no depth map" in refused("reproduce", "relative", "--other", f"RTRX={results}", "--out", out)
    (results / "r12-a" / "depths.csv").write_text("frame,depth\n1,x\n", encoding="utf-8")
    assert "depths.csv: line 2" in refused("reproduce", "relative", "--other", f"RTRX={results}", "--out", out)
    assert not out.exists()


def test_a_folder_that_cannot_be_written_is_refused(refused: Refused, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    assert "is a file" in refused("reproduce", "--out", file)
    assert "cannot be written" in refused("reproduce", "--out", file / "out")


def test_a_study_of_real_lenses_refuses_what_it_has_no_use_for(refused: Refused, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for given in (("relative",), ("--data", tmp_path), ("--other", f"RTRX={tmp_path}")):
        assert "--optics: is a study of its own" in refused("reproduce", *given, "--optics", "--out", out)
    assert "--seed" in refused("reproduce", "--optics", "--seed", -1, "--out", out)
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    assert "is a file" in refused("reproduce", "--optics", "--out", file)
    assert not out.exists()


def test_a_study_of_real_lenses_prints_its_table_and_writes_its_files(
    run: Run, succeeds: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "EFFECTS", {"none": EFFECTS["none"]})
    monkeypatch.setattr(study, "OFF_AXIS", {})
    monkeypatch.setattr(study, "REAL_TWINS", {})
    monkeypatch.setattr(study, "wall_camera", lambda quick: shrunk(preset("r12-es"), 16, 14))
    options = ("reproduce", "--optics", "--quick", "--threads", 1, "--out", tmp_path / "out")
    outcome = run(*options)
    assert outcome.code == 0
    assert "Walls near the axis effect v = 3.5 v = 5 v = 8 v = 12 3.5, Γ" in outcome.words
    assert "optics.json" in outcome.words
    again = succeeds(*options, "--json").json
    assert [row["name"] for row in again["walls"]] == ["none"]
    assert [Path(name).name for name in again["files"]] == ["optics.md", "optics.json", "optics.csv"]
    assert all(Path(name).is_file() for name in again["files"])


@pytest.mark.parametrize("quick", [False, True])
def test_only_a_full_run_is_compared_with_what_is_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quick: bool
) -> None:
    result = replace(reproduction(tmp_path), quick=quick)
    if quick:
        result = replace(
            result,
            experiments={
                name: replace(found, checks=tuple(check.not_compared for check in found.checks))
                for name, found in result.experiments.items()
            },
        )
    _print_checks(result)
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("not reached:") == (0 if quick else 2)
    assert said.count("a quick run is compared with nothing") == (1 if quick else 0)


@pytest.mark.slow
def test_a_quick_run_reports_and_goes_on_where_it_stopped(run: Run, succeeds: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = succeeds("reproduce", "disparity", "distortion", "--quick", "--out", out).words
    assert "r12-a: simulation" in said
    assert "corrected disparity is the better one" in said
    assert "a quick run is compared with nothing" in said
    assert "not reached" not in said
    assert f"report: {out / 'report.html'}" in said.replace(" ", "").replace("report:", "report: ")
    first = (out / "results.json").read_text(encoding="utf-8")
    again = succeeds("reproduce", "disparity", "--quick", "--out", out, "--json").json
    assert list(again["experiments"]) == ["disparity"]
    assert "values" not in again["experiments"]["disparity"]
    assert again["seconds"] < 30
    assert all(Path(name).is_file() for name in again["files"])
    assert '"distortion"' in first
