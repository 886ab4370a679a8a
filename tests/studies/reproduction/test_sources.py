"""Published datasets are found by their folders' names, and what they lack is said in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.images import write_image
from plenodepth.studies.reproduction.published import SCENES
from plenodepth.studies.reproduction.sources import find_source
from plenodepth.studies.reproduction.study import Study


def picture(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_image(np.zeros((12, 16), np.uint16), path)


def published(root: Path, name: str = "R12_A") -> Path:
    """A dataset as its description has it."""
    folder = root / name
    for number in ("4", "5.66", "8"):
        picture(folder / "white" / f"white_f{number}.png")
    for index in range(3):
        picture(folder / "boards" / f"{index:02d}.png")
        picture(folder / "steps" / f"step_{index:02d}.png")
    (folder / "steps" / "distances.txt").write_text("0 300\n1 290\n2 280\n")
    return root


def test_a_published_dataset_is_told_by_its_folders(tmp_path: Path) -> None:
    found = find_source(Study(tmp_path / "out", data=published(tmp_path)), "r12-a")
    assert {image.f_number for image in found.whites} == {4.0, 5.66, 8.0}
    assert found.white.name == "white_f4.png"
    assert [image.frame for image in found.boards.images] == [0, 1, 2]
    assert [(shot.frame, shot.distance) for shot in found.shots] == [(2, 280.0), (1, 290.0), (0, 300.0)]
    assert (found.optics.width, found.optics.height, found.optics.focus_distance) == (16, 12, 450.0)
    assert (found.boards.board.columns, found.boards.board.square) == (9, 10.0)
    # Γ is fitted to the same board across the axis.
    assert found.scale_boards is not None
    assert [image.path.parent.name for image in found.scale_boards.images] == ["steps"] * 3
    assert found.scale_boards.board == found.boards.board


def test_the_checksum_is_of_the_content_of_the_files(tmp_path: Path) -> None:
    one, other = (Study(tmp_path / "out", data=published(tmp_path / place)) for place in ("here", "there"))
    assert find_source(one, "r12-a").checksum == find_source(other, "r12-a").checksum
    write_image(np.ones((12, 16), np.uint16), tmp_path / "there" / "R12_A" / "boards" / "00.png")
    assert find_source(one, "r12-a").checksum != find_source(other, "r12-a").checksum


def test_scenes_are_images_and_clouds_that_name_them(tmp_path: Path) -> None:
    folder = tmp_path / "R12-ELP20"
    picture(folder / "white" / "f4.png")
    for scene in SCENES:
        picture(folder / "scenes" / scene.title() / "raw.png")
        (folder / "scenes" / scene.title() / "scan.pts").write_text("1\n1 2 3 0 1 2 3\n")
    found = find_source(Study(tmp_path / "out", data=tmp_path), "r12-elp20")
    assert list(found.scenes) == list(SCENES)
    assert found.scenes["plane-2"].image == folder / "scenes" / "Plane-2" / "raw.png"
    assert found.scenes["plane-2"].cloud == folder / "scenes" / "Plane-2" / "scan.pts"
    (folder / "scenes" / "Plane-2" / "scan.pts").unlink()
    with pytest.raises(InputError, match="has no cloud of the scene plane-2"):
        find_source(Study(tmp_path / "out", data=tmp_path), "r12-elp20")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("white/white_f4.png", "has no white image at f/4"),
        ("boards", "lacks board images"),
        ("steps/distances.txt", "lacks distances"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, missing: str, message: str) -> None:
    folder = published(tmp_path) / "R12_A"
    gone = folder / missing
    for path in [*gone.rglob("*"), *([gone] if gone.is_file() else [])]:
        path.unlink()
    with pytest.raises(InputError, match=message):
        _ = find_source(Study(tmp_path / "out", data=tmp_path), "r12-a").white


def test_a_frame_without_a_distance_is_named(tmp_path: Path) -> None:
    picture(published(tmp_path) / "R12_A" / "steps" / "step_07.png")
    with pytest.raises(InputError, match=r"has no distance of frames \[7\]"):
        find_source(Study(tmp_path / "out", data=tmp_path), "r12-a")


def test_a_folder_without_the_dataset_lists_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no folder R12-B, only R12_A"):
        find_source(Study(tmp_path / "out", data=published(tmp_path)), "r12-b")
    with pytest.raises(InputError, match="is no folder"):
        find_source(Study(tmp_path / "out", data=tmp_path / "nowhere"), "r12-b")
