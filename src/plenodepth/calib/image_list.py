"""The images of a folder, with their f-numbers and frame numbers: from a manifest, or from the files' names.

A manifest is `manifest.yaml` (or .yml, .json) in the folder: a list of `{file, f_number, frame}`, two of them optional.
Otherwise every image counts, or, where there are any, those called `raw` in sub-folders (white/f05.66/raw.png,
boards/03/raw.png). f-numbers are read from names like `white_f5.6.png` or `f05.66`, frames from the last number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from plenodepth.errors import InputError

SUFFIXES = (".png", ".tif", ".tiff", ".bmp", ".jpg", ".jpeg")
MANIFESTS = ("manifest.yaml", "manifest.yml", "manifest.json")
F_NUMBER = re.compile(r"(?:^|[^a-z0-9])f[-_/]?(\d+(?:[.,_]\d+)?)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
F_NUMBERS = (0.5, 64.0)


@dataclass(frozen=True)
class ListedImage:
    """A file, its f-number (None: unknown) and its frame number."""

    path: Path
    f_number: float | None
    frame: int


def listed_images(folder: Path | str) -> list[ListedImage]:
    """The images of a folder, in order of their frames, then of their names."""
    root = Path(folder)
    if root.is_file() and root.suffix.lower() in SUFFIXES:
        return [ListedImage(root, _f_number(root.name), 0)]
    if not root.is_dir():
        raise InputError("is no folder", file=root, fix="give the folder that holds the images")
    manifest = next((root / name for name in MANIFESTS if (root / name).is_file()), None)
    if manifest is not None and (entries := _entries(manifest)) is not None:
        images = [_entry(root, manifest, index, entry) for index, entry in enumerate(entries)]
    else:
        images = _by_name(root)
    if not images:
        raise InputError(f"holds no image ({', '.join(SUFFIXES)})", file=root)
    return images


def _entries(manifest: Path) -> list[Any] | None:
    """The list of a manifest; None for a file of another kind, as a simulated dataset has."""
    try:
        content = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"cannot be read: {' '.join(str(error).split())}", file=manifest) from None
    return content if isinstance(content, list) else None


def _entry(root: Path, manifest: Path, index: int, entry: Any) -> ListedImage:
    if isinstance(entry, str):
        entry = {"file": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise InputError("needs a file", file=manifest, field=f"{index}", fix="give {file, f_number, frame}")
    unknown = set(entry) - {"file", "f_number", "frame"}
    if unknown:
        raise InputError("is no key (file, f_number, frame)", file=manifest, field=f"{index}.{sorted(unknown)[0]}")
    path = root / entry["file"]
    if not path.is_file():
        raise InputError(f"{entry['file']} is not there", file=manifest, field=f"{index}.file")
    number = entry.get("f_number", _f_number(entry["file"]))
    if number is not None and not (isinstance(number, int | float) and F_NUMBERS[0] <= number <= F_NUMBERS[1]):
        raise InputError(f"is {number}", file=manifest, field=f"{index}.f_number", fix="give a number such as 5.6")
    frame = entry.get("frame", index)
    if not isinstance(frame, int):
        raise InputError(f"is {frame}", file=manifest, field=f"{index}.frame", fix="give a whole number")
    return ListedImage(path, None if number is None else float(number), frame)


def _by_name(root: Path) -> list[ListedImage]:
    here = sorted(path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    raw = [path for path in here if path.stem.lower() == "raw"]
    chosen = raw or [path for path in here if path.parent == root]
    return listed_files(root, chosen)


def listed_files(root: Path, paths: Sequence[Path]) -> list[ListedImage]:
    """Images below a folder, by their names alone, in order of their frames."""
    names = [path.relative_to(root).as_posix() for path in paths]
    frames = [_last_number(name) for name in names]
    numbered = None not in frames and len(set(frames)) == len(frames)
    images = [
        ListedImage(path, _f_number(name), frame if numbered and frame is not None else index)
        for index, (path, name, frame) in enumerate(zip(paths, names, frames, strict=True))
    ]
    return sorted(images, key=lambda image: image.frame)


def _last_number(name: str) -> int | None:
    found = NUMBER.findall(name.rsplit(".", 1)[0])
    return int(found[-1]) if found else None


def _f_number(name: str) -> float | None:
    found = [float(text.replace(",", ".").replace("_", ".")) for text in F_NUMBER.findall(name.rsplit(".", 1)[0])]
    likely = [number for number in found if F_NUMBERS[0] <= number <= F_NUMBERS[1]]
    return likely[-1] if likely else None
