"""Maps in files against true ones, from Python: typed figures, and the same for JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate import compare_map_files, compare_map_folders
from plenodepth.io import write_float_map, write_image

TRUE = np.random.default_rng(0).uniform(400, 600, (20, 30)).astype(np.float32)


def test_one_map_has_figures_notes_and_a_judged_confidence(tmp_path: Path) -> None:
    write_float_map(np.where(TRUE > 590, 0, TRUE), tmp_path / "true.tiff")
    write_float_map(TRUE + 4, tmp_path / "found.tiff")
    write_float_map(np.ones(TRUE.shape), tmp_path / "sure.tiff")
    result = compare_map_files(tmp_path / "found.tiff", tmp_path / "true.tiff", confidence=tmp_path / "sure.tiff")
    assert result.differences.bias == pytest.approx(4, abs=1e-3)
    assert result.sparsification is not None
    assert result.sparsification.count == result.differences.common == (TRUE <= 590).sum()
    (note,) = result.notes
    assert "true.tiff: " in note
    content = result.content()
    assert content["pixels"] == result.differences.common
    assert list(content)[-2:] == ["sparsification", "notes"]


def test_a_mask_that_leaves_nothing_is_named(tmp_path: Path) -> None:
    write_float_map(TRUE, tmp_path / "true.tiff")
    write_image(np.zeros(TRUE.shape, np.uint8), tmp_path / "mask.png")
    with pytest.raises(InputError, match=r"mask\.png: mask: is 0 everywhere"):
        compare_map_files(tmp_path / "true.tiff", tmp_path / "true.tiff", mask=tmp_path / "mask.png")


def test_folders_have_an_interval_from_four_frames_on(tmp_path: Path) -> None:
    for frame in range(4):
        for folder, depth in (("truth", TRUE), ("found", TRUE + frame)):
            (tmp_path / folder).mkdir(exist_ok=True)
            write_float_map(depth, tmp_path / folder / f"{frame}.tiff")
    seen = list[tuple[int, int, str]]()
    result = compare_map_folders(tmp_path / "found", tmp_path / "truth", progress=lambda *done: seen.append(done))
    assert [row.frame for row in result.frames] == [0, 1, 2, 3]
    assert result.interval is not None
    assert result.interval[0] < 1.5 < result.interval[1]
    assert result.content()["mean_of_frames_median_ad_mm"] == pytest.approx(1.5, abs=1e-3)
    assert seen[-1] == (4, 4, "frames")
    (tmp_path / "found" / "3.tiff").unlink()
    assert compare_map_folders(tmp_path / "found", tmp_path / "truth").interval is None
