"""Clouds of other programs: .pts, .ptx, .xyz, libpleno's archives, poses of RxLive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from damage import damaged
from hypothesis import given, settings

from plenodepth.errors import InputError
from plenodepth.io.clouds.any_format import read_cloud
from plenodepth.io.clouds.ply import write_ply
from plenodepth.io.clouds.pts import write_pts
from plenodepth.io.clouds.ptx import read_ptx
from plenodepth.io.libpleno.point_cloud import PointCloudArchive, read_point_cloud, write_point_cloud
from plenodepth.io.raytrix import read_raytrix_pose

RNG = np.random.default_rng(0)
POINTS = RNG.uniform([-200, -150, 500], [200, 150, 900], (40, 3))  # mm
COLORS = RNG.integers(0, 256, (40, 3)).astype(np.uint8)


def stored(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def lines(rows: np.ndarray) -> str:
    return "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows)


def test_a_pts_in_metres_and_one_in_millimetres_give_the_same_points_and_say_so(tmp_path: Path) -> None:
    write_pts(POINTS, tmp_path / "m.pts", colors=COLORS)
    in_metres = read_cloud(tmp_path / "m.pts")
    in_millimetres = read_cloud(stored(tmp_path, "mm.pts", f"{len(POINTS)}\n{lines(POINTS)}"))
    for cloud, word in ((in_metres, "taken for metres"), (in_millimetres, "taken for millimetres")):
        np.testing.assert_allclose(cloud.points, POINTS, atol=1e-3)
        assert word in cloud.notes[0]
    assert in_metres.colors is not None
    np.testing.assert_array_equal(in_metres.colors, COLORS)
    assert in_millimetres.colors is None


def test_a_unit_that_is_given_is_taken_and_nothing_is_guessed(tmp_path: Path) -> None:
    path = stored(tmp_path, "small.pts", f"{len(POINTS)}\n{lines(POINTS / 100)}")
    assert "metres" in read_cloud(path).notes[0]
    given_unit = read_cloud(path, "mm")
    np.testing.assert_allclose(given_unit.points, POINTS / 100, atol=1e-6)
    assert given_unit.notes == ()
    with pytest.raises(InputError, match=r"unit: is 'cm' \(use m or mm\)"):
        read_cloud(path, "cm")


def test_the_unit_is_told_by_the_extent_and_not_by_the_place(tmp_path: Path) -> None:
    far = POINTS / 1000 + [652_000.0, 5_060_000.0, 400.0]  # coordinates of a survey
    assert "metres" in read_cloud(stored(tmp_path, "far.pts", f"{len(far)}\n{lines(far)}")).notes[0]


HEADER = "{columns}\n{rows}\n1 2 3\n1 0 0\n0 1 0\n0 0 1\n0 1 0 0\n-1 0 0 0\n0 0 1 0\n10 20 30 1\n"


def ptx(columns: int, rows: int, body: str) -> str:
    return HEADER.format(columns=columns, rows=rows) + body


def test_scans_of_a_ptx_are_brought_to_their_common_frame_and_lost_beams_left_out(tmp_path: Path) -> None:
    # Row vectors times the matrix: (x, y, z) → (10 − y, 20 + x, 30 + z).
    text = ptx(2, 1, "1 2 3 0.5 7 8 9\n0 0 0 0.5 0 0 0\n") + ptx(1, 2, "0 0 5 0.25 1 2 3\n1 0 0 1 4 5 6\n")
    first, second = read_ptx(stored(tmp_path, "scan.ptx", text))
    np.testing.assert_allclose(first.points, [[8, 21, 33]])
    np.testing.assert_allclose(second.points, [[10, 20, 35], [10, 21, 30]])
    np.testing.assert_array_equal(second.colors, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(second.intensity, np.float32([0.25, 1]))
    np.testing.assert_array_equal(first.position, [1, 2, 3])
    assert (first.missing, second.missing) == (1, 0)
    cloud = read_cloud(tmp_path / "scan.ptx")
    np.testing.assert_allclose(cloud.points, 1000 * np.array([[8, 21, 33], [10, 20, 35], [10, 21, 30]]))
    np.testing.assert_array_equal(cloud.colors, [[7, 8, 9], [1, 2, 3], [4, 5, 6]])
    assert "2 scans, 3 points, 1 beams met nothing" in cloud.notes[0]


def test_a_matrix_stored_for_columns_is_told_from_one_for_rows(tmp_path: Path) -> None:
    text = "1\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 -1 0 10\n1 0 0 20\n0 0 1 30\n0 0 0 1\n1 2 3 0.5\n"
    (scan,) = read_ptx(stored(tmp_path, "scan.ptx", text))
    np.testing.assert_allclose(scan.points, [[8, 21, 33]])
    assert scan.colors is None


GOOD = ptx(2, 2, "1 2 3 0.5\n" * 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (GOOD[:-20], r"line 12: the file ends, scan 1 has 2 points of 2 × 2 = 4"),
        (GOOD[:-4], "line 14: has 3 numbers, the lines before 4"),
        (GOOD + GOOD[:-10], r"line 27: the file ends, scan 2 has 3 points of 2 × 2 = 4"),
        (GOOD + "5\n", "line 16: the file ends before the number of rows"),
        (GOOD + "5\n1\n0 0\n", "line 17: has 2 values, needs 3 numbers: the scanner's pose"),
        (GOOD.replace("10 20 30 1", "10 20 30 x"), "line 10: is not a number: 'x', needs 4 numbers"),
        (GOOD.replace("10 20 30 1", "10 20 30 0"), r"lines 7 … 10: the matrix moves no points rigidly"),
        (GOOD.replace("1 2 3 0.5\n", "1 2\n"), "line 11: has 2 numbers"),
        (GOOD.replace("0.5", "1e308"), "intensity: holds a number beyond the range of float32"),
        (
            GOOD.replace("1 2 3 0.5", "1e308 2 3 0.5").replace("0 1 0 0\n-1", "0 9 0 0\n-1"),
            "points: holds a coordinate",
        ),
        (GOOD.replace("2\n2\n", "2.5\n2\n"), "line 1: is no number of columns"),
    ],
)
def test_a_damaged_ptx_is_told_with_line_and_count(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"scan\.ptx: {message}"):
        read_ptx(stored(tmp_path, "scan.ptx", text))


def test_xyz_with_and_without_a_count_is_read_whatever_ends_its_lines(tmp_path: Path) -> None:
    counted = stored(tmp_path, "counted.xyz", f"{len(POINTS)}\n\n{lines(POINTS / 1000)}")
    np.testing.assert_allclose(read_cloud(counted).points, POINTS / 1000, atol=1e-6)  # libpleno's are in mm
    assert read_cloud(counted).notes == ()
    (tmp_path / "plain.xyz").write_bytes(lines(POINTS / 1000).replace("\n", "\r\n").encode())
    plain = read_cloud(tmp_path / "plain.xyz")
    np.testing.assert_allclose(plain.points, POINTS, atol=1e-3)
    assert "metres" in plain.notes[0]
    with pytest.raises(InputError, match="points: 3 announced, the file holds 2"):
        read_cloud(stored(tmp_path, "short.xyz", "3\n\n1 2 3\n4 5 6\n"))
    with pytest.raises(InputError, match="line 2: is not a number: 'b'"):
        read_cloud(stored(tmp_path, "words.xyz", "1 2 3\n4 b 6\n"))


def test_a_cloud_without_points_or_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    for name in ("empty.xyz", "empty.las"):
        stored(tmp_path, name, "")
    with pytest.raises(InputError, match=r"empty\.xyz: holds no points"):
        read_cloud(tmp_path / "empty.xyz")
    with pytest.raises(InputError, match=r"empty\.las: has the suffix '\.las' \(give a cloud: \.ply"):
        read_cloud(tmp_path / "empty.las")
    with pytest.raises(InputError, match="does not exist"):
        read_cloud(tmp_path / "none.pts")


@pytest.mark.parametrize("colored", [True, False])
def test_an_archive_of_a_cloud_comes_back(tmp_path: Path, colored: bool) -> None:
    pixels = RNG.uniform(0, 4000, (len(POINTS), 2))
    pixels[3] = np.nan
    colors = COLORS if colored else COLORS[:0]
    path = tmp_path / "cloud.bin.gz"
    write_point_cloud(PointCloudArchive(POINTS, pixels, colors), path)
    back = read_point_cloud(path)
    np.testing.assert_array_equal(back.points, POINTS)
    np.testing.assert_allclose(back.pixels, pixels)
    np.testing.assert_array_equal(back.colors, colors)
    cloud = read_cloud(path)
    assert (cloud.colors is not None) == colored
    assert len(cloud) == len(POINTS)


def test_an_archive_starts_with_its_sizes_and_has_pixel_centres_at_halves(tmp_path: Path) -> None:
    path = tmp_path / "cloud.bin"
    write_point_cloud(PointCloudArchive(np.array([[1.0, 2, 3]]), np.array([[4.0, 5]]), np.uint8([[6, 7, 8]])), path)
    data = path.read_bytes()
    assert np.frombuffer(data[:24], "<u8").tolist() == [1, 1, 3]
    assert np.frombuffer(data[24:48], "<f8").tolist() == [1, 2, 3]
    assert np.frombuffer(data[48:72], "<u8").tolist() == [1, 1, 2]
    assert np.frombuffer(data[72:88], "<f8").tolist() == [4.5, 5.5]
    assert np.frombuffer(data[88:96], "<u8").tolist() == [1]
    assert np.frombuffer(data[96:], "<f8").tolist() == [6, 7, 8, 255]


def test_a_pose_of_rxlive_is_read_after_its_header(tmp_path: Path) -> None:
    header = "# one\n# two\n# three\n# four\n# five\n"
    pose = read_raytrix_pose(stored(tmp_path, "pose.mat", header + "0 -1 0 5\n1 0 0 6\n0 0 1 -700.5\n0 0 0 1\n"))
    np.testing.assert_array_equal(pose.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(pose.translation, [5, 6, -700.5])
    with pytest.raises(InputError, match="line 8: the file ends before a row of"):
        read_raytrix_pose(stored(tmp_path, "pose.mat", header + "0 -1 0 5\n1 0 0 6\n"))
    with pytest.raises(InputError, match="lines 6 … 8: singular pose"):
        read_raytrix_pose(stored(tmp_path, "pose.mat", header + "0 -1 0 5\n1 0 0 6\n0 0 2 7\n"))


@pytest.mark.parametrize("kind", ["scan.ptx", "cloud.xyz", "cloud.bin", "cloud.bin.gz"])
def test_a_damaged_cloud_is_read_or_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind.endswith(".ptx"):
        path.write_text(GOOD)
    elif kind.endswith(".xyz"):
        path.write_text(f"3\n\n{lines(POINTS[:3])}")
    else:
        write_point_cloud(PointCloudArchive(POINTS[:3], POINTS[:3, :2], COLORS[:3]), path)
    whole = path.read_bytes()

    @settings(deadline=None, max_examples=150)
    @given(data=damaged(whole))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            points = read_cloud(path).points
            assert points.shape[1] == 3
            assert np.isfinite(points).all()
            return
        except InputError as error:
            message = str(error)
        assert message.startswith(f"{path}: ")
        assert len(message.splitlines()) == 1

    check()


def test_clouds_of_our_own_are_in_millimetres_however_small(tmp_path: Path) -> None:
    write_ply(POINTS / 100, tmp_path / "small.ply")
    cloud = read_cloud(tmp_path / "small.ply")
    np.testing.assert_allclose(cloud.points, POINTS / 100, rtol=1e-6)
    assert cloud.notes == ()
