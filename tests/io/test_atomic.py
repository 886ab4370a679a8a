from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.io import atomic_files, atomic_path, require_writable
from plenodepth.io.atomic import made_folder


def test_a_file_appears_at_the_end_and_nothing_else_stays(tmp_path: Path) -> None:
    target = tmp_path / "map.bin.gz"
    with atomic_path(target) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.endswith("map.bin.gz")
        temporary.write_bytes(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file_and_removes_the_new_one(tmp_path: Path, fault: type[BaseException]) -> None:
    target = tmp_path / "a.js"
    target.write_text("old")

    def write_and_fail() -> None:
        with atomic_path(str(target)) as temporary:
            temporary.write_text("half")
            raise fault

    with pytest.raises(fault):
        write_and_fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_permissions_are_those_of_a_new_file(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        with atomic_path(tmp_path / "a") as temporary:
            temporary.write_text("")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_path(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_the_longest_name_works(tmp_path: Path) -> None:
    target = tmp_path / ("é" * 122 + ".bin.gz")
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    message = r"no/a\.js: its folder does not exist \(create .*no first\)"
    with pytest.raises(InputError, match=message), atomic_path(tmp_path / "no" / "a.js"):
        pytest.fail("the block must not run")


@pytest.mark.parametrize(("path", "message"), [(".", "is a folder"), (os.devnull, "is not a regular file")])
def test_only_a_regular_file_is_replaced(tmp_path: Path, path: str, message: str) -> None:
    with pytest.raises(InputError, match=message), atomic_path(tmp_path / path):
        pytest.fail("the block must not run")


def test_an_unwritable_folder_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object) -> int:  # not chmod: the tests may run as root
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("plenodepth.io.atomic.os.open", refuse)
    message = r"a\.js: cannot be written: Permission denied"
    with pytest.raises(InputError, match=message), atomic_path(tmp_path / "a.js"):
        pytest.fail("the block must not run")


def test_a_full_disk_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.js: cannot be written: No space"), atomic_path(tmp_path / "a.js"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_an_error_about_another_file_passes_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "a.js"):
        (tmp_path / "other").read_text()


def fail_in(folder: Path, *inside: str, fault: type[BaseException] = RuntimeError) -> None:
    """Make a folder, write files and folders (with a slash) into it, and fail."""
    with made_folder(folder) as made:
        for name in inside:
            path = made / name
            path.mkdir(parents=True) if name.endswith("/") else path.write_text("x")
        raise fault


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_folder_made_for_a_block_that_fails_is_gone_with_those_above_it(
    tmp_path: Path, fault: type[BaseException]
) -> None:
    with pytest.raises(fault):
        fail_in(tmp_path / "a" / "b", "c/d/", fault=fault)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_a_file_or_was_there_stays(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        fail_in(tmp_path / "a" / "b", "half.txt", "empty/")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "b", "half.txt"]
    (tmp_path / "there").mkdir()
    with pytest.raises(RuntimeError):
        fail_in(tmp_path / "there")
    assert (tmp_path / "there").is_dir()


def test_a_folder_stays_after_a_block_that_succeeds(tmp_path: Path) -> None:
    with made_folder(tmp_path / "a" / "b") as made:
        assert made == tmp_path / "a" / "b"
    assert made.is_dir()


def test_a_folder_that_cannot_be_made_is_named_and_leaves_none_above_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "new" / ("x" * 300)):
        with pytest.raises(InputError, match="cannot be written"):
            fail_in(place)
        with pytest.raises(InputError, match="cannot be written"):
            require_writable(place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_to_try_whether_a_folder_can_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    require_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    require_writable(tmp_path / "there")
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def test_files_that_appear_together_make_their_folder(tmp_path: Path) -> None:
    with atomic_files(tmp_path / "new") as folder:
        (folder / "a").write_text("x")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a"]
