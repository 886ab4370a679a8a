"""Results of other programs stand beside ours; what they lack is left out, and said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io import write_float_map
from plenodepth.studies.reproduction.experiments.relative import DATASETS, add_other_program
from plenodepth.studies.reproduction.other_programs import labelled_folders, read_other_program
from plenodepth.studies.reproduction.results import OtherProgram, RelativeErrors
from plenodepth.studies.reproduction.sources import Shot

SHOTS = {name: [Shot(Path(f"{frame}.png"), frame, 400.0 + 50 * frame) for frame in range(6)] for name in DATASETS}


def other_folder(root: Path, names: Sequence[str], stretch: float = 1.04, frames: Sequence[int] = range(6)) -> Path:
    """Maps of frames whose displacements are all too large by the same part."""
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)
        for frame in frames:
            write_float_map(np.full((3, 4), stretch * (400 + 50 * frame) + 30), root / name / f"{frame:02d}.tiff")
    return root


def added(folder: Path) -> tuple[dict[str, dict[str, RelativeErrors]], OtherProgram]:
    datasets: dict[str, dict[str, RelativeErrors]] = {name: {} for name in DATASETS}
    return datasets, add_other_program(datasets, read_other_program("RTRX", folder), SHOTS)


def test_errors_are_those_of_displacements_whatever_the_zero(tmp_path: Path) -> None:
    datasets, said = added(other_folder(tmp_path, DATASETS))
    assert said == OtherProgram(str(tmp_path), ())
    for name in DATASETS:
        found = datasets[name]["RTRX"]
        assert found.mean == pytest.approx(0.04, rel=1e-4)
        assert [row.frame for row in found.frames] == list(range(6))
        assert [row.displacement for row in found.displacements] == [50, 100, 150, 200, 250]


def test_datasets_and_frames_that_lack_are_said(tmp_path: Path) -> None:
    other_folder(tmp_path, ["R12_A"], frames=(1, 2, 3, 9))
    other_folder(tmp_path, ["r12-c"], frames=(4,))
    write_float_map(np.full((3, 4), np.nan), tmp_path / "R12_A" / "03.tiff")
    datasets, said = added(tmp_path)
    assert [name for name in DATASETS if "RTRX" in datasets[name]] == ["r12-a"]
    depth = [row.depth for row in datasets["r12-a"]["RTRX"].frames]
    assert np.flatnonzero(np.isfinite(depth)).tolist() == [1, 2]
    assert list(said.notes) == [
        "r12-a: frames without a truth, left out: 9",
        "r12-a: truths without a frame: 0, 4, 5",
        "r12-a: frames without any depth, left out: 3",
        f"r12-b left out: not in {tmp_path}",
        "r12-c: truths without a frame: 0, 1, 2, 3, 5",
        "r12-c left out: 1 frames with a depth, needs 2",
        f"r12-es left out: not in {tmp_path}",
    ]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["RTRX"], "needs LABEL=FOLDER"),
        (["={here}"], "needs LABEL=FOLDER"),
        (["RTRX={here}/none"], "is no folder"),
        (["RTRX={here}/r12-a"], "has no folder of a dataset"),
        (["BLADE={here}"], "a method of ours"),
        (["X={here}", "X={here}"], "has the label X twice"),
    ],
)
def test_what_is_no_label_with_a_folder_is_refused(tmp_path: Path, texts: list[str], message: str) -> None:
    other_folder(tmp_path, ["r12-a"])
    with pytest.raises(InputError, match=message):
        labelled_folders([text.format(here=tmp_path) for text in texts])
    assert labelled_folders([f"RTRX={tmp_path}"]) == [("RTRX", tmp_path)]
