from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corner_grids import tlct_text

from plenodepth.errors import InputError
from plenodepth.io import TlctGrid, read_tlct_grid

CORNERS = np.array([[35.0, 36.0], [3939.5, 35.2], [38.2, 2914.2], [3935.6, 2919.3]])


def read(tmp_path: Path, text: str) -> TlctGrid:
    (tmp_path / "calib.cfg").write_text(text)
    return read_tlct_grid(tmp_path / "calib.cfg")


def test_a_grid_with_a_central_micro_image_is_read_as_the_file_gives_it(tmp_path: Path) -> None:
    grid = read(tmp_path, tlct_text())
    assert (grid.width, grid.height, grid.diameter, grid.by_columns) == (640, 480, 23.2, True)
    assert (grid.is_kepler, grid.near_focal_type, grid.corners) == (True, 0, None)
    np.testing.assert_array_equal(grid.offset_from_centre, [13, -20.5])


def test_a_grid_with_corners_is_read_as_the_file_gives_it(tmp_path: Path) -> None:
    grid = read(tmp_path, tlct_text(corners=CORNERS, kepler=0, near=None, direction=0))
    assert (grid.is_kepler, grid.near_focal_type, grid.by_columns, grid.offset_from_centre) == (
        False,
        None,
        False,
        None,
    )
    np.testing.assert_array_equal(grid.corners, CORNERS)


def test_what_tlct_need_not_be_told_is_left_open(tmp_path: Path) -> None:
    text = "\n".join(line for line in tlct_text(kepler=None, near=-1).splitlines() if "MLADirection" not in line)
    grid = read(tmp_path, text)
    assert (grid.is_kepler, grid.near_focal_type, grid.by_columns) == (None, None, False)


def test_spaces_blank_lines_and_comments_do_not_matter(tmp_path: Path) -> None:
    text = "# the R5\n\n" + tlct_text().replace(" : ", ":").replace("IsKepler", "  IsKepler\t")
    assert read(tmp_path, text).is_kepler is True


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("LensletWidth", "LensletWidht", r"line 2: unknown key 'LensletWidht'"),
        ("IsKepler : 1", "IsKepler 1", r"line 1: is not 'key : value': 'IsKepler 1'"),
        ("IsKepler : 1", "IsKepler : yes", "IsKepler: is not a number: 'yes'"),
        ("IsKepler : 1", "IsKepler : 2", "IsKepler: is 2 .*whole number 0 to 1"),
        ("NearFocalLenType : 0", "NearFocalLenType : 3", "NearFocalLenType: is 3 .*-1 to 2"),
        ("LensletWidth : 640", "LensletWidth : 640.5", "LensletWidth: is 640.5 .*whole number from 1"),
        ("LensletWidth : 640\n", "", "LensletWidth: is missing"),
        ("23.2", "-23.2", "MIDiameter: is not positive"),
        ("23.2", "23.2\nMIDiameter : 24", "MIDiameter: is there twice"),
        ("CentralMIOffsetY : -20.5", "", "CentralMIOffsetY: is missing"),
        (
            "CentralMIOffsetX : 13.0\nCentralMIOffsetY : -20.5",
            "",
            "CentralMIOffsetX, LeftTopMICenterX: has neither a central micro-image nor corners",
        ),
        ("IsKepler : 1", "LeftTopMICenterX : 1", "CentralMIOffsetX, LeftTopMICenterX: has both"),
    ],
)
def test_a_bad_grid_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in tlct_text()
    with pytest.raises(InputError, match=rf"calib\.cfg: {message}"):
        read(tmp_path, tlct_text().replace(old, new))


@pytest.mark.realdata
@pytest.mark.parametrize(("folder", "kepler", "near"), [("r5", True, 0), ("tspc", False, None)])
def test_real_files_are_read(real_data: Path, folder: str, kepler: bool, near: int | None) -> None:
    grid = read_tlct_grid(real_data / folder / "tlct-calib.cfg")
    assert (grid.is_kepler, grid.near_focal_type, grid.by_columns) == (kepler, near, True)
