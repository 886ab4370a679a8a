"""What a file of a dataset is: told by what is in it, and for images by the words of its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from plenodepth.errors import InputError
from plenodepth.io.frame_tables import read_frame_distances
from plenodepth.io.libpleno.archive import Archive, is_archive
from plenodepth.io.libpleno.depth_lists import is_depth_list
from plenodepth.io.libpleno.depth_map import read_depth_map
from plenodepth.io.libpleno.observations import read_observations
from plenodepth.io.libpleno.point_cloud import is_point_cloud
from plenodepth.io.libpleno.property_tree import PropertyTree, read_tree

IMAGES = (".png", ".tif", ".tiff", ".bmp", ".jpg", ".jpeg")
CLOUDS = (".pts", ".ptx")
TREES = (".js", ".json")
NATIVE = {"plenodepth_camera": "camera", "plenodepth_lidar_pose": "lidar pose"}  # first keys of our own files
LARGEST_TEXT = 1 << 20  # bytes of a file with the distances of frames
# Words of a path, the first that fits; what they mean is the same in English and in the authors' French.
WORDS = (
    ("devignetting image", re.compile(r"mask|devign|vignet")),
    ("white images", re.compile(r"white|blanc|diffus")),
    ("vendor depth", re.compile(r"rxlive|raytrix|rtrx|depth|virtual")),
    ("scene images", re.compile(r"scene|figurine|plane|elp20|lidar")),
    ("step images", re.compile(r"step|transl|motion|linear|eval|target|plate")),
    ("board images", re.compile(r"board|checker|calib|damier|mire|free|pose|train|test")),
)
F_NUMBER = re.compile(r"(?:^|[^a-z0-9])[fn][-_/]?\d+(?:[.,_]\d+)?")


def kind_of_file(path: Path) -> str | None:
    """The kind of a file that is no image, or None for one that is of no use here."""
    suffix = path.suffix.lower()
    try:
        if suffix in TREES:
            return kind_of_tree(read_tree(path))
        if suffix in (".yaml", ".yml"):
            return _kind_of_yaml(path)
        if is_archive(path):
            return _kind_of_archive(path)
        if suffix in CLOUDS:
            return "lidar clouds"
        if suffix == ".csv":
            return _kind_of_table(path)
        if suffix in (".txt", ".gt", ".dat") and path.stat().st_size < LARGEST_TEXT:
            read_frame_distances(path)
            return "distances"
    except InputError:
        return None
    return None


def kind_of_tree(tree: PropertyTree) -> str | None:
    """The kind of one of libpleno's text files, by its keys."""
    native = next((kind for key, kind in NATIVE.items() if tree.has(key)), None)
    if native is not None:
        return native
    if tree.has("main_lens") and tree.has("sensor"):
        return "camera" if tree.has("mla") or tree.has("distortions") else "starting camera"
    if tree.has("q") and tree.has("m"):
        return "parameters"
    if tree.has("poses"):
        return "poses"
    if tree.has("pose") or (tree.has("rotation") and tree.has("translation")):
        return "lidar pose"
    if _names_files(tree, ("whites", "checkerboards", "images", "mask")):
        return "image lists"
    if any(tree.has(name) for name in ("checkerboards", "plates", "constellations")):
        return "scene"
    return "result lists" if is_depth_list(tree) else None


def kind_of_image(path: Path, root: Path, *, beside_cloud: bool) -> str:
    """The kind of an image: a scene where a scanner's cloud lies beside it, else by the words of its path."""
    if beside_cloud:
        return "scene images"
    words = path.relative_to(root).as_posix().lower()
    for part in reversed(words.split("/")):  # the name itself says more than the folder above
        for kind, pattern in WORDS:
            if pattern.search(part):
                return kind
    return "white images" if F_NUMBER.search(words) else "other images"


def only_raw(images: Sequence[Path]) -> list[Path]:
    """Of the images of a folder, those called raw, where there are any: the others are pictures of results."""
    raw = [path for path in images if path.stem.lower() == "raw"]
    return raw or list(images)


def _names_files(tree: PropertyTree, keys: Sequence[str]) -> bool:
    """Whether one of the lists names files; a scene has a list of checkerboards, too."""
    for key in keys:
        value = tree.content.get(key)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict) and "path" in first:
            return True
    return False


def _kind_of_yaml(path: Path) -> str | None:
    """The kind of a file of our own, by the key that starts it."""
    with path.open("rb") as file:
        key = file.readline(200).decode("latin-1").partition(":")[0].strip()
    return NATIVE.get(key)


def _kind_of_archive(path: Path) -> str | None:
    if is_point_cloud(Archive(path)):
        return "point clouds"
    try:
        read_depth_map(path)
        return "depth maps"
    except InputError:
        read_observations(path)
        return "features"


def _kind_of_table(path: Path) -> str | None:
    with path.open("rb") as file:
        header = file.readline(200).decode("latin-1").strip().lower().split(",")
    if {"k", "l", "u", "v"} <= set(header):
        return "features" if "rho" in header or "cluster" in header else "centres"
    return None
