"""The opened folder: nothing outside it is read, whatever its files are named or point to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from plenodepth.errors import InputError
from plenodepth.io import parse_by_suffix, read_text
from plenodepth.version import __version__

LARGEST_FILE = 1 << 30  # bytes that are read into memory at a time; 5 million points take 0.14 GB
GIGABYTE = 1e9


class OpenedFolder:
    """A folder of results. A path that leads out of it, by `..` or by a symbolic link, is refused."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._root = Path(os.path.realpath(path))

    def file(self, name: str) -> Path:
        """The file of this name, which lies inside the folder and is not too large to be read at once."""
        path = self.path / name
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self._root):
            raise InputError("leads out of the opened folder", file=path, fix="copy the file into it")
        return require_readable_size(path)

    def has(self, name: str) -> bool:
        """Whether there is such a name; what it leads to is another question, see `file`."""
        return os.path.lexists(self.path / name)

    def frame_names(self) -> list[str]:
        """The names of the frames whose results lie here, NAME of every NAME.json that is one, in order."""
        if not self.path.is_dir():
            raise InputError("does not exist" if not self.path.exists() else "is not a folder", file=self.path)
        names = sorted(path.stem for path in self.path.glob("*.json"))
        names = [name for name in names if self._is_result(name)]
        if not names:
            fix = "give a folder that `plenodepth depth --out` has written, or a cloud"
            raise InputError("holds no result: no NAME.json beside its maps or clouds", file=self.path, fix=fix)
        return names

    def _is_result(self, name: str) -> bool:
        return any(self.has(f"{name}.{suffix}") for suffix in ("ply", "dense.ply", "dense.tiff", "virtual.tiff"))

    def record(self, name: str) -> dict[str, Any]:
        """The content of NAME.json; a result that a newer program has written is refused."""
        path = self.file(f"{name}.json")
        content = parse_by_suffix(read_text(path), path)
        if not isinstance(content, dict) or not isinstance(content.get("plenodepth"), str):
            raise InputError("is no record of a result: it names no version", file=path, field="plenodepth")
        written_by = content["plenodepth"]
        if _release(written_by) > _release(__version__):
            fix = "open it with that version, or compute it again"
            raise InputError(f"was written by plenodepth {written_by}, this is {__version__}", file=path, fix=fix)
        return content


def require_readable_size(path: Path) -> Path:
    """The path, if its file is small enough to be read at once."""
    size = path.stat().st_size if path.is_file() else 0
    if size > LARGEST_FILE:
        message = (
            f"holds {size / GIGABYTE:.1f} GB, more than the {LARGEST_FILE / GIGABYTE:.1f} GB that the viewer reads"
        )
        raise InputError(message, file=path, fix="give a cloud of fewer points")
    return path


def _release(version: str) -> tuple[int, ...]:
    """`"0.2.1"` → (0, 2): results of one release have the same files."""
    parts = version.split(".")[:2]
    return tuple(int(part) if part.isdecimal() else 0 for part in parts)
