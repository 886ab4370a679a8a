"""plenodepth evaluate relative: ε_z of frames in known steps, and frames or truths that lack the other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Refused, Run

from plenodepth.io import read_image, write_float_map

PLACES = {frame: 500.0 + 50 * frame for frame in range(6)}
STRETCH = 1.03  # depth found: every displacement 3 % too large


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for frame, place in PLACES.items():
        for folder, depth in (("steps", STRETCH * place + 7), ("empty", np.nan)):
            (tmp_path / f"{folder}/{frame:02d}").mkdir(parents=True)
            write_float_map(np.full((4, 5), depth), tmp_path / f"{folder}/{frame:02d}/depth.tiff")
    (tmp_path / "gt.txt").write_text("".join(f"{frame} {place - 500}\n" for frame, place in PLACES.items()))
    return tmp_path


def test_displacements_that_are_too_large_give_their_share_at_every_length(succeeds: Run, files: Path) -> None:
    arguments = ["evaluate", "relative", files / "steps", "--truth", files / "gt.txt"]
    result = succeeds(*arguments, "--json").json
    assert result["mean_error"] == pytest.approx(0.03, rel=1e-4)
    assert [row["displacement_mm"] for row in result["displacements"]] == [50, 100, 150, 200, 250]
    assert [row["pairs"] for row in result["displacements"]] == [5, 4, 3, 2, 1]
    assert all(row["mean_error"] == pytest.approx(0.03, rel=1e-3) for row in result["displacements"])
    assert result["displacements"][-1]["std_error"] is None
    assert [row["frame"] for row in result["frames"]] == list(PLACES)
    assert result["frames"][1]["depth_mm"] == pytest.approx(STRETCH * 550 + 7)
    text = succeeds(*arguments, "--figure", files / "out.png").words
    assert "mean ε_z 3.000 % of 6 frames; 95 % interval 3.00 … 3.00 %" in text
    assert read_image(files / "out.png").ndim == 3


def test_frames_and_truths_that_lack_the_other_are_said(succeeds: Run, files: Path) -> None:
    write_float_map(np.full((4, 5), np.nan), files / "steps/04/depth.tiff")
    (files / "gt.txt").write_text("1 0\n2 50\n3 100\n4 150\n9 400\n")
    arguments = ["evaluate", "relative", files / "steps", "--truth", files / "gt.txt"]
    result = succeeds(*arguments, "--json").json
    assert result["frames_without_truth"] == [0, 5]
    assert result["truths_without_frame"] == [9]
    assert result["frames_without_depth"] == [4]
    assert result["interval"] == [None, None]
    text = succeeds(*arguments).words
    for part in (
        "note: frames without a truth, left out: 0, 5",
        "note: truths without a frame: 9",
        "note: frames without any depth, left out: 4",
        "of 3 frames; no interval of less than 4 frames",
    ):
        assert part in text


def test_a_table_and_the_manifest_of_a_dataset_do_as_well(succeeds: Run, files: Path) -> None:
    frames = [{"folder": "white/f04.00"}, *({"folder": f"steps/{i:02d}", "distance": z} for i, z in PLACES.items())]
    (files / "manifest.json").write_text(json.dumps({"dataset": "r12-a", "frames": frames}))
    (files / "depths.csv").write_text("frame,depth\n" + "".join(f"{i},{z * 1.01}\n" for i, z in PLACES.items()))
    arguments = ["evaluate", "relative", files / "depths.csv", "--truth", files / "manifest.json", "--json"]
    assert succeeds(*arguments).json["mean_error"] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("frames", "truth", "text", "message"),
    [
        (
            "steps",
            "gt.txt",
            "7 100\n8 200\n0 300\n",
            "names 0, 7, 8; of the frames given (0, 1, 2, 3, 4, 5) 1 are among them, needs 2",
        ),
        ("empty", "gt.txt", "0 100\n1 200\n", "depth: frames 0, 1 have no depth, 0 have, needs 2"),
        ("two.csv", "gt.txt", "0 100\n1 100\n", "truth"),
        ("steps", "gt.txt", "0 100\n1 x\n", "gt.txt: line 2: is not a number"),
        ("steps", "manifest.json", '{"frames": []}', "has no frame with a distance"),
    ],
)
def test_too_few_frames_or_places_are_one_line(
    refused: Refused, files: Path, frames: str, truth: str, text: str, message: str
) -> None:
    (files / "two.csv").write_text("frame,depth\n0,100\n1,200\n")
    (files / truth).write_text(text)
    assert message in refused("evaluate", "relative", files / frames, "--truth", files / truth)
