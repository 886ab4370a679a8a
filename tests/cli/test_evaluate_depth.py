"""plenodepth evaluate depth: a map against the truth, and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run

from plenodepth.io import read_image, write_float_map, write_image

RNG = np.random.default_rng(0)
TRUE = RNG.uniform(400, 600, (40, 60)).astype(np.float32)
OFFSET = 8.0


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A reading 8 mm too far, with holes in a fifth of its rows; sure where it is right, which is nowhere else."""
    found = TRUE + np.float32(OFFSET)
    found[20:] += np.float32(OFFSET)
    found[::5] = np.nan
    sure = np.ones(TRUE.shape, np.float32)
    sure[20:] = 0.1
    write_float_map(tmp_path / "true.tiff", TRUE)
    write_float_map(tmp_path / "found.tiff", found)
    write_float_map(tmp_path / "sure.tiff", sure)
    return tmp_path


def test_differences_are_measured_where_both_have_a_depth(succeeds: Run, files: Path) -> None:
    result = succeeds("evaluate", "depth", files / "found.tiff", files / "true.tiff", "--bad", "1,5", "--json").json
    assert result["pixels"] == 32 * 60
    assert result["completeness"] == pytest.approx(0.8)
    assert result["mean_ad_mm"] == pytest.approx(1.5 * OFFSET, rel=1e-5)
    assert result["bias_mm"] > 0
    assert result["rmse_mm"] == pytest.approx(OFFSET * np.sqrt(2.5), rel=1e-5)
    assert result["bad_percent"]["1%"] == 100
    assert result["bad_percent"]["5%"] == 0
    assert result["bad_percent"]["10mm"] == 50
    assert sum(tile["pixels"] for tile in result["tiles"]) == result["pixels"]
    assert all(OFFSET - 0.01 <= tile["median_ad_mm"] <= 2 * OFFSET + 0.01 for tile in result["tiles"])


def test_a_confidence_is_judged_and_all_is_printed_and_drawn(succeeds: Run, files: Path) -> None:
    arguments = ["evaluate", "depth", files / "found.tiff", files / "true.tiff", "--confidence", files / "sure.tiff"]
    result = succeeds(*arguments, "--json").json["sparsification"]
    assert result["gain"] == pytest.approx(1, abs=1e-3)
    assert result["mean_of_surest_half_mm"] == pytest.approx(OFFSET, rel=1e-4)
    text = succeeds(*arguments, "--figure", files / "out.png").words
    for part in ("pixels compared 1920", "completeness 80.00 %", "gain (1: perfect, 0: says nothing) 1.000"):
        assert part in text
    assert read_image(files / "out.png").ndim == 3


def test_a_mask_leaves_pixels_out(succeeds: Run, files: Path) -> None:
    mask = np.zeros(TRUE.shape, np.uint8)
    mask[20:] = 255
    write_image(files / "mask.png", mask)
    arguments = ["evaluate", "depth", files / "found.tiff", files / "true.tiff", "--mask", files / "mask.png", "--json"]
    result = succeeds(*arguments).json
    assert result["pixels"] == 16 * 60
    assert result["mean_ad_mm"] == pytest.approx(2 * OFFSET, rel=1e-5)


def test_maps_of_other_programs_are_taken_and_their_zeros_said(succeeds: Run, files: Path) -> None:
    np.save(files / "true.npy", np.where(TRUE < 450, 0, TRUE))
    outcome = succeeds("evaluate", "depth", files / "found.tiff", files / "true.npy")
    assert f"{(TRUE < 450).sum()} entries of 0 or without bound are taken for missing" in outcome.words


def test_maps_that_do_not_go_together_are_one_line(refused: Refused, files: Path) -> None:
    found, true = files / "found.tiff", files / "true.tiff"
    write_float_map(files / "small.tiff", TRUE[:20])
    assert "is 60 × 20, the truth 60 × 40" in refused("evaluate", "depth", files / "small.tiff", true)
    assert "is 60 × 20, the truth 60 × 40" in refused(
        "evaluate", "depth", found, true, "--confidence", files / "small.tiff"
    )
    write_float_map(files / "nan.tiff", np.full(TRUE.shape, np.nan))
    assert "nan.tiff: has no depth at all" in refused("evaluate", "depth", files / "nan.tiff", true)
    assert "nan.tiff: has no depth at all" in refused("evaluate", "depth", found, files / "nan.tiff")
    apart = np.full(TRUE.shape, np.nan)
    apart[::5] = 500
    write_float_map(files / "apart.tiff", apart)
    assert "found.tiff: has no depth where the reference has one" in refused(
        "evaluate", "depth", found, files / "apart.tiff"
    )


def test_masks_and_options_that_leave_nothing_are_one_line(refused: Refused, files: Path) -> None:
    pair = ["evaluate", "depth", files / "found.tiff", files / "true.tiff"]
    write_image(files / "mask.png", np.zeros(TRUE.shape, np.uint8))
    assert "--mask: is 0 everywhere" in refused(*pair, "--mask", files / "mask.png")
    write_image(files / "mask.png", np.ones((3, 4), np.uint8))
    assert "--mask: is 4 × 3" in refused(*pair, "--mask", files / "mask.png")
    hole = np.zeros(TRUE.shape, np.uint8)
    hole[0] = 1  # a row without a reading
    write_image(files / "mask.png", hole)
    assert "inside the mask" in refused(*pair, "--mask", files / "mask.png")
    assert "--bad: is 'x'" in refused(*pair, "--bad", "x")
    assert "--bad: is '0'" in refused(*pair, "--bad", "0")
    assert "--figure" in refused(*pair, "--figure", files / "out.txt")
    assert "none.tiff: does not exist" in refused("evaluate", "depth", files / "none.tiff", files / "true.tiff")
