"""docs/files.md lists what the commands write, with its type."""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile

import plenodepth
from plenodepth.io import read_ply
from plenodepth.sim import FrameSettings, RenderSettings

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
TYPES = {"float32": np.float32, "8 bits": np.uint8, "16 bits": np.uint16}


def listed(section: str) -> dict[str, str]:
    """The files that a section's tables list, with the type of each."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {name: row[1] for row in rows for name in re.findall(r"`([\w.-]+\.\w+)`", row[0])}


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scene and its scan, and the depth of it, coarse and dense."""
    folder, camera = tmp_path_factory.mktemp("frame"), plenodepth.preset("r12-mini")
    scene = Path(__file__).parents[2] / "examples" / "scenes" / "plane.yaml"
    plenodepth.simulate_scene(scene, camera, folder / "scene", FrameSettings(RenderSettings(rays=8)))
    image = plenodepth.load_raw(folder / "scene" / "raw.png", camera)
    depth = plenodepth.estimate_depth(image, camera, dense=plenodepth.DenseSettings(enabled=True))
    outputs = ["depth", "sigma", "confidence", "virtual", "cloud", "central", "picture", "dense"]
    depth.save(folder / "out", outputs=outputs)
    return folder


def require_type(path: Path, said: str) -> None:
    if path.suffix == ".tiff":
        pixels = tifffile.imread(path)
    elif path.suffix == ".png":
        pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    else:
        return
    kinds = [kind for name, kind in TYPES.items() if re.search(rf"\b{name}", said)]
    assert pixels.dtype in kinds, f"{path.name}: {said}, not {pixels.dtype}"


def test_all_files_of_a_result_are_listed_with_their_type(frame: Path) -> None:
    said = listed("What `depth` writes")
    found = {path.name.replace("raw.", "NAME.", 1): path for path in (frame / "out").iterdir()}
    assert set(found) == set(said)
    for name, path in found.items():
        require_type(path, said[name])


def test_all_files_of_a_simulated_frame_are_listed_with_their_type(frame: Path) -> None:
    said = listed("What `simulate` writes")
    for path in (frame / "scene").iterdir():
        assert path.name in said
        require_type(path, said[path.name])


def test_the_properties_of_a_cloud_are_those_listed(frame: Path) -> None:
    properties = re.findall(r"^\| (`.+?) \| (?:float|uchar)", PAGE.split("## Clouds")[1], re.MULTILINE)
    names = [name for cell in properties for name in re.findall(r"`(\w+)`", cell)]
    header = (frame / "out" / "raw.ply").read_bytes().split(b"end_header")[0].decode()
    assert re.findall(r"property \w+ (\w+)", header) == names
    assert len(read_ply(frame / "out" / "raw.ply")["points"])
