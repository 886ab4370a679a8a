"""The images of a folder, with their f-numbers and frame numbers: from a manifest, or from the files' names.

A manifest is `manifest.yaml` (or .yml, .json) in the folder: a list of `{file, f_number, frame}`, two of them optional.
Otherwise every image counts, or, where there are any, those called `raw` in sub-folders (white/f05.66/raw.png,
boards/03/raw.png). f-numbers are read from names like `white_f5.6.png` or `f05.66`, frames from the last number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from numpy.typing import NDArray

from plenodepth.calib.features import Features
from plenodepth.camera.model import PlenopticCamera
from plenodepth.errors import InputError, shortened
from plenodepth.io.images import read_image
from plenodepth.io.reading import quoted, read_text
from plenodepth.io.strict_text import parse_by_suffix
from plenodepth.raw import RawImage, clean_image

SUFFIXES = (".png", ".tif", ".tiff", ".bmp", ".jpg", ".jpeg")
MANIFESTS = ("manifest.yaml", "manifest.yml", "manifest.json")
F_NUMBER = re.compile(r"(?:^|[^a-z0-9])f[-_/]?(\d+(?:[.,_]\d+)?)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
F_NUMBERS = (0.5, 64.0)
LARGEST_FRAME = 2**31 - 1  # as tables of observations hold it
SAME_APERTURE = 0.15  # of the f-number: white images that are nearer have the aperture of the board images
MEMORY = 2**30  # bytes of images that a reader keeps

ReadImage = Callable[[Path], NDArray[Any]]


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
    content = parse_by_suffix(read_text(manifest), manifest)
    return content if isinstance(content, list) else None


def _entry(root: Path, manifest: Path, index: int, entry: Any) -> ListedImage:
    if isinstance(entry, str):
        entry = {"file": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise InputError("needs a file", file=manifest, field=f"{index}", fix="give {file, f_number, frame}")
    unknown = set(entry) - {"file", "f_number", "frame"}
    if unknown:
        key = shortened(sorted(unknown)[0], 60)
        raise InputError("is no key (file, f_number, frame)", file=manifest, field=f"{index}.{key}")
    path = root / entry["file"]
    if not os.path.isfile(path):  # for any text; Path.is_file raises for names that are too long
        raise InputError(f"{shortened(entry['file'], 200)} is not there", file=manifest, field=f"{index}.file")
    number = entry.get("f_number", _f_number(entry["file"]))
    if number is not None and not (_is_number(number) and F_NUMBERS[0] <= number <= F_NUMBERS[1]):
        message = f"is {_shown(number)}"
        raise InputError(message, file=manifest, field=f"{index}.f_number", fix="give a number such as 5.6")
    frame = entry.get("frame", index)
    if not isinstance(frame, int) or isinstance(frame, bool) or not 0 <= frame <= LARGEST_FRAME:
        raise InputError(f"is {_shown(frame)}", file=manifest, field=f"{index}.frame", fix="give a whole number")
    return ListedImage(path, None if number is None else float(number), frame)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    return shortened(value, 40) if isinstance(value, str) else quoted(value)


def _by_name(root: Path) -> list[ListedImage]:
    here = sorted(path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    # Hidden folders are what a program that was killed has left unfinished.
    here = [path for path in here if not any(part.startswith(".") for part in path.relative_to(root).parts)]
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
    digits = found[-1].lstrip("0") if found else ""
    if not found or len(digits) > len(str(LARGEST_FRAME)) or int(digits or 0) > LARGEST_FRAME:  # a time, say
        return None
    return int(digits or 0)


def _f_number(name: str) -> float | None:
    found = [float(text.replace(",", ".").replace("_", ".")) for text in F_NUMBER.findall(name.rsplit(".", 1)[0])]
    likely = [number for number in found if F_NUMBERS[0] <= number <= F_NUMBERS[1]]
    return likely[-1] if likely else None


def images_of(given: Path | str | Sequence[ListedImage | Path | str]) -> list[ListedImage]:
    """The images of a folder, or those that are listed: files without a frame number are numbered in their order."""
    if isinstance(given, str | Path):
        return listed_images(given)
    images = []
    for index, one in enumerate(given):
        if isinstance(one, ListedImage):
            images.append(one)
        elif Path(one).is_file():
            images.append(ListedImage(Path(one), _f_number(Path(one).name), index))
        else:
            raise InputError("is no file", file=one, fix="give image files, or the folder that holds them")
    if len({image.frame for image in images}) < len(images):
        raise InputError("have the same frame number twice", field="images", fix="give each image its own number")
    return images


def image_name(path: Path) -> str:
    """What tells a file from the others: its folder where it is called raw, as simulated ones are."""
    return path.parent.name if path.stem == "raw" else path.name


def white_at_aperture(whites: Sequence[ListedImage], f_number: float) -> Path | None:
    """The white image at the aperture of the board images. A single one of unknown aperture is taken to have it."""
    known = [(abs(image.f_number / f_number - 1), image.path) for image in whites if image.f_number is not None]
    same = [pair for pair in known if pair[0] < SAME_APERTURE]
    if same:
        return min(same, key=lambda pair: pair[0])[1]
    return whites[0].path if len(whites) == 1 and not known else None


def frames_with_features(boards: Sequence[ListedImage], features: Features) -> list[ListedImage]:
    """The images that features were found in; an `InputError` where there is none."""
    there = set(features.frames.tolist())
    shown = [image for image in boards if image.frame in there]
    if not shown:
        raise InputError(
            f"are of frames {first_few(sorted(there))}, the images are "
            f"{first_few(sorted(image.frame for image in boards))}",
            field="features",
            fix="give the images that the features were found in, or number them in a manifest.yaml",
        )
    return shown


def notes_on_frames(boards: Sequence[ListedImage], features: Features) -> list[str]:
    """Which frames are left out: those without an image, and images without features."""
    images, there = {image.frame for image in boards}, set(features.frames.tolist())
    without = {"have features but no image": there - images, "are images without features": images - there}
    return [f"left out: frames {first_few(sorted(frames))} {what}" for what, frames in without.items() if frames]


def first_few(numbers: Sequence[int], most: int = 5) -> str:
    """The first numbers of a list as text: 0, 1, 2, 3, 4, …"""
    shown = ", ".join(map(str, numbers[:most]))
    return f"{shown}, …" if len(numbers) > most else shown


class ImageReader:
    """Reads image files, each once: images stay in memory for the next step, up to `memory` bytes in all.

    Images are kept as they are stored, which takes the least memory. Where they are too many, the first read ones
    stay, because every step reads them in the same order.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self._left = memory
        self._images: dict[Path, NDArray[Any]] = {}
        self._lock = Lock()

    def __call__(self, path: Path) -> NDArray[Any]:
        """The image of a file. Not to be written to."""
        with self._lock:
            known = self._images.get(path)
        if known is not None:
            return known
        image = read_image(path)
        image.flags.writeable = False
        with self._lock:
            if path not in self._images and image.nbytes <= self._left:
                self._images[path] = image
                self._left -= image.nbytes
        return image


def clean_board_image(
    image: ListedImage,
    camera: PlenopticCamera,
    white_image: NDArray[Any] | None,
    white: Path | None,
    read: ReadImage = read_image,
) -> RawImage:
    """A board image without vignetting. `white_image` has been read from the file `white`, which errors name."""
    try:
        return clean_image(read(image.path), camera, white=white_image, check_camera=False, name=str(image.path))
    except InputError as error:
        file = error.file if white is None or error.file == str(image.path) else white
        raise InputError(error.message, file=file, field=error.field, fix=error.fix) from None
