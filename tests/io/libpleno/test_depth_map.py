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
from plenodepth.io import DepthMapArchive, read_depth_map, write_depth_map

# Two columns of three rows: the entries run down the first column, then down the second.
ENTRIES = [(2.5, 0.9, 2), (0.0, -1.0, 0), (3.5, -1.0, 1), (4.5, 0.5, 2), (0.0, 0.25, 1), (6.5, 0.75, 2)]


def packed(entries: list[tuple[float, float, int]], cols: int, rows: int, metric: int = 0, coarse: int = 1) -> bytes:
    body = b"".join(struct.pack("<ddH", *entry) for entry in entries)
    return struct.pack("<Q", len(entries)) + body + struct.pack("<iiddBB", cols, rows, 2.0, 18.0, metric, coarse)


def stored(tmp_path: Path, data: bytes, name: str = "map.bin") -> Path:
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


@pytest.mark.parametrize("name", ["map.bin", "map.bin.gz"])
def test_entries_run_down_the_columns_and_missing_is_nan(tmp_path: Path, name: str) -> None:
    data = packed(ENTRIES, cols=2, rows=3)
    read = read_depth_map(stored(tmp_path, gzip.compress(data) if name.endswith("gz") else data, name))
    nan = np.nan
    np.testing.assert_array_equal(read.depth, [[2.5, 4.5], [nan, nan], [3.5, 6.5]])
    np.testing.assert_array_equal(read.confidence, [[0.9, 0.5], [nan, 0.25], [nan, 0.75]])
    np.testing.assert_array_equal(read.state, [[2, 2], [0, 1], [1, 2]])
    assert read.state.dtype == np.uint16
    assert (read.minimum, read.maximum, read.metric, read.coarse) == (2.0, 18.0, False, True)
    write_depth_map(read, tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == data


SHAPES = arrays.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=4)


@settings(deadline=None)  # writes files
@given(data=st.data(), shape=SHAPES, metric=st.booleans(), coarse=st.booleans())
def test_every_map_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, shape: tuple[int, int], metric: bool, coarse: bool
) -> None:
    values = st.one_of(st.just(np.nan), st.floats(1e-3, 1e6))
    written = DepthMapArchive(
        depth=data.draw(arrays.arrays(np.float64, shape, elements=values)),
        confidence=data.draw(arrays.arrays(np.float64, shape, elements=values)),
        state=data.draw(arrays.arrays(np.uint16, shape)),
        minimum=1.5,
        maximum=20.0,
        metric=metric,
        coarse=coarse,
    )
    path = tmp_path_factory.mktemp("map") / "map.bin.gz"
    write_depth_map(written, path)
    read = read_depth_map(path)
    for name in DepthMapArchive.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "entries: cannot be read"),
        (packed(ENTRIES, 2, 3)[:60], "entries: cannot be read: 6 announced, the file has room for 2"),
        (packed(ENTRIES, 2, 3)[:-1], "ends before the size of the map"),
        (packed(ENTRIES, 2, 3) + b"\0", "has 1 bytes too many"),
        (packed(ENTRIES, 2, 2), "cols, rows: 2 columns x 2 rows do not make 6 entries"),
        (packed(ENTRIES, -2, -3), "cols, rows: -2 columns"),
        (packed(ENTRIES, 2, 3, metric=2), "metric: is 2, not 0 or 1"),
        (packed(ENTRIES, 2, 3, coarse=255), "coarse: is 255, not 0 or 1"),
        (packed([(np.inf, 0.0, 0)], 1, 1), "entries: an infinite value"),
    ],
)
def test_a_damaged_map_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"map\.bin: {message}"):
        read_depth_map(stored(tmp_path, data))


def test_a_map_with_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"map\.png: .*\(use the suffix \.bin or \.bin\.gz\)"):
        read_depth_map(tmp_path / "map.png")


def flat(**changes: Any) -> DepthMapArchive:
    fields: dict[str, Any] = {
        "depth": np.ones((2, 3)),
        "confidence": np.ones((2, 3)),
        "state": np.zeros((2, 3), np.uint16),
    }
    return DepthMapArchive(**(fields | changes), minimum=0.0, maximum=1.0, metric=False, coarse=True)


def test_arrays_of_different_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"state: has the shape \(3, 2\)"):
        flat(state=np.zeros((3, 2), np.uint16))
    with pytest.raises(InputError, match=r"depth: has the shape \(6,\)"):
        flat(depth=np.ones(6))


def test_an_infinite_depth_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"map\.bin: depth: holds an infinite value"):
        write_depth_map(flat(depth=np.full((2, 3), np.inf)), tmp_path / "map.bin")
