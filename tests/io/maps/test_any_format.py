"""Depth maps of other programs through one front door: .npy, .exr, .csv, libpleno's archives."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path

import numpy as np
import OpenEXR
import pytest
from damage import damaged
from hypothesis import given, settings

from plenodepth.errors import InputError
from plenodepth.io import DepthMapArchive, write_depth_map, write_float_map
from plenodepth.io.maps import exr
from plenodepth.io.maps.any_format import read_map
from plenodepth.io.maps.exr import read_exr

RNG = np.random.default_rng(0)
DEPTH = np.round(RNG.uniform(400, 900, (37, 11)), 1).astype(np.float32)
DEPTH[3:8, 2:5] = np.nan
ZEROS = np.nan_to_num(DEPTH)  # how other programs write it
HOLES = "15 entries of 0 or without bound are taken for missing"


def archived(metric: bool) -> DepthMapArchive:
    none = np.full(DEPTH.shape, np.nan)
    return DepthMapArchive(DEPTH.astype(np.float64), none, np.zeros(DEPTH.shape, np.uint16), 1, 2000, metric, False)


def write_exr(channels: dict[str, np.ndarray], path: Path, packing: str = "ZIP") -> None:
    header = {"compression": getattr(OpenEXR, f"{packing}_COMPRESSION"), "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, dict(channels)).write(str(path))  # a copy, because the package changes it


def csv_text(frames: dict[int, np.ndarray]) -> str:
    rows = [
        f"{frame},{k},{l},{depth[l, k]!s}"
        for frame, depth in frames.items()
        for l, k in zip(*np.nonzero(np.isfinite(depth)), strict=True)
    ]
    return "frame,k,l,d\n" + "\n".join(rows) + "\n"


def test_every_format_gives_the_same_map_with_holes_as_nan(tmp_path: Path) -> None:
    write_float_map(DEPTH, tmp_path / "map.tiff")
    np.save(tmp_path / "map.npy", DEPTH.astype(np.float64))
    np.save(tmp_path / "zeros.npy", ZEROS)
    write_exr(dict.fromkeys("RGB", ZEROS), tmp_path / "map.exr")
    (tmp_path / "map.csv").write_text(csv_text({0: DEPTH}))
    write_depth_map(archived(metric=True), tmp_path / "map.bin.gz")
    for name, notes in (
        ("map.tiff", ()),
        ("map.npy", ()),
        ("zeros.npy", (HOLES,)),
        ("map.exr", (HOLES,)),
        ("map.csv", ()),
        ("map.bin.gz", ()),
    ):
        found = read_map(tmp_path / name)
        np.testing.assert_array_equal(found.values, DEPTH)
        assert found.notes == notes


def test_virtual_depth_in_an_archive_is_said(tmp_path: Path) -> None:
    write_depth_map(archived(metric=False), tmp_path / "map.bin")
    assert read_map(tmp_path / "map.bin").notes == ("holds virtual depth, not mm",)


def test_a_table_tells_its_frames_and_may_be_smaller_than_the_map(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    path.write_text(csv_text({4: DEPTH, 7: DEPTH + 1}))
    np.testing.assert_array_equal(read_map(path, frame=7).values, DEPTH + 1)
    with pytest.raises(InputError, match=r"holds 2 frames \(4 … 7\)"):
        read_map(path)
    with pytest.raises(InputError, match="has no frame 5"):
        read_map(path, frame=5)
    path.write_text("k,l,depth\r\n2,1,500\r\n0,0,400\r\n")
    assert read_map(path).values.shape == (2, 3)
    larger = read_map(path, shape=(5, 6)).values
    assert larger.shape == (5, 6)
    assert (larger[1, 2], larger[0, 0], np.isfinite(larger).sum()) == (500, 400, 2)
    with pytest.raises(InputError, match="reaches to k = 2, l = 1, the map has 2 × 5"):
        read_map(path, shape=(5, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: starts with nothing"),
        ("x,y,z\n1,2,3\n", "line 1: starts with 'x,y,z'"),
        ("k,l,depth\n", "holds no depth"),
        ("k,l,depth\n1,2\n", "line 2: has 2 values, the header 3"),
        ("k,l,depth\n1,2,3\n1,2\n", "line 3: has 2 numbers, the lines before 3"),
        ("k,l,depth\n1,2,3\n1,x,3\n", "line 3: is not a number: 'x'"),
        ("k,l,depth\n1,-2,3\n", "l: holds a number that is no index"),
        ("k,l,depth\n1.5,2,3\n", "k: holds a number that is no index"),
        ("frame,k,l,d\n1e308,1,2,3\n", "frame: holds a number that is no frame"),
    ],
)
def test_a_damaged_table_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(InputError, match=rf"map\.csv: {message}"):
        read_map(tmp_path / "map.csv")


def test_a_depth_beyond_all_bounds_is_missing(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("k,l,depth\n0,0,1e300\n1,0,500\n")
    np.testing.assert_array_equal(read_map(tmp_path / "map.csv").values, np.float32([[np.nan, 500]]))


@pytest.mark.parametrize("packing", ["NO", "RLE", "ZIPS", "ZIP", "PIZ"])
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_exr_is_read_however_it_is_packed(tmp_path: Path, packing: str, kind: type) -> None:
    flat = np.repeat(np.arange(37.0), 50).reshape(37, 50)
    channels = {"R": RNG.random((37, 50)).astype(kind), "B": flat.astype(kind), "G": np.full((37, 50), np.nan, kind)}
    write_exr(channels, tmp_path / "map.exr", packing)
    found = read_exr(tmp_path / "map.exr")
    assert found.keys() == channels.keys()
    for name, values in channels.items():
        np.testing.assert_array_equal(found[name], values.astype(np.float32))


def test_the_standard_error_is_there_again_after_two_threads_have_silenced_it() -> None:
    before, entered = os.fstat(2), threading.Event()

    def other() -> None:
        with exr._silence():
            entered.set()

    thread = threading.Thread(target=other)
    with exr._silence():
        thread.start()
        assert not entered.wait(0.2)  # it waits for its turn: what it would keep is the silence
    thread.join()
    assert entered.is_set()
    assert os.path.samestat(os.fstat(2), before)


def test_an_exr_that_cannot_be_a_map_is_one_line_and_nothing_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "map.exr"
    write_exr({"Y": ZEROS}, path)
    whole = path.read_bytes()
    window = whole.index(b"dataWindow\0box2i\0") + len(b"dataWindow\0box2i\0") + 4
    huge = whole[:window] + struct.pack("<4i", 0, 0, 10**8, 10**8) + whole[window + 16 :]
    for data, message in (
        (b"", "is not an OpenEXR image"),
        (whole[:50], "is no readable OpenEXR image"),
        (whole[:-40], "is no readable OpenEXR image"),
        (huge, ""),  # the size is refused by the package or by us, but never allocated
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=rf"map\.exr: {message}") as refusal:
            read_map(path)
        assert len(str(refusal.value).splitlines()) == 1
    parts = [OpenEXR.Part({"name": name}, {"Z": ZEROS}) for name in ("a", "b")]
    OpenEXR.File(parts).write(str(path))
    with pytest.raises(InputError, match="has 2 parts"):
        read_map(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["map.exr", "map.npy", "map.csv"])
def test_a_damaged_map_is_read_or_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "map.exr":
        write_exr({"Y": ZEROS[:18]}, path)
    elif kind == "map.npy":
        np.save(path, ZEROS)
    else:
        path.write_text("frame,k,l,d\n0,1,2,500\n0,1,3,600\n")

    @settings(deadline=None, max_examples=150)
    @given(data=damaged(path.read_bytes()))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            assert read_map(path).values.ndim == 2
            return
        except InputError as error:
            message = str(error)
        assert message.startswith(f"{path}: ")
        assert len(message.splitlines()) == 1

    check()


def test_a_map_of_another_kind_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "map.npy", np.zeros((2, 3, 4)))
    with pytest.raises(InputError, match=r"holds float64 of the shape \(2, 3, 4\)"):
        read_map(tmp_path / "map.npy")
    with pytest.raises(InputError, match=r"has the suffix '\.png' \(give a depth map: \.tif"):
        read_map(tmp_path / "map.png")
