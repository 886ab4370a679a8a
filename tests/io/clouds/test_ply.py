from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from plenodepth.errors import InputError
from plenodepth.io import read_ply, read_pts, write_ply, write_pts

RNG = np.random.default_rng(2)
POINTS = RNG.normal(scale=500, size=(6, 3))
COLORS = RNG.integers(0, 256, (6, 3)).astype(np.uint8)
INTENSITY = RNG.random(6).astype(np.float32)


def stored(tmp_path: Path, data: bytes | str, name: str = "cloud.ply") -> Path:
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return tmp_path / name


@settings(deadline=None)  # writes files
@given(data=st.data(), n=st.integers(0, 5), colored=st.booleans())
def test_every_cloud_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, n: int, colored: bool
) -> None:
    points = data.draw(arrays.arrays(np.float32, (n, 3), elements=st.floats(-1e6, 1e6, width=32)))
    colors = data.draw(arrays.arrays(np.uint8, (n, 3))) if colored else None
    sigma = data.draw(arrays.arrays(np.float32, n))
    path = tmp_path_factory.mktemp("cloud") / "cloud.ply"
    write_ply(points, path, colors=colors, sigma=sigma)
    read = read_ply(path)
    np.testing.assert_array_equal(read["points"], points)
    np.testing.assert_array_equal(read["sigma"], sigma)
    assert ("colors" in read) == colored
    if colors is not None:
        np.testing.assert_array_equal(read["colors"], colors)


def test_the_file_holds_a_plain_header_and_packed_little_endian_records(tmp_path: Path) -> None:
    path = tmp_path / "cloud.ply"
    write_ply([[1, 2, 3]], path, colors=np.array([[7, 8, 9]], np.uint8), confidence=np.array([0.5]))
    header, record = path.read_bytes().split(b"end_header\n")
    assert header.decode().splitlines() == [
        "ply",
        "format binary_little_endian 1.0",
        "element vertex 1",
        *(f"property float {name}" for name in "xyz"),
        *(f"property uchar {name}" for name in ("red", "green", "blue")),
        "property float confidence",
    ]
    assert record == struct.pack("<3f3Bf", 1, 2, 3, 7, 8, 9, 0.5)


def test_a_copy_of_a_cloud_is_the_same_file(tmp_path: Path) -> None:
    write_ply(POINTS, tmp_path / "one.ply", colors=COLORS, intensity=INTENSITY, sigma=INTENSITY)
    write_ply(path=tmp_path / "two.ply", **read_ply(tmp_path / "one.ply"))
    assert (tmp_path / "one.ply").read_bytes() == (tmp_path / "two.ply").read_bytes()


TEXT = """ply\r
format ascii 1.0\r
comment written by hand\r
element sensor 1\r
property float focal_length\r
element vertex 2\r
property double x\r
property double y\r
property double z\r
property ushort reflectance\r
element face 1\r
property list uchar int vertex_indices\r
end_header\r
50.5\r
1 2 3 40000\r
-1e-3 2.25 3 7\r
3 0 1 1\r
"""


def test_text_is_read_and_faces_and_other_elements_are_skipped(tmp_path: Path) -> None:
    read = read_ply(stored(tmp_path, TEXT))
    assert read.keys() == {"points", "reflectance"}
    np.testing.assert_array_equal(read["points"], [[1, 2, 3], [-1e-3, 2.25, 3]])
    np.testing.assert_array_equal(read["reflectance"], np.array([40000, 7], np.uint16))
    assert read["reflectance"].dtype == np.uint16


@pytest.mark.parametrize(("order", "sign"), [("little", "<"), ("big", ">")])
def test_faces_and_other_elements_of_a_binary_file_are_skipped(tmp_path: Path, order: str, sign: str) -> None:
    header = TEXT.replace("\r", "").split("end_header")[0].replace("ascii", f"binary_{order}_endian") + "end_header\n"
    body = struct.pack(f"{sign}f3dH3dHB3i", 50.5, 1, 2, 3, 40000, 4, 5, 6, 7, 3, 0, 1, 1)
    read = read_ply(stored(tmp_path, header.encode() + body))
    np.testing.assert_array_equal(read["points"], [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(read["reflectance"], [40000, 7])
    assert read["reflectance"].dtype.isnative


HEADER = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "is not a PLY file"),
        (HEADER[:60], "is not a PLY file with a whole header"),
        (HEADER, "element vertex: 2 announced, the file holds 0"),
        (HEADER + "1 2 3\n", "element vertex: 2 announced, the file holds 1"),
        (HEADER + "1 2 3\n4 5 six\n", "is not a table of numbers: could not convert string 'six'"),
        (HEADER + "1 2 3\n4 5\n", "is not a table of numbers"),
        (HEADER + "1 2\n4 5\n", "element vertex: lines of 2 numbers, the header names 3"),
        (HEADER + "1 2 3\n4 5 nan\n", "points: holds a coordinate that is not finite"),
        (HEADER.replace("float z", "uchar z") + "1 2 3\n4 5 300\n", "z: holds a number that is no uint8"),
        (HEADER.replace(" z", " depth") + "1 2 3\n4 5 6\n", "z: is not a property of vertex"),
        (HEADER.replace(" z", " x") + "1 2 3\n4 5 6\n", "element vertex: has a list or the same name twice"),
        (HEADER.replace("vertex 2", "vertex -2"), "header line 3: is not understood: 'element vertex -2'"),
        (HEADER.replace("vertex 2", f"vertex {'9' * 5000}"), "header line 3: is not understood"),
        (HEADER.replace("vertex", "face"), "element vertex: is missing"),
        (HEADER.replace("ascii", "binary_little_endian") + "1" * 23, "element vertex: 2 announced, the file holds 1"),
        (HEADER.replace("ascii", "morse"), "header line 2: is not understood"),
    ],
)
def test_a_damaged_cloud_is_told(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"cloud\.ply: {message}"):
        read_ply(stored(tmp_path, data))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"points": POINTS[:, :2]}, r"points: has the shape \(6, 2\)"),
        ({"points": np.where(POINTS > 0, np.nan, 0)}, "points: holds a coordinate that is not finite"),
        ({"points": POINTS * 1e40}, "points: holds a coordinate that is not finite"),
        ({"points": POINTS, "colors": COLORS[:5]}, r"colors: is uint8 of the shape \(5, 3\)"),
        ({"points": POINTS, "colors": COLORS / 255}, "colors: is float64"),
        ({"points": POINTS, "sigma": np.ones(5)}, r"sigma: is float64 of the shape \(5,\)"),
        ({"points": POINTS, "sigma": np.full(6, 1e300)}, "sigma: holds a number beyond the range of float32"),
        ({"points": POINTS, "red": np.ones(6)}, "red: is not a name for a column"),
        ({"points": POINTS, "two words": np.ones(6)}, "two words: is not a name for a column"),
    ],
)
def test_what_is_no_cloud_is_not_written(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"cloud\.ply: {message}"):
        write_ply(path=tmp_path / "cloud.ply", **columns)
    assert not list(tmp_path.iterdir())


def test_pts_holds_the_count_and_then_metres(tmp_path: Path) -> None:
    path = tmp_path / "cloud.pts"
    write_pts([[1500, -2.5, 0.001]], path, intensity=np.array([0.25]), colors=np.array([[1, 2, 255]], np.uint8))
    assert path.read_text() == "1\n1.500000 -0.002500 0.000001 0.25 1 2 255\n"


@pytest.mark.parametrize("intensity", [None, INTENSITY])
@pytest.mark.parametrize("colors", [None, COLORS])
def test_pts_come_back_in_millimetres_to_the_micrometre(tmp_path: Path, intensity: Any, colors: Any) -> None:
    path = tmp_path / "cloud.pts"
    write_pts(POINTS, path, intensity=intensity, colors=colors)
    read = read_pts(path)
    np.testing.assert_allclose(read["points"], POINTS, rtol=0, atol=0.00051)
    for name, given_values in (("intensity", intensity), ("colors", colors)):
        assert (name in read) == (given_values is not None)
        if given_values is not None:
            np.testing.assert_array_equal(read[name], given_values)
            assert read[name].dtype == given_values.dtype


def test_an_empty_pts_comes_back(tmp_path: Path) -> None:
    write_pts(np.zeros((0, 3)), tmp_path / "cloud.pts")
    assert read_pts(tmp_path / "cloud.pts")["points"].shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: is not a count: ''"),
        ("x y z\n1 2 3\n", "line 1: is not a count"),
        ("2\n1 2 3\n", "points: 2 announced, the file holds 1"),
        ("1\n1 2 3 4 5\n", "points: lines of 5 numbers"),
        ("1\n1 2 inf\n", "points: holds a coordinate that is not finite"),
        ("1\n1 2 1e308\n", "points: holds a coordinate that is not finite"),
        ("1\n1 2 3 nan\n", "intensity: holds a number that is not finite"),
        ("1\n1 2 3 1e308\n", "intensity: holds a number beyond the range of float32"),
        ("1\n1 2 3 0 1 2 256\n", "colors: holds a number that is no uint8"),
        ("1\n1 2 3 0 1 2 0.5\n", "colors: holds a number that is no uint8"),
        ("2\n1 2 3\n1 2 3 4\n", "is not a table of numbers"),
    ],
)
def test_damaged_pts_are_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"cloud\.pts: {message}"):
        read_pts(stored(tmp_path, text, "cloud.pts"))


@pytest.mark.parametrize("kind", ["binary.ply", "text.ply", "cloud.pts"])
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "text.ply":
        stored(tmp_path, TEXT, kind)
    elif kind == "binary.ply":
        write_ply(POINTS, path, colors=COLORS, sigma=INTENSITY)
    else:
        write_pts(POINTS, path, intensity=INTENSITY, colors=COLORS)
    whole, read = path.read_bytes(), read_pts if kind == "cloud.pts" else read_ply

    @settings(deadline=None, max_examples=150)
    @given(data=damaged(whole))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            points = read(path)["points"]
            assert points.shape[1] == 3
            assert np.isfinite(points).all()
            return
        except InputError as error:
            message = str(error)
        assert message.startswith(f"{path}: ")
        assert len(message.splitlines()) == 1

    check()
