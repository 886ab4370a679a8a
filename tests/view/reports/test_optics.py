"""The report of a study of real lenses."""

from pathlib import Path

from optics_results import optics_result

from plenodepth.view.reports.optics import write_optics_report


def test_the_report_has_every_row_in_percent(tmp_path: Path) -> None:
    path = write_optics_report(optics_result(), tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert path.name == "optics.md"
    assert "| effect | v = 3.5 | v = 12 | 3.5, Γ | 12, Γ |" in lines
    assert "| none | +0.10 | −0.20 | +0.00 | +0.10 |" in lines
    assert "| rim \\| cat's eye, 13 mm off | −1.23 | – | – | – |" in lines
    assert "| r12-a-real | true | 1.14 | 0.42 | 1.00 | 0.50 |" in lines
    assert lines[0] == "# What real lenses do to depth"
    assert "quick mode" in lines[2]
