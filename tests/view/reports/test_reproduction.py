"""The report of a reproduction: HTML, Markdown and figures say the same, and what is not reached is said."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from reproductions import reproduction

from plenodepth.studies.reproduction.results import Check, ReproductionResult
from plenodepth.view.reports.reproduction import QUICK, check_cells, write_reproduction_report


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture(scope="module")
def result(out: Path) -> ReproductionResult:
    return reproduction(out)


@pytest.fixture(scope="module")
def written(out: Path, result: ReproductionResult) -> list[Path]:
    with pytest.MonkeyPatch.context() as patch:  # the tests of the figures draw them
        patch.setattr("plenodepth.view.reports.page.figure_bytes", lambda figure, *_: repr(figure.axes).encode())
        return write_reproduction_report(result, out)


def plain(page: str) -> str:
    return unescape(re.sub("<[^>]+>", " ", page))


def test_all_files_are_there_and_figures_are_within_the_page(written: list[Path], out: Path) -> None:
    assert written[:2] == [out / "report.html", out / "report.md"]
    assert all(path.stat().st_size > 0 for path in written)
    page = written[0].read_text(encoding="utf-8")
    figures = written[2:]
    shown = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert [b64decode(picture) for picture in shown] == [path.read_bytes() for path in figures]
    assert not re.search(r'(src|href)="(?!data:)', page)
    text = written[1].read_text(encoding="utf-8")
    named = re.findall(r"!\[[^]]*\]\((figures/[^)]+)\)", text)
    assert [out / name for name in named] == figures
    assert {"relative-depth", "relative-depth-means", "scale-errors", "depth-against-truth", "scene-calib"} <= {
        path.stem for path in figures
    }


def test_what_is_not_reached_comes_first_in_plain_words(written: list[Path]) -> None:
    for text in (plain(written[0].read_text(encoding="utf-8")), written[1].read_text(encoding="utf-8")):
        assert "3 of 5 are reached. Not reached:" in text
        assert "same-type blocks < x & y: 5.2 %, asked 4.09 %, the paper has 4.09 %" in text
        assert "does not hold: B is better than D" in text
        assert text.index("Not reached") < text.index("Relative depth: what was done")


def test_both_have_all_experiments_settings_and_calibrations(written: list[Path], result: ReproductionResult) -> None:
    for text in (plain(written[0].read_text(encoding="utf-8")), written[1].read_text(encoding="utf-8")):
        for found in result.experiments.values():
            assert found.title in text
            assert found.text in text
        for said in ("49.8853 ± 0.0021", "3.11.9", "0000000000000001", "quick", "2.103", "-1.987", "21 min"):
            assert said in text


def test_markdown_tables_are_rectangular(written: list[Path]) -> None:
    lines = written[1].read_text(encoding="utf-8").splitlines()
    for line, following in pairwise(lines):
        if line.startswith("|") and following.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == len(re.findall(r"(?<!\\)\|", following))


def test_a_scene_shows_the_papers_two_and_the_best_of_ours_where_there_are_maps(
    written: list[Path], result: ReproductionResult
) -> None:
    values = result.experiments["absolute"].values
    best = min((label for label in values.means if label[0] == "A"), key=values.means.__getitem__)
    text = written[1].read_text(encoding="utf-8")
    assert f"calib: central sub-aperture depth, true and found (B/C/S, B/R/S, {best})" in text
    assert f"figurines-2: central sub-aperture depth, true and found (B/C/S, {best})" in text


@pytest.mark.usefixtures("undrawn_figures")
def test_scenes_without_maps_are_left_out(result: ReproductionResult, tmp_path: Path) -> None:
    written = write_reproduction_report(
        replace(result, experiments={"absolute": result.experiments["absolute"]}), tmp_path
    )
    assert len(written) == 2


@pytest.mark.usefixtures("undrawn_figures")
def test_all_reached_and_nothing_asked_are_said(result: ReproductionResult, tmp_path: Path) -> None:
    alone = replace(result, experiments={"scale": result.experiments["scale"]})
    write_reproduction_report(alone, tmp_path)
    assert "All 1 are reached." in (tmp_path / "report.md").read_text(encoding="utf-8")
    nothing = replace(result, experiments={"distortion": result.experiments["distortion"]})
    write_reproduction_report(nothing, tmp_path)
    assert "Nothing was asked" in (tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn_figures")
def test_a_quick_run_is_compared_with_nothing_and_says_so_once(result: ReproductionResult, tmp_path: Path) -> None:
    experiments = {
        name: replace(found, checks=tuple(check.not_compared for check in found.checks))
        for name, found in result.experiments.items()
    }
    written = write_reproduction_report(replace(result, quick=True, experiments=experiments), tmp_path)
    for text in (plain(written[0].read_text(encoding="utf-8")), written[1].read_text(encoding="utf-8")):
        assert text.count(unescape(QUICK)) == 1
        assert "reached." not in text
        assert "Not reached" not in text
        assert "does not hold" in text


def test_a_check_without_a_limit_has_its_figure_alone() -> None:
    known = Check("x", ours=1.0, paper=None, asked=None, unit="mm", met=None)
    assert check_cells(known) == ["x", "1 mm", "–", "–", "–"]
