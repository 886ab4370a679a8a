from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corner_grids import tspc_xml

from plenodepth.errors import InputError
from plenodepth.io import read_tspc_grid

CORNERS = np.array([[35.0, 36.0], [3939.5, 35.2], [38.2, 2914.2], [3935.6, 2919.3]])
GRID = tspc_xml(CORNERS, diameter=70.0, rotation=1.5)


def test_a_grid_is_read_as_the_file_gives_it(tmp_path: Path) -> None:
    (tmp_path / "calib.xml").write_text(GRID)
    grid = read_tspc_grid(tmp_path / "calib.xml")
    assert (grid.diameter, grid.rotation) == (70.0, 1.5)
    np.testing.assert_array_equal(grid.corners, CORNERS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TSPCCalibData", "RayCalibData", "its root element is <RayCalibData>, not <TSPCCalibData>"),
        ("rbot", "right", r"centers\.rbot: is missing"),
        ("<y>36.0</y>", "", r"centers\.ltop\.y: is missing"),
        ("35.2", "up", r"centers\.rtop\.y: is not a number: 'up'"),
        (">70.0<", ">0<", "diameter: is not positive"),
        ('unit="rad"', 'unit="deg"', "rotation: is in 'deg' .*'rad'"),
        ("<centers>", "<centers><ltop/>", r"centers\.ltop: is there more than once"),
    ],
)
def test_a_bad_grid_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GRID
    (tmp_path / "calib.xml").write_text(GRID.replace(old, new))
    with pytest.raises(InputError, match=rf"calib\.xml: {message}"):
        read_tspc_grid(tmp_path / "calib.xml")


@pytest.mark.realdata
def test_the_real_file_is_read(real_data: Path) -> None:
    grid = read_tspc_grid(real_data / "tspc" / "calib.xml")
    assert (grid.diameter, round(grid.rotation, 6)) == (70.0, round(np.pi / 2, 6))
    np.testing.assert_array_equal(grid.corners, CORNERS)
