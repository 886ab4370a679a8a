from __future__ import annotations

import os
from pathlib import Path

import pytest
from shown_results import write_record, write_result

from plenodepth.errors import InputError
from plenodepth.view.browser.folder import OpenedFolder
from plenodepth.view.browser.frames import open_frames


def test_a_name_with_dots_does_not_lead_out(tmp_path: Path) -> None:
    write_result(tmp_path / "results")
    (tmp_path / "secret.ply").write_text("ply")
    with pytest.raises(InputError, match=r"secret.ply: leads out of the opened folder"):
        OpenedFolder(tmp_path / "results").file("../secret.ply")


def test_an_absolute_name_does_not_lead_out(tmp_path: Path) -> None:
    write_result(tmp_path / "results")
    with pytest.raises(InputError, match="leads out"):
        OpenedFolder(tmp_path / "results").file("/etc/passwd")


def test_a_symbolic_link_does_not_lead_out(tmp_path: Path) -> None:
    outside = write_result(tmp_path / "elsewhere") / "raw.ply"
    folder = tmp_path / "results"
    folder.mkdir()
    write_record(folder / "raw.json")
    (folder / "raw.ply").symlink_to(outside)
    with pytest.raises(InputError, match="leads out of the opened folder"):
        open_frames(folder)


def test_a_record_behind_a_link_does_not_lead_out(tmp_path: Path) -> None:
    outside = write_result(tmp_path / "elsewhere") / "raw.json"
    folder = write_result(tmp_path / "results")
    (folder / "raw.json").unlink()
    (folder / "raw.json").symlink_to(outside)
    with pytest.raises(InputError, match="leads out"):
        open_frames(folder)


def test_a_linked_folder_may_be_opened_and_links_within_it_followed(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "results")
    os.rename(folder / "raw.ply", folder / "kept.ply")
    (folder / "raw.ply").symlink_to("kept.ply")
    (tmp_path / "link").symlink_to(folder)
    (frame,) = open_frames(tmp_path / "link")
    assert len(frame.clouds["cloud"]()) == 4000


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(InputError, match="holds no result"):
        open_frames(tmp_path)


def test_a_result_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    write_result(tmp_path, version="99.1.0")
    with pytest.raises(InputError, match=r"was written by plenodepth 99.1.0, this is .*open it with that version"):
        open_frames(tmp_path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"plenodepth": 3}'])
def test_a_record_that_names_no_version_is_refused(tmp_path: Path, content: str) -> None:
    write_result(tmp_path)
    (tmp_path / "raw.json").write_text(content)
    with pytest.raises(InputError, match=r"raw.json: plenodepth: is no record of a result"):
        open_frames(tmp_path)


def test_a_file_of_two_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    write_result(tmp_path)
    os.truncate(tmp_path / "raw.ply", 2 << 30)  # takes no room on the disk
    with pytest.raises(InputError, match=r"raw.ply: holds 2.1 GB, more than the 1.1 GB that the viewer reads"):
        open_frames(tmp_path)


def test_frames_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write_result(tmp_path, name)
    assert [frame.name for frame in open_frames(tmp_path)] == ["a", "b", "c"]
