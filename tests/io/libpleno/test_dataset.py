"""What a folder of real data holds: told by content and by words, and what it lacks with where it was looked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import preset, save_camera
from plenodepth.errors import InputError
from plenodepth.io import FramePose, write_image, write_pose, write_poses, write_pts
from plenodepth.io.libpleno.dataset import LOOKED_FOR, find_dataset


def image(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_image(np.zeros((2, 2), np.uint8), path)
    return path


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset with one file of each kind, under names that nobody agreed on."""
    root = tmp_path / "R12-X"
    image(root / "whites" / "N4.png")
    image(root / "whites" / "mask.png")
    image(root / "Checkerboards" / "0.png")
    image(root / "translation" / "3.png")
    image(root / "Figurines" / "raw.png")
    image(root / "Figurines" / "picture.png")
    write_pts([[1, 2, 3]], root / "Figurines" / "scan.pts")
    text(root / "bap.csv", "k,l,u,v,rho,cluster,frame\n1,2,3,4,5,6,7\n")
    text(root / "centers.csv", "k,l,u,v\n1,2,3,4\n")
    text(root / "cam.js", '{"main_lens": {}, "sensor": {}, "mla": {}}')
    text(root / "start.js", '{"main_lens": {}, "sensor": {}}')
    text(root / "p.js", '{"m": "1", "q": ""}')
    text(root / "s.js", '{"checkerboards": [{"lph": "10", "x_grid": 9, "y_grid": 5}]}')
    text(root / "truth.txt", "0 0\n1 10\n")
    text(root / "readme.txt", "nothing of the kind\n")
    write_poses([FramePose(0, np.eye(3), np.zeros(3))], root / "e.js")
    write_pose(FramePose(0, np.eye(3), np.zeros(3)), root / "l.js")
    return root


def test_every_part_is_found_by_its_content_or_its_path(folder: Path) -> None:
    found = find_dataset(folder)
    names = {kind: [path.relative_to(folder).as_posix() for path in paths] for kind, paths in found.files.items()}
    assert names == {
        "white images": ["whites/N4.png"],
        "devignetting image": ["whites/mask.png"],
        "board images": ["Checkerboards/0.png"],
        "step images": ["translation/3.png"],
        "scene images": ["Figurines/raw.png"],
        "features": ["bap.csv"],
        "camera": ["cam.js"],
        "parameters": ["p.js"],
        "poses": ["e.js"],
        "scene": ["s.js"],
        "distances": ["truth.txt"],
        "lidar clouds": ["Figurines/scan.pts"],
        "lidar pose": ["l.js"],
        "starting camera": ["start.js"],
        "centres": ["centers.csv"],
    }
    assert found.missing == ()
    assert found.unknown == 1


def test_a_list_of_images_wins_over_the_words_of_paths(folder: Path) -> None:
    image(folder / "a.png")
    image(folder / "Checkerboards" / "white.png")
    content = {
        "whites": [{"path": "a.png", "fnumber": "4"}, {"path": "gone.png"}],
        "checkerboards": [{"path": "Checkerboards/white.png", "frame": "1"}],
        "mask": {"path": "whites/mask.png", "fnumber": "4"},
    }
    text(folder / "images.js", json.dumps(content))
    found = find_dataset(folder)
    assert folder / "a.png" in found.of("white images")
    assert folder / "Checkerboards" / "white.png" in found.of("board images")
    assert found.files["image lists"] == (folder / "images.js",)
    assert [name.rsplit(": ")[-1] for name in found.lost] == ["gone.png"]


def test_what_is_missing_is_said_with_where_it_was_looked_for(tmp_path: Path) -> None:
    image(tmp_path / "white" / "f4.png")
    found = find_dataset(tmp_path)
    assert set(found.missing) == set(LOOKED_FOR) - {"white images"}
    with pytest.raises(
        InputError, match=r"lacks camera, distances \(looked in it and below for camera: \.js with main"
    ):
        found.require("white images", "camera", "distances")
    with pytest.raises(InputError, match="lacks lidar pose"):
        found.of("lidar pose")


def test_files_of_our_own_are_known_too(tmp_path: Path) -> None:
    save_camera(preset("r12-mini"), tmp_path / "one.yaml")
    save_camera(preset("r12-mini"), tmp_path / "two.json")
    text(tmp_path / "pose.yaml", "plenodepth_lidar_pose: 1\n")
    text(tmp_path / "cam_from_lidar.json", '{"rotation": [], "translation": []}')
    found = find_dataset(tmp_path)
    assert found.of("camera") == (tmp_path / "one.yaml", tmp_path / "two.json")
    assert found.of("lidar pose") == (tmp_path / "cam_from_lidar.json", tmp_path / "pose.yaml")


def test_an_archive_or_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no folder \(unpack the archive"):
        find_dataset(text(tmp_path / "R12-A.zip", ""))
    with pytest.raises(InputError, match=r"is no folder \(check the path\)"):
        find_dataset(tmp_path / "none")


@pytest.mark.realdata
def test_the_published_example_of_r12a_has_all_but_its_images(real_data: Path) -> None:
    found = find_dataset(real_data / "r12a")
    assert len(found.of("features")) == 2
    for kind in ("camera", "parameters", "poses", "scene", "starting camera"):
        assert len(found.of(kind)) == 1
    assert "white images" in found.missing
