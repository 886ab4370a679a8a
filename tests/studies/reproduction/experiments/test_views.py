"""The experiment `views`: on a small sensor, rendered views are far nearer to the truth than tiled ones."""

from pathlib import Path

import pytest
from reproductions import reproduction, views_values

from plenodepth.studies.reproduction.experiments.views import SCENES, judge_view
from plenodepth.studies.reproduction.guard import figures
from plenodepth.studies.reproduction.results import ViewFigures
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.tables import views_tables


@pytest.mark.parametrize("name", SCENES)
def test_a_view_is_nearer_to_the_truth_than_patches(tmp_path: Path, name: str) -> None:
    found = judge_view(Study(out=tmp_path, quick=True), name)
    assert found.all_in_focus.psnr > found.tiled.psnr + 3
    assert found.all_in_focus.ssim > found.tiled.ssim
    assert found.all_in_focus.completeness == 1
    assert (found.all_in_focus.mtf50 is None) == (name == "soft")
    if found.all_in_focus.mtf50 is not None and found.tiled.mtf50 is not None:
        assert found.all_in_focus.mtf50 > 1.5 * found.tiled.mtf50


def test_its_table_and_its_guarded_figures(tmp_path: Path) -> None:
    values = views_values()
    tables, checks = views_tables(values)
    assert [row[0] for row in tables[0].rows] == list(values.scenes)
    assert [check.met for check in checks] == [True]
    guarded = {name: value for name, value in figures(reproduction(tmp_path)).items() if name.startswith("views/")}
    ours: ViewFigures = values.scenes["edges"].all_in_focus
    assert guarded["views/edges/RMS of sRGB"] == pytest.approx(10 ** (-ours.psnr / 20))
    assert guarded["views/edges/px per cycle at half contrast"] == pytest.approx(1 / (ours.mtf50 or 0))
    assert "views/soft/px per cycle at half contrast" not in guarded
