"""The file of a folder of views, views.json: which pinhole sees each of its pictures.

A camera that is known by its lens grid only has no pinhole: its views' numbers are null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.camera.pinhole import Pinhole
from plenodepth.errors import InputError
from plenodepth.io import json_text, parse_by_suffix, read_text
from plenodepth.io.atomic import atomic_path
from plenodepth.io.budget import require_memory
from plenodepth.io.reading import is_file_name

VIEWS_FILE = "views.json"
VERSION_KEY, VERSION = "plenodepth_views", 1  # the key marks a file as this one
NUMBERS = ("fx", "fy", "cx", "cy")
LONGEST_NAME = 200  # letters
PIXEL_BYTES = 12  # of a view's light


@dataclass(frozen=True, eq=False)
class ViewGeometry:
    """A view's name, from which its files have theirs, its size in px, and its pinhole if it has one."""

    name: str
    width: int
    height: int
    pinhole: Pinhole | None
    more: Mapping[str, Any] = field(default_factory=dict)  # other keys of the file, as it has them

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width, px."""
        return self.height, self.width

    def content(self) -> dict[str, Any]:
        """As the file has it; px, and mm in the camera frame."""
        eye = self.pinhole
        numbers = {name: None if eye is None else float(getattr(eye, name)) for name in NUMBERS}
        center = None if eye is None else eye.center.tolist()
        return {"name": self.name, "width": self.width, "height": self.height, **numbers, "center": center, **self.more}


def save_views(views: Sequence[ViewGeometry], folder: Path | str) -> None:
    """Write views.json into a folder."""
    with atomic_path(Path(folder) / VIEWS_FILE) as path:
        path.write_text(json_text({VERSION_KEY: VERSION, "views": [view.content() for view in views]}))


def load_views(folder: Path | str) -> list[ViewGeometry]:
    """The views of a folder, or of a file as `save_views` writes it."""
    path = Path(folder)
    path = path / VIEWS_FILE if path.is_dir() else path
    content = parse_by_suffix(read_text(path), path)
    if not isinstance(content, dict) or content.get(VERSION_KEY) != VERSION:
        raise InputError("is not version 1 of it", file=path, field=VERSION_KEY, fix="give a folder of views")
    views = content.get("views")
    if not isinstance(views, list) or not views:
        raise InputError("is no list of views", file=path, field="views")
    found = [_view(view, path, f"views.{number}") for number, view in enumerate(views)]
    names = [view.name for view in found]
    if len(set(names)) < len(names):
        raise InputError("are not all different", file=path, field="views.*.name")
    return found


def _view(content: Any, path: Path, place: str) -> ViewGeometry:
    if not isinstance(content, dict):
        raise InputError("is no view", file=path, field=place)
    name = content.get("name")
    plain = isinstance(name, str) and Path(name).name == name and is_file_name(name) and len(name) <= LONGEST_NAME
    if not isinstance(name, str) or not name or not plain:
        raise InputError("is no plain name", file=path, field=f"{place}.name")
    width, height = (_number(content.get(key), path, f"{place}.{key}") for key in ("width", "height"))
    if not (width.is_integer() and height.is_integer() and min(width, height) >= 1):
        raise InputError(f"are {width:g} × {height:g}", file=path, field=f"{place}.width, height", fix="give whole px")
    require_memory(int(width) * int(height) * PIXEL_BYTES, path, field=f"{place}.width, height")
    known = {"name", "width", "height", *NUMBERS, "center"}
    more = {key: value for key, value in content.items() if key not in known}
    if all(content.get(key) is None for key in (*NUMBERS, "center")):
        return ViewGeometry(name, int(width), int(height), None, more)
    fx, fy, cx, cy = (_number(content.get(key), path, f"{place}.{key}") for key in NUMBERS)
    if not min(fx, fy) > 0:
        raise InputError("are not > 0", file=path, field=f"{place}.fx, fy", fix="give px")
    center = content.get("center")
    if not isinstance(center, list) or len(center) != 3:
        raise InputError("is no list of three numbers", file=path, field=f"{place}.center", fix="give x, y, z in mm")
    middle = np.array([_number(value, path, f"{place}.center") for value in center])
    return ViewGeometry(name, int(width), int(height), Pinhole(fx, fy, cx, cy, middle), more)


def _number(value: Any, path: Path, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("is no number", file=path, field=place)
    return float(value)
