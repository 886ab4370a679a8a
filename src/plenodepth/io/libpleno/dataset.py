"""The authors' published datasets (R12-A … R12-ELP20), or any folder with the same things in it: what is where.

How the archives name their folders is written down nowhere, so nothing here depends on it: files are told by their
content, images by libpleno's own lists of images where there are any, and else by the words of their paths. See
docs/datasets-layout.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plenodepth.errors import InputError
from plenodepth.io.libpleno.dataset_kinds import CLOUDS, IMAGES, kind_of_file, kind_of_image, only_raw
from plenodepth.io.libpleno.property_tree import PropertyTree, read_tree

# What a dataset may hold, and where it is looked for.
LOOKED_FOR: Mapping[str, str] = {
    "white images": "whites of an image list; images with white in their path, or an f-number (f4, f05.66)",
    "devignetting image": "mask of an image list; images with mask or devign in their path",
    "board images": "checkerboards of an image list; images with board, checker or calib in their path",
    "step images": "images with step, transl, eval or target in their path",
    "scene images": "images beside a scanner's cloud; images with scene, plane or figurine in their path",
    "features": ".csv with k,l,u,v,rho,cluster,frame; .bin.gz of observations",
    "camera": ".js with main_lens, sensor and mla; our .yaml",
    "parameters": ".js with m and q",
    "poses": ".js with poses",
    "scene": ".js with checkerboards (lph, x_grid, y_grid), plates or constellations",
    "distances": ".txt with lines of a frame and its distance",
    "lidar clouds": ".pts, .ptx",
    "lidar pose": ".js with pose; our .yaml; cam_from_lidar.json",
}
EXTRA = ("image lists", "result lists", "starting camera", "centres", "depth maps", "point clouds", "vendor depth",
         "other images")  # fmt: skip
# The lists of an image file, and what their images are.
LISTS = {
    "whites": "white images",
    "checkerboards": "board images",
    "images": "step images",
    "mask": "devignetting image",
}
MOST_FILES = 100_000


@dataclass(frozen=True)
class DatasetFiles:
    """The files of a folder by kind; kinds without files are left out."""

    root: Path
    files: Mapping[str, tuple[Path, ...]]
    unknown: int  # files of no kind
    lost: tuple[str, ...]  # images that a list names and that are not there

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of `LOOKED_FOR` that are not there."""
        return tuple(kind for kind in LOOKED_FOR if kind not in self.files)

    def of(self, kind: str) -> tuple[Path, ...]:
        """The files of a kind; that they are missing is an error that says where they were looked for."""
        self.require(kind)
        return self.files[kind]

    def require(self, *kinds: str) -> None:
        """Refuse a folder that lacks one of the kinds; the error names all that are lacking."""
        lacking = [kind for kind in kinds if kind not in self.files]
        if lacking:
            places = "; ".join(f"{kind}: {LOOKED_FOR.get(kind, 'by content')}" for kind in lacking)
            raise InputError(f"lacks {', '.join(lacking)}", file=self.root, fix=f"looked in it and below for {places}")


def find_dataset(folder: Path | str) -> DatasetFiles:
    """Looks through a folder and all below it; nothing is unpacked, and images are not opened."""
    root = Path(folder)
    if not root.is_dir():
        fix = "unpack the archive and give its folder" if root.is_file() else "check the path"
        raise InputError("is no folder", file=root, fix=fix)
    everything = sorted(path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
    if len(everything) > MOST_FILES:
        raise InputError(f"holds {len(everything)} files", file=root, fix="give the folder of one dataset")
    found: dict[str, list[Path]] = {}
    unknown = 0
    for path in everything:
        if path.suffix.lower() in IMAGES:
            continue
        kind = kind_of_file(path)
        unknown += kind is None
        if kind is not None:
            found.setdefault(kind, []).append(path)
    lost = _listed_images(root, found)
    listed = {path.resolve() for paths in found.values() for path in paths}
    with_cloud = {path.parent for path in everything if path.suffix.lower() in CLOUDS}
    for images in _images_by_folder(everything):
        for path in images:
            if path.resolve() not in listed:
                kind = kind_of_image(path, root, beside_cloud=path.parent in with_cloud)
                found.setdefault(kind, []).append(path)
    order = [*LOOKED_FOR, *EXTRA]
    kinds = sorted(found, key=lambda kind: order.index(kind))
    return DatasetFiles(root, {kind: tuple(found[kind]) for kind in kinds}, unknown, tuple(lost))


def _images_by_folder(everything: list[Path]) -> Iterator[list[Path]]:
    folders: dict[Path, list[Path]] = {}
    for path in everything:
        if path.suffix.lower() in IMAGES:
            folders.setdefault(path.parent, []).append(path)
    for images in folders.values():
        yield only_raw(images)


def _listed_images(root: Path, found: dict[str, list[Path]]) -> list[str]:
    """Adds the images that lists name; returns those that are not there."""
    lost = list[str]()
    for path in found.get("image lists", []):
        tree = read_tree(path)
        for key, kind in LISTS.items():
            for entry in _entries(tree, key):
                name = entry.text("path")
                place = next((p for p in (path.parent / name, root / name) if os.path.isfile(p)), None)
                if place is None:
                    lost.append(f"{path}: {name}")
                elif place not in found.setdefault(kind, []):
                    found[kind].append(place)
    for kind in [kind for kind, paths in found.items() if not paths]:
        del found[kind]
    return lost


def _entries(tree: PropertyTree, key: str) -> list[PropertyTree]:
    """The entries of a list of images, or the one of a single image."""
    if not tree.has(key):
        return []
    return [tree.subtree(key)] if isinstance(tree.content[key], dict) else tree.subtrees(key)
