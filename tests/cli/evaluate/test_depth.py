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


def write_frames(folder: Path) -> None:
    """Five coarse frames, each 1 mm worse than the one before; both truths beside each other, as simulated."""
    for frame in range(5):
        (folder / f"truth/{frame:02d}").mkdir(parents=True)
        (folder / f"out/{frame:02d}").mkdir(parents=True)
        write_float_map(np.full((90, 90), 1.0), folder / f"truth/{frame:02d}/depth.tiff")
        write_float_map(TRUE, folder / f"truth/{frame:02d}/lens_depth.tiff")
        write_float_map(TRUE + 1 + frame, folder / f"out/{frame:02d}/raw.depth.tiff")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reading 8 mm too far, with holes in a fifth of its rows; sure where it is right, which is nowhere else.

    Beside it maps, masks and folders that do not go with it.
    """
    folder = tmp_path_factory.mktemp("maps")
    found = TRUE + np.float32(OFFSET)
    found[20:] += np.float32(OFFSET)
    found[::5] = np.nan
    sure = np.ones(TRUE.shape, np.float32)
    sure[20:] = 0.1
    apart = np.where(np.isnan(found), 500, np.nan)
    maps = {"true": TRUE, "found": found, "sure": sure, "small": TRUE[:20], "nan": TRUE * np.nan, "apart": apart}
    write_frames(folder)
    (folder / "other/09").mkdir(parents=True)
    for name, depth in {**maps, "other/09/depth": TRUE, "out/01/raw.depth": TRUE[:7]}.items():
        write_float_map(depth, folder / f"{name}.tiff")
    hole = np.zeros(TRUE.shape)
    hole[0] = 1  # a row without a reading
    for name, mask in {"zero": 0 * hole, "tiny": np.ones((3, 4)), "hole": hole}.items():
        write_image(mask.astype(np.uint8), folder / f"{name}.png")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    write_frames(tmp_path)
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


def test_a_confidence_is_judged_and_all_is_printed_and_drawn(succeeds: Run, files: Path, tmp_path: Path) -> None:
    arguments = ["evaluate", "depth", files / "found.tiff", files / "true.tiff", "--confidence", files / "sure.tiff"]
    result = succeeds(*arguments, "--json").json["sparsification"]
    assert result["gain"] == pytest.approx(1, abs=1e-3)
    assert result["mean_of_surest_half_mm"] == pytest.approx(OFFSET, rel=1e-4)
    text = succeeds(*arguments, "--figure", tmp_path / "out.png").words
    for part in ("pixels compared 1920", "completeness 80.00 %", "gain (1: perfect, 0: says nothing) 1.000"):
        assert part in text
    assert read_image(tmp_path / "out.png").ndim == 3


def test_a_mask_leaves_pixels_out(succeeds: Run, files: Path, tmp_path: Path) -> None:
    mask = np.zeros(TRUE.shape, np.uint8)
    mask[20:] = 255
    write_image(mask, tmp_path / "mask.png")
    arguments = ["evaluate", "depth", files / "found.tiff", files / "true.tiff", "--mask", tmp_path / "mask.png"]
    result = succeeds(*arguments, "--json").json
    assert result["pixels"] == 16 * 60
    assert result["mean_ad_mm"] == pytest.approx(2 * OFFSET, rel=1e-5)


def test_maps_of_other_programs_are_taken_and_their_zeros_said(succeeds: Run, files: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "true.npy", np.where(TRUE < 450, 0, TRUE))
    outcome = succeeds("evaluate", "depth", files / "found.tiff", tmp_path / "true.npy")
    assert f"{(TRUE < 450).sum()} entries of 0 or without bound are taken for missing" in outcome.words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("small.tiff true.tiff", "is 60 × 20, the truth 60 × 40"),
        ("found.tiff true.tiff --confidence small.tiff", "is 60 × 20, the truth 60 × 40"),
        ("nan.tiff true.tiff", "nan.tiff: has no depth at all"),
        ("found.tiff nan.tiff", "nan.tiff: has no depth at all"),
        ("found.tiff apart.tiff", "found.tiff: has no depth where the reference has one"),
        ("none.tiff true.tiff", "none.tiff: does not exist"),
        ("found.tiff true.tiff --mask zero.png", "--mask: is 0 everywhere"),
        ("found.tiff true.tiff --mask tiny.png", "--mask: is 4 × 3"),
        ("found.tiff true.tiff --mask hole.png", "inside the mask"),
        ("found.tiff true.tiff --bad x", "--bad: is 'x'"),
        ("found.tiff true.tiff --bad 0", "--bad: is '0'"),
        ("found.tiff true.tiff --figure out.txt", "--figure"),
        ("out other", "none in common"),
        ("out truth", "is 60 × 7"),
        ("out truth --mask x.png", "are for one map"),
    ],
)
def test_bad_input_is_one_line(refused: Refused, files: Path, arguments: str, message: str) -> None:
    assert message in refused("evaluate", "depth", *arguments.split(), folder=files)


def test_folders_are_compared_frame_by_frame_with_the_truth_of_their_size(succeeds: Run, folders: Path) -> None:
    (folders / "truth/04/lens_depth.tiff").unlink()
    (folders / "truth/04/depth.tiff").unlink()
    write_float_map(np.full(TRUE.shape, np.nan), folders / "out/03/raw.depth.tiff")
    result = succeeds("evaluate", "depth", folders / "out", folders / "truth", "--json").json
    assert [row["frame"] for row in result["frames"]] == [0, 1, 2]
    assert [round(row["median_ad_mm"], 2) for row in result["frames"]] == [1, 2, 3]
    assert result["mean_of_frames_median_ad_mm"] == pytest.approx(2, rel=1e-4)
    assert result["interval_median_ad_mm"] is None
    text = succeeds("evaluate", "depth", folders / "out", folders / "truth").words
    assert "frames without a truth, left out: 4" in text
    assert "raw.depth.tiff: has no depth at all, left out" in text


def test_frames_are_the_units_of_a_comparison(succeeds: Run, folders: Path) -> None:
    for name in ("a", "b"):
        outcome = succeeds("evaluate", "depth", folders / "out", folders / "truth", "--json")
        (folders / f"{name}.json").write_text(outcome.out)
        for frame in range(5):
            write_float_map(TRUE + 0.5 + frame, folders / f"out/{frame:02d}/raw.depth.tiff")
    assert outcome.json["interval_median_ad_mm"][0] < 2.5 < outcome.json["interval_median_ad_mm"][1]
    rows = succeeds("evaluate", "compare", folders / "a.json", folders / "b.json", "--json").json["changes"]
    (change,) = [row for row in rows if row["name"] == "frames.median_ad_mm"]
    assert change["verdict"] == "better"
    assert change["units"] == 5
    assert change["difference"] == pytest.approx(-0.5, abs=1e-3)
