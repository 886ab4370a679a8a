from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from plenodepth.errors import InputError
from plenodepth.io import (
    CENTER_DTYPE,
    CORNER_DTYPE,
    FEATURE_DTYPE,
    Observations,
    observation_table,
    read_observations,
    write_observations,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ROW = {"k": 1, "l": 2, "u": 0.1, "v": 20.0, "rho": -3.5, "cluster": 4, "frame": 5}


def tables(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    """Tables of `dtype` whose numbers are all finite."""
    integers = st.integers(-(2**31), 2**31 - 1)
    row = st.tuples(*(integers if dtype[name].kind == "i" else FINITE for name in dtype.names or ()))
    return arrays.arrays(dtype, st.integers(0, 5), elements=row)


def table(dtype: np.dtype[Any], rows: int = 1, **changes: Any) -> Any:
    values = {name: changes.get(name, ROW[name]) for name in dtype.names or ()}
    return observation_table(dtype, **{name: np.broadcast_to(value, rows) for name, value in values.items()})


def stored(tmp_path: Path, data: bytes | str, name: str = "a.bin") -> Path:
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return tmp_path / name


# --- archives ---------------------------------------------------------------------------------------------------


def test_the_bytes_of_an_archive(tmp_path: Path) -> None:
    observations = Observations(table(CENTER_DTYPE), table(CORNER_DTYPE), table(FEATURE_DTYPE))
    write_observations(observations, tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == (
        struct.pack("<Qiidd", 1, 1, 2, 0.1, 20)
        + struct.pack("<Qiiddii", 1, 1, 2, 0.1, 20, 4, 5)
        + struct.pack("<Qiidddii", 1, 1, 2, 0.1, 20, -3.5, 4, 5)
    )


@settings(deadline=None)  # writes files
@given(centers=tables(CENTER_DTYPE), corners=tables(CORNER_DTYPE), features=tables(FEATURE_DTYPE))
def test_every_archive_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, centers: Any, corners: Any, features: Any
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    for name in ("a.bin", "a.bin.gz"):
        write_observations(Observations(centers, corners, features), folder / name)
        back = read_observations(folder / name)
        for written, read in ((centers, back.centers), (corners, back.corners), (features, back.features)):
            assert read.dtype == written.dtype
            assert read.tobytes() == written.tobytes()
    assert gzip.decompress((folder / "a.bin.gz").read_bytes()) == (folder / "a.bin").read_bytes()


def test_the_same_observations_give_the_same_compressed_bytes(tmp_path: Path) -> None:
    for name in ("a.bin.gz", "b.BIN.GZ"):
        write_observations(Observations(features=table(FEATURE_DTYPE, 100)), tmp_path / name)
    data = (tmp_path / "a.bin.gz").read_bytes()
    assert data == (tmp_path / "b.BIN.GZ").read_bytes()
    assert data[3:8] == bytes(5)  # no name and no time in the header


def archive() -> bytes:
    return b"".join([bytes(16), struct.pack("<Q", 2), table(FEATURE_DTYPE, 2).tobytes()])


@pytest.mark.parametrize("size", [0, 4, 8, 20, 24, 63, 103])
def test_a_truncated_archive_names_the_table(tmp_path: Path, size: int) -> None:
    table_at_fault = {0: "centers", 4: "centers", 8: "corners"}.get(size, "features")
    with pytest.raises(InputError, match=rf"a\.bin: {table_at_fault}: cannot be read.*truncated"):
        read_observations(stored(tmp_path, archive()[:size]))


def test_a_count_beyond_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"centers: .*18446744073709551615 announced, the file has room for 0"):
        read_observations(stored(tmp_path, b"\xff" * 8))


def test_bytes_too_many_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.bin: has 3 bytes too many"):
        read_observations(stored(tmp_path, archive() + b"\0\0\0"))


@pytest.mark.parametrize("column", ["u", "v", "rho"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_position_that_is_not_finite_is_named(tmp_path: Path, column: str, value: float) -> None:
    faulty = table(FEATURE_DTYPE, 3)
    faulty[column][1] = value
    with pytest.raises(InputError, match=rf"a\.bin: features\.1\.{column}: is not finite"):
        read_observations(stored(tmp_path, bytes(16) + struct.pack("<Q", 3) + faulty.tobytes()))
    for name in ("b.bin.gz", "b.csv"):
        with pytest.raises(InputError, match=rf"{name}: features\.1\.{column}: is not finite"):
            write_observations(Observations(features=faulty), tmp_path / name)


def test_damaged_gzip_files_are_told(tmp_path: Path) -> None:
    data = gzip.compress(archive())
    for broken in (data[:30], data[:-4], data[:20] + b"\xff\xff" + data[22:], data[:-8] + bytes(8), data + b"tail"):
        with pytest.raises(InputError, match=r"a\.bin\.gz: is damaged or truncated"):
            read_observations(stored(tmp_path, broken, "a.bin.gz"))


def test_a_wrong_suffix_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not compressed with gzip \(name an uncompressed archive \.bin\)"):
        read_observations(stored(tmp_path, archive(), "a.bin.gz"))
    with pytest.raises(InputError, match=r"is compressed, its name should end with \.bin\.gz"):
        read_observations(stored(tmp_path, gzip.compress(archive()), "a.bin"))
    for function in (read_observations, lambda path: write_observations(Observations(), path)):
        with pytest.raises(InputError, match=r"a\.txt: .*\(use \.bin, \.bin\.gz or \.csv\)"):
            function(tmp_path / "a.txt")


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "folder.bin").mkdir()
    for name, message in (("a.bin", "does not exist"), ("a.csv", "does not exist"), ("folder.bin", "is a folder")):
        with pytest.raises(InputError, match=message):
            read_observations(tmp_path / name)


# --- CSV files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype"), [("centers", CENTER_DTYPE), ("corners", CORNER_DTYPE), ("features", FEATURE_DTYPE)]
)
@settings(deadline=None)  # writes files
@given(data=st.data())
def test_every_csv_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, name: str, dtype: np.dtype[Any], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    written = data.draw(tables(dtype))
    write_observations(Observations(**{name: written}), path)
    back = dict(read_observations(path).tables())
    assert back.pop(name).tobytes() == written.tobytes()
    assert [len(other) for other in back.values()] == [0, 0]


def test_the_text_of_a_csv(tmp_path: Path) -> None:
    write_observations(Observations(features=table(FEATURE_DTYPE)), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == b"k,l,u,v,rho,cluster,frame\n1,2,0.1,20.0,-3.5,4,5\n"


def test_csv_files_of_other_programs_are_read(tmp_path: Path) -> None:
    text = "\ufeffk, l, u, v\r\n1,2,3,4.5\r\n\r\n5, 6, 7e1, -8\r\n\r\n"
    centers = read_observations(stored(tmp_path, text, "a.csv")).centers
    assert centers.tolist() == [(1, 2, 3.0, 4.5), (5, 6, 70.0, -8.0)]


def test_a_csv_holds_one_table(tmp_path: Path) -> None:
    both = Observations(centers=table(CENTER_DTYPE), features=table(FEATURE_DTYPE))
    with pytest.raises(InputError, match=r"holds one table, not centers and features \(use the suffix \.bin\.gz, or"):
        write_observations(both, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: unknown header '' "),
        ("u,v\n1,2\n", r"line 1: unknown header 'u,v' \(start with k,l,u,v or "),
        ("1,2,3,4\n", "line 1: unknown header"),
        ("k,l,u,v\n1,2,3,4\n1,2,3\n", "line 3: has 3 values instead of 4"),
        ("k,l,u,v\n\n1,2,3,4,5\n", "line 3: has 5 values instead of 4"),
        ("k,l,u,v\n1,2,3,4\n1,2,x,4\n", "line 3: u is not a number: 'x'"),
        ("k,l,u,v\n1,2,,4\n", "line 2: u is not a number: ''"),
        ("k,l,u,v\n1,2,3,4\n\n1,2,3,nan\n", "line 4: v is not finite"),
        ("k,l,u,v\n1,2,3,1e999\n", "line 2: v is not finite"),
        ("k,l,u,v\n1.5,2,3,4\n", "line 2: k is not a 32-bit integer: 1.5"),
        ("k,l,u,v\n1,2147483648,3,4\n", "line 2: l is not a 32-bit integer"),
        ("k,l,u,v\nnan,2,3,4\n", "line 2: k is not a 32-bit integer: nan"),
        ("k,l,u,v\n1,2,3,4 # 5\n", "line 2: v is not a number"),
        ("k,l,u,v\n1;2;3;4\n", "line 2: has 1 values instead of 4"),
    ],
)
def test_a_bad_csv_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.csv: {message}"):
        read_observations(stored(tmp_path, text, "a.csv"))


def test_a_binary_file_is_no_csv(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.csv: is not UTF-8 text"):
        read_observations(stored(tmp_path, gzip.compress(archive()), "a.csv"))


# --- tables -----------------------------------------------------------------------------------------------------


def test_tables_are_made_from_columns() -> None:
    made = observation_table(CENTER_DTYPE, k=[1, 2], l=3, u=[4.0, 5.0], v=6)
    assert made.tolist() == [(1, 3, 4.0, 6.0), (2, 3, 5.0, 6.0)]
    with pytest.raises(ValueError, match="the columns"):
        observation_table(CENTER_DTYPE, k=[1], l=[2])


@pytest.mark.parametrize("centers", [np.zeros((2, 4)), np.zeros(2, FEATURE_DTYPE), np.zeros((2, 2), CENTER_DTYPE)])
def test_a_table_of_another_kind_is_refused(centers: Any) -> None:
    with pytest.raises(InputError, match="centers: is not a one-dimensional array"):
        Observations(centers=centers)
