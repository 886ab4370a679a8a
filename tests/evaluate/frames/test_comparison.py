"""The relative depth error of frames in files, from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate import compare_frame_depths
from plenodepth.io import write_float_map


def test_depth_that_follows_too_far_by_a_tenth_has_an_error_of_a_tenth(tmp_path: Path) -> None:
    for frame in range(5):
        write_float_map(np.full((3, 4), 400 + 11.0 * frame), tmp_path / f"{frame}.tiff")
    (tmp_path / "places.txt").write_text("".join(f"{frame} {10 * frame}\n" for frame in range(6)))
    result = compare_frame_depths([tmp_path], tmp_path / "places.txt")
    assert result.error.mean == pytest.approx(0.1)
    assert [row.pairs for row in result.displacements] == [4, 3, 2, 1]
    assert result.match.unseen == (5,)
    assert result.content()["truths_without_frame"] == [5]
    with pytest.raises(InputError, match=r"places\.txt: names 0, 1.* needs 2"):
        compare_frame_depths([tmp_path / "0.tiff"], tmp_path / "places.txt")
