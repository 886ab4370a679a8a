"""What a mesh file may ask for: files beside it, and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trimesh.resolvers import FilePathResolver

from plenodepth.errors import InputError
from plenodepth.io import parse_json, read_bytes
from plenodepth.io.budget import require_memory

_HEADER, _CHUNK = 12, 8  # bytes of a GLB: of its header, and before each chunk
_LARGEST_ENTRY = 64  # bytes: a matrix of 4 × 4 floats


class Nearby(FilePathResolver):  # type: ignore[misc]
    """Gives materials and pictures that lie in the folder of the mesh or below, and only regular files."""

    def get(self, name: str | bytes) -> bytes:
        """The bytes of a file that the mesh names."""
        text = (name.decode("utf-8", "replace") if isinstance(name, bytes) else name).strip()
        path = (Path(self.parent) / text).resolve()
        if not path.is_relative_to(Path(self.parent).resolve()):
            raise InputError("lies outside the folder of the mesh", file=text, fix="put it beside the mesh")
        return read_bytes(path)


def require_room_for_glb(data: bytes, path: str | Path) -> None:
    """Refuse a GLB whose lists without data, which are zeros, take more memory than a file may."""
    length = int.from_bytes(data[_HEADER : _HEADER + 4], "little")
    text = data[_HEADER + _CHUNK : _HEADER + _CHUNK + length].decode("utf-8", "replace")
    content = parse_json(text.rstrip("\0 "), path, unique=False)
    accessors = content.get("accessors", []) if isinstance(content, dict) else []
    counts = [_count(entry) for entry in (accessors if isinstance(accessors, list) else [])]
    require_memory(_LARGEST_ENTRY * sum(counts), path, stored=len(data))


def _count(accessor: Any) -> int:
    count = accessor.get("count") if isinstance(accessor, dict) and "bufferView" not in accessor else 0
    return max(count, 0) if isinstance(count, int) else 0
