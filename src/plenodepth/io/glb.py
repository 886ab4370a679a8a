"""Coloured triangle meshes as binary glTF 2.0 (.glb), which browsers and every 3-D viewer open."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path

MAGIC, VERSION, JSON_CHUNK, BINARY_CHUNK = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
FLOAT, UNSIGNED_INT, UNSIGNED_SHORT = 5126, 5125, 5123
VERTICES, INDICES = 34962, 34963


def write_glb(vertices: npt.ArrayLike, faces: npt.ArrayLike, colors: npt.ArrayLike, path: Path | str) -> None:
    """Writes triangles (f, 3) over vertices (n, 3) with their linear light (n, 3), 1 for white.

    Vertices are in metres with y upwards, as glTF has them. The colours are the picture's own, so no lamp is needed to
    see them (KHR_materials_unlit), and both sides are shown.
    """
    points, triangles = np.ascontiguousarray(vertices, "<f4"), np.ascontiguousarray(faces, "<u4")
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InputError(f"have the shape {points.shape}", file=path, field="vertices", fix="give finite (n, 3)")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise InputError(
            f"have the shape {triangles.shape}", file=path, field="faces", fix="give at least one triangle"
        )
    light = np.ones((len(points), 4), "<u2") * np.uint16(65535)  # four numbers: a vertex takes a multiple of 4 bytes
    light[:, :3] = np.rint(65535 * np.clip(np.nan_to_num(np.asarray(colors, np.float32)), 0, 1)).astype("<u2")
    parts = (points, light, triangles)
    content = json.dumps(_content(points, triangles, [part.nbytes for part in parts]), separators=(",", ":")).encode()
    content += b" " * (-len(content) % 4)
    size = sum(part.nbytes for part in parts)  # each is a multiple of four
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(struct.pack("<3I", MAGIC, VERSION, 12 + 8 + len(content) + 8 + size))
        file.write(struct.pack("<2I", len(content), JSON_CHUNK) + content)
        file.write(struct.pack("<2I", size, BINARY_CHUNK))
        for part in parts:
            file.write(part.reshape(-1).view(np.uint8).data)


def _content(points: npt.NDArray[Any], triangles: npt.NDArray[Any], sizes: list[int]) -> dict[str, Any]:
    starts = [0, sizes[0], sizes[0] + sizes[1]]
    targets = (VERTICES, VERTICES, INDICES)
    views = [
        {"buffer": 0, "byteOffset": start, "byteLength": size, "target": target}
        for start, size, target in zip(starts, sizes, targets, strict=True)
    ]
    low, high = ([float(value) for value in end] for end in (points.min(axis=0), points.max(axis=0)))
    count = len(points)
    accessors = [
        {"bufferView": 0, "componentType": FLOAT, "count": count, "type": "VEC3", "min": low, "max": high},
        {"bufferView": 1, "componentType": UNSIGNED_SHORT, "normalized": True, "count": count, "type": "VEC4"},
        {"bufferView": 2, "componentType": UNSIGNED_INT, "count": int(triangles.size), "type": "SCALAR"},
    ]
    material = {
        "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0},
        "doubleSided": True,
        "extensions": {"KHR_materials_unlit": {}},
    }
    mesh = {"primitives": [{"attributes": {"POSITION": 0, "COLOR_0": 1}, "indices": 2, "material": 0}]}
    return {
        "asset": {"version": "2.0", "generator": "plenodepth"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [mesh],
        "materials": [material],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": sum(sizes)}],
    }
