"""A kept result is used again only if nothing that it depends on has changed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenodepth import cache
from plenodepth.cache import WorkFolder, cache_key, file_hash, source_hash
from plenodepth.camera import preset


class Kind(Enum):
    ONE = 1
    TWO = 2


@dataclass(frozen=True)
class Settings:
    size: int = 3
    kind: Kind = Kind.ONE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 1.0 + 2**-52),
        (float("nan"), float("inf")),
        (np.arange(3), np.arange(3.0)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros(3), np.array([0.0, 0.0, 1e-300])),
        (Settings(), Settings(size=4)),
        (Settings(), Settings(kind=Kind.TWO)),
        ({"a": 1}, {"b": 1}),
        ([1, 2], [2, 1]),
        (None, "None"),
        ({1, 2}, {1, 3}),
        (Path("a"), Path("b")),
    ],
    ids=repr,
)
def test_other_values_have_another_key(one: Any, other: Any) -> None:
    assert cache_key({"x": one}) == cache_key({"x": one})
    assert cache_key({"x": one}) != cache_key({"x": other})


def test_a_value_that_cannot_be_hashed_is_no_part_of_a_key() -> None:
    with pytest.raises(TypeError, match="a function cannot be part of a cache key"):
        cache_key({"x": lambda: None})


def test_everything_in_a_camera_counts() -> None:
    camera = preset("r12-a")
    others = [
        replace(camera, blur_coefficient=0.5),
        replace(camera, depth_scale=np.array([0.0, 1.0, 1.0])),
        replace(camera, name="another"),
        replace(camera, main_lens=replace(camera.main_lens, f_number=2.0)),
        replace(camera, provenance=replace(camera.provenance, notes=("a note",))),
    ]
    keys = [cache_key({"camera": one}) for one in (camera, *others)]
    assert len({*keys}) == len(keys)
    assert keys[0] == cache_key({"camera": preset("r12-a")})


def test_files_count_by_their_content(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"a")
    two.write_bytes(b"a")
    assert cache_key({}, [one]) == cache_key({}, [two]) != cache_key({}, [])
    before = file_hash(one)
    one.write_bytes(b"b")
    os.utime(one, ns=(0, 0))  # the time is another one, too, however coarse the clock of the disk
    assert file_hash(one) != before


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"pixels")
    first = file_hash(path)
    monkeypatch.setattr(cache.hashlib, "file_digest", None)  # a second reading would fail
    assert file_hash(path) == file_hash(str(path)) == first


def test_a_changed_source_changes_every_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("sim", "calib"):
        (tmp_path / room).mkdir()
    for name in ("errors.py", "calib/a.py", "sim/b.py"):
        (tmp_path / name).write_text("x = 1")
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)

    def keys() -> tuple[str, str]:
        source_hash.cache_clear()
        return cache_key({}), cache_key({}, rooms=["sim"])

    try:
        before = keys()
        (tmp_path / "calib" / "a.py").write_text("x = 2")
        after = keys()
        assert after[0] != before[0]
        assert after[1] == before[1]  # only the sources of that room count,
        for name in ("sim/b.py", "errors.py"):  # and those that every room uses
            (tmp_path / name).write_text("x = 2")
            assert keys()[1] != before[1]
            (tmp_path / name).write_text("x = 1")
    finally:
        source_hash.cache_clear()


# --- work folders -----------------------------------------------------------------------------------------------


def test_a_record_is_found_by_its_key(tmp_path: Path) -> None:
    work = WorkFolder(tmp_path)
    (tmp_path / "result.csv").write_text("1")
    written = work.keep("step.json", "key", ["result.csv"], {"notes": ["κ"]})
    assert work.kept("step.json", "key") == written == {"key": "key", "files": ["result.csv"], "notes": ["κ"]}
    assert work.kept("step.json", "other key") is None
    assert work.kept("other.json", "key") is None


@pytest.mark.parametrize("damage", ["missing result", "half a record", "no dictionary"])
def test_damage_counts_as_not_done(tmp_path: Path, damage: str) -> None:
    work = WorkFolder(tmp_path)
    (tmp_path / "result.csv").write_text("1")
    work.keep("step.json", "key", ["result.csv"], {})
    if damage == "missing result":
        (tmp_path / "result.csv").unlink()
    else:
        (tmp_path / "step.json").write_text('{"key": "ke' if damage == "half a record" else json.dumps(["key"]))
    assert work.kept("step.json", "key") is None


def test_a_fresh_folder_uses_nothing_older(tmp_path: Path) -> None:
    WorkFolder(tmp_path).keep("step.json", "key", [], {})
    (tmp_path / "map.npz").write_bytes(b"")
    fresh = WorkFolder.fresh(tmp_path)  # at once: what was made a moment ago is old, too
    assert fresh.kept("step.json", "key") is None
    assert not fresh.has("map.npz")
    assert WorkFolder(tmp_path).has("map.npz")
    fresh.keep("step.json", "key", [], {})
    assert fresh.kept("step.json", "key") is not None
    assert fresh.within(tmp_path / "sub").since == fresh.since
