"""Distances of frames, and libpleno's lists of results by frame."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.io.frame_tables import read_frame_distances
from plenodepth.io.libpleno.depth_lists import ListedFile, read_depth_list


def stored(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    "text", ["3 450\n1 500.5\n", "frame distance\n3 450\n\n1 500.5 # the farthest\n", "3, 450\r\n1;500.5\r\n"]
)
def test_distances_are_read_by_frame_in_their_order(tmp_path: Path, text: str) -> None:
    found = read_frame_distances(stored(tmp_path, "gt.txt", text))
    assert list(found.items()) == [(3, 450.0), (1, 500.5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no distance"),
        ("frame distance\n", "holds no distance"),
        ("0 450\n1\n", "line 2: has 1 values"),
        ("0 450 3\n", "line 1: has 3 values"),
        ("0 450\n1 nan\n", "line 2: is not finite: 'nan'"),
        ("0 450\nframe distance\n", "line 2: is not a number: 'frame'"),
        ("0.5 450\n", "line 1: frame 0.5 is no whole number"),
        ("0 450\n0 500\n", "line 2: frame 0 is there twice"),
    ],
)
def test_bad_distances_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"gt\.txt: {message}"):
        read_frame_distances(stored(tmp_path, "gt.txt", text))


def test_a_list_names_files_by_kind_and_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = stored(tmp_path, "one.bin.gz", "")
    (tmp_path / "elsewhere").mkdir()
    stored(tmp_path / "elsewhere", "scan.pts", "")
    monkeypatch.chdir(tmp_path / "elsewhere")
    maps = [{"path": "one.bin.gz", "frame": "4"}, {"path": str(beside), "frame": 2}]
    content = {"metric": "true", "maps": maps, "ptss": [{"path": "scan.pts"}], "xyzs": ""}
    found = read_depth_list(stored(tmp_path, "depths.js", json.dumps(content)))
    assert found.files == {
        "maps": (ListedFile(beside, 4), ListedFile(beside, 2)),
        "ptss": (ListedFile(Path("scan.pts"), 0),),
    }
    assert (found.metric, found.coarse) == (True, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"csads": [{"path": "a.exr", "frame": 1}]}, r"csads\.0\.path: a\.exr is not there \(looked in .* and "),
        ({"csads": [{"path": "b.exr", "frame": 1}] * 2}, r"csads\.1\.frame: 1 is there twice"),
        ({"poses": ""}, "is no list of depths"),
        ({"maps": ""}, "lists no file"),
    ],
)
def test_a_bad_list_is_told(tmp_path: Path, content: dict[str, object], message: str) -> None:
    stored(tmp_path, "b.exr", "")
    with pytest.raises(InputError, match=message):
        read_depth_list(stored(tmp_path, "depths.js", json.dumps(content)))
