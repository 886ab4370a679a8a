"""Lists of results and ground truths by frame, as libpleno's evaluating programs read them (their "depths" files)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plenodepth.errors import InputError
from plenodepth.io.libpleno.poses import NO_FRAME
from plenodepth.io.libpleno.property_tree import PropertyTree, read_tree

# What each list holds: depth maps and clouds (archives), clouds as text, tables of depth, poses, planes, and central
# sub-aperture maps of a result and of its reference.
KINDS = ("maps", "pointclouds", "xyzs", "ptss", "csvs", "mats", "planes", "csads", "refcsads")


@dataclass(frozen=True)
class ListedFile:
    """One file and the number of its frame."""

    path: Path
    frame: int


@dataclass(frozen=True)
class DepthList:
    """Files by kind, each kind in the order of the file; kinds without files are left out."""

    files: Mapping[str, tuple[ListedFile, ...]]
    metric: bool | None  # what the list says of its maps; None: nothing
    coarse: bool | None


def is_depth_list(tree: PropertyTree) -> bool:
    """Whether a libpleno file is such a list."""
    return any(tree.has(kind) for kind in KINDS)


def read_depth_list(path: Path | str) -> DepthList:
    """Reads the list. Files are looked for beside it first, then where the program runs; one that is missing is told.

    Entries without a frame are numbered in order, as libpleno numbers images.
    """
    tree = read_tree(path)
    if not is_depth_list(tree):
        raise InputError("is no list of depths", file=path, fix=f"give one of {', '.join(KINDS)}")
    files = {kind: _files(tree, kind) for kind in KINDS if tree.has(kind)}
    if not any(files.values()):
        raise InputError("lists no file", file=path)
    flags = [tree.boolean(name) if tree.has(name) else None for name in ("metric", "coarse")]
    return DepthList({kind: listed for kind, listed in files.items() if listed}, *flags)


def _files(tree: PropertyTree, kind: str) -> tuple[ListedFile, ...]:
    listed = list[ListedFile]()
    for index, entry in enumerate(tree.subtrees(kind)):
        frame = entry.integer("frame", default=NO_FRAME)
        frame = index if frame == NO_FRAME else frame
        if any(other.frame == frame for other in listed):
            raise entry.error("frame", f"{frame} is there twice", "keep one file for each frame")
        listed.append(ListedFile(_found(entry), frame))
    return tuple(listed)


def _found(entry: PropertyTree) -> Path:
    name = entry.text("path")
    places = [Path(entry.file).parent / name, Path(name)]
    for place in places:
        if os.path.isfile(place):  # for any text; Path.is_file raises for names that are too long
            return place
    raise entry.error("path", f"{name} is not there", f"looked in {places[0].parent} and {places[1].parent.absolute()}")
