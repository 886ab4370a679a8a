from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io import RaytrixGrid, read_raytrix_grid


def lens_type(number: str, low: str = "1.0", high: str = "3.2") -> str:
    return (
        f'<lens_type id="{number}"><offset units="lens"><x>0.0</x><y>{number}.0</y></offset>'
        f'<depth_range units="virtual_depth"><min>{low}</min><max>{high}</max></depth_range></lens_type>'
    )


GRID = (
    '<RayCalibData version="1.0">'
    '<offset units="pix"><x>13.0</x><y>-20.5</y></offset>'
    '<diameter units="pix">23.2</diameter>'
    '<rotation units="rad">1.5</rotation>'
    '<lens_border units="pix">1.0</lens_border>'
    '<tcp units="virtual_depth">2.2</tcp>'
    '<lens_base_x units="lens"><x>1.0</x><y>0.0</y></lens_base_x>'
    '<lens_base_y units="lens"><x>0.5</x><y>0.866</y></lens_base_y>'
    '<sub_grid_base units="lens"><x>3.0</x><y>1.732</y></sub_grid_base>'
    '<distortion type="radial"><function>constant</function><offset units="pix"><x>9</x><y>9</y></offset></distortion>'
    + lens_type("0")
    + lens_type("1", "2.6", "4.2")
    + "</RayCalibData>"
)


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> RaytrixGrid:
    (tmp_path / "grid.xml").write_bytes(text.encode(encoding))
    return read_raytrix_grid(tmp_path / "grid.xml")


def test_a_grid_is_read_as_the_file_gives_it(tmp_path: Path) -> None:
    grid = read(tmp_path, GRID)
    np.testing.assert_array_equal(grid.offset_from_centre, [13.0, -20.5])
    assert (grid.diameter, grid.rotation, grid.lens_border, grid.total_covering_plane) == (23.2, 1.5, 1.0, 2.2)
    np.testing.assert_array_equal(grid.lens_base_x, [1.0, 0.0])
    np.testing.assert_array_equal(grid.lens_base_y, [0.5, 0.866])
    np.testing.assert_array_equal(grid.sub_grid_base, [3.0, 1.732])
    assert grid.distortion.function == "constant"
    assert grid.distortion.parameters.size == 0
    np.testing.assert_array_equal(grid.distortion.offset, [9, 9])
    assert [(t.id, *t.offset, *t.depth_range) for t in grid.lens_types] == [(0, 0, 0, 1, 3.2), (1, 0, 1, 2.6, 4.2)]


@pytest.mark.parametrize(
    "parameters",
    [
        '<parameter count="2">1e-9 -2e-15</parameter>',
        '<parameter count="2">1e-9, -2e-15</parameter>',
        "<parameter>1e-9</parameter><parameter>-2e-15</parameter>",
        '<parameter count="2"><value>1e-9</value><value>-2e-15</value></parameter>',
    ],
)
def test_parameters_of_a_distortion_are_read_however_they_are_listed(tmp_path: Path, parameters: str) -> None:
    brown = read(tmp_path, GRID.replace("<function>constant</function>", f"<function>Brown</function>{parameters}"))
    assert brown.distortion.function == "Brown"
    np.testing.assert_array_equal(brown.distortion.parameters, [1e-9, -2e-15])


def test_a_grid_may_say_nothing_of_distortion(tmp_path: Path) -> None:
    text = GRID[: GRID.index("<distortion")] + GRID[GRID.index("</distortion>") + len("</distortion>") :]
    assert read(tmp_path, text).distortion.function == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</RayCalibData>", "", "line 1, column .*: is not valid XML: no element found"),
        ("<diameter", "<diameter<", "line 1, column .*: is not valid XML"),
        ("RayCalibData", "Camera", "its root element is <Camera>"),
        ("tcp", "tcp2", "tcp: is missing"),
        ("<y>-20.5</y>", "", r"offset\.y: is missing"),
        ("-20.5", "left", r"offset\.y: is not a number: 'left'"),
        (">23.2<", "><", "diameter: is not a number: ''"),
        (">23.2<", ">nan<", "diameter: is not finite"),
        (">23.2<", ">-23.2<", "diameter: is not positive"),
        ("<tcp", "<rotation>1</rotation><tcp", "rotation: is there more than once"),
        ('<rotation units="rad"', '<rotation units="deg"', "rotation: is in 'deg' .*'rad'"),
        ('id="1"', 'id="one"', r"lens_type\.1\.id: is not a whole number: 'one'"),
        ('id="1"', "", r"lens_type\.1\.id: is not a whole number"),
        ('id="1"', 'id="0"', r"lens_type\.1\.id: 0 is there twice"),
        (">2.6<", ">5.0<", r"lens_type\.1\.depth_range: is empty"),
        (">2.6<", ">x<", r"lens_type\.1\.depth_range\.min: is not a number"),
        ("lens_type", "lens", "lens_type: is missing"),
        ("constant</function>", "Brown</function><parameter>k</parameter>", r"distortion\.parameter: is not a number"),
    ],
)
def test_a_bad_grid_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GRID
    with pytest.raises(InputError, match=rf"grid\.xml: {message}"):
        read(tmp_path, GRID.replace(old, new))


BOMB = '<!DOCTYPE b [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("doctype", [BOMB, '<!DOCTYPE b SYSTEM "file:///etc/hostname">', "<!DOCTYPE b>"])
def test_a_doctype_is_refused(tmp_path: Path, doctype: str, encoding: str) -> None:
    with pytest.raises(InputError, match=r"grid\.xml: has a DOCTYPE"):
        read(tmp_path, doctype + GRID, encoding)


def test_other_files_are_told(tmp_path: Path) -> None:
    for text in ("", "\x00\x01\x02", "no xml", '<?xml version="1.0" encoding="x-none"?><a/>'):
        with pytest.raises(InputError, match=r"grid\.xml: .*XML"):
            read(tmp_path, text)
    with pytest.raises(InputError, match="does not exist"):
        read_raytrix_grid(tmp_path / "missing.xml")
