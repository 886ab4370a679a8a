"""Triangle meshes from files: OBJ, PLY, STL and GLB, with the colours and pictures that they carry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray

from plenodepth.camera.model import require_positive
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_bytes
from plenodepth.io.budget import require_memory
from plenodepth.io.srgb import srgb_decoded
from plenodepth.sim.scenes.mesh_files import Nearby, require_room_for_glb
from plenodepth.sim.scenes.scene import ImageTexture, Material, Mesh
from plenodepth.sim.scenes.textures import TEXEL_BYTES

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]

CORNER_BYTES = 64  # of a vertex or a face, with colours
SUFFIXES = (".obj", ".ply", ".stl", ".glb")


@dataclass(frozen=True, eq=False)
class _Part:
    """One body of a file: vertices (n, 3), faces (f, 3), and what colours it."""

    vertices: Array
    faces: NDArray[np.int32]
    colors: Float32 | None  # (n, 3), linear
    texture_coordinates: Float32 | None  # (f, 3, 2); the second counts upwards in the picture
    tile: Float32 | None  # (h, w, 3), linear


def load_mesh(
    path: str | Path,
    cam_from_object: Pose,
    material: Material | None = None,
    name: str = "mesh",
    scale: float = 1.0,
) -> Mesh:
    """The mesh of an OBJ, PLY, STL or GLB file, all its bodies as one; its units times `scale` are mm.

    Axes are as in the file (many have y up: turn those by 180° about x). Colours per vertex and pictures of the file
    are kept and multiply `material`'s colour; a texture of `material` replaces the pictures.
    """
    material = material or Material()
    require_positive(scale, f"{name}.scale", "mm per unit of the file")
    parts = _read(path)
    vertices = scale * np.concatenate([part.vertices for part in parts])
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        raise InputError(f"vertex {bad[0] + 1} has a coordinate that is not finite", file=path)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    coordinates = None
    if isinstance(material.texture, ImageTexture):
        coordinates = _all_coordinates(parts, path)
    elif material.texture is None and any(part.tile is not None for part in parts):
        picture, coordinates = _atlas(parts)
        material = replace(material, texture=ImageTexture(picture))
    colors = None
    if any(part.colors is not None for part in parts):
        colors = np.concatenate(
            [np.ones(part.vertices.shape, np.float32) if part.colors is None else part.colors for part in parts]
        )
    try:
        return Mesh(
            vertices,
            np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)]).astype(np.int32),
            cam_from_object,
            material,
            colors,
            coordinates,
            name,
        )
    except InputError as error:
        raise InputError(error.message, file=path) from None


def _read(path: str | Path) -> list[_Part]:
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError("is not a mesh by its suffix", file=path, fix=f"give one of {', '.join(SUFFIXES)}")
    data = read_bytes(path)
    if Path(path).suffix.lower() == ".glb":
        require_room_for_glb(data, path)
    try:
        # Unprocessed: trimesh would drop vertices that are not finite, and merge others.
        kind, nearby = Path(path).suffix[1:].lower(), Nearby(str(path))
        scene = trimesh.load_scene(BytesIO(data), file_type=kind, resolver=nearby, process=False)
        # Sorted, because the nodes come in no certain order.
        places = [scene.graph[node] for node in sorted(scene.graph.nodes_geometry)]
        bodies = [(np.asarray(transform, np.float64), scene.geometry[name]) for transform, name in places]
        require_memory(sum(_memory(body) for _, body in bodies), path, stored=len(data))
        with np.errstate(all="ignore"):  # what is not finite has its own error
            parts = [
                _part(body, transform)
                for transform, body in bodies
                if isinstance(body, trimesh.Trimesh) and len(body.faces)
            ]
    except InputError:
        raise
    except Exception as error:  # any: the readers of trimesh trip over bad files in their own ways
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"is not a mesh that can be read: {reason}", file=path) from None
    if not parts:
        raise InputError("holds no triangle", file=path)
    return parts


def _memory(body: Any) -> int:
    """About what one body of a file takes here; the same triangles may stand at several places."""
    picture = _picture(body.visual) if isinstance(body, trimesh.Trimesh) else None
    texels = 0 if picture is None else picture.size[0] * picture.size[1]
    return CORNER_BYTES * (len(body.vertices) + len(getattr(body, "faces", ()))) + texels * 2 * TEXEL_BYTES


def _picture(visual: Any) -> Any:
    """The picture that colours a body; None if there is none."""
    material = getattr(visual, "material", None)
    return getattr(material, "baseColorTexture", None) or getattr(material, "image", None)


def _part(geometry: Any, transform: Array) -> _Part:
    vertices = np.asarray(geometry.vertices, np.float64) @ transform[:3, :3].T + transform[:3, 3]
    faces = np.asarray(geometry.faces, np.int32)
    visual = geometry.visual
    if visual.kind == "vertex":
        return _Part(vertices, faces, srgb_decoded(np.asarray(visual.vertex_colors[:, :3], np.uint8)), None, None)
    if visual.kind == "face":
        colors = np.repeat(srgb_decoded(np.asarray(visual.face_colors[:, :3], np.uint8)), 3, axis=0)
        apart = np.arange(3 * len(faces), dtype=np.int32).reshape(-1, 3)  # neighbours differ: no vertex is shared
        return _Part(vertices[faces].reshape(-1, 3), apart, colors, None, None)
    if visual.kind != "texture":
        return _Part(vertices, faces, None, None, None)
    coordinates = None if visual.uv is None else np.asarray(visual.uv, np.float32)[faces]
    if coordinates is not None and (coordinates.shape[-1] != 2 or not np.isfinite(coordinates).all()):
        raise ValueError("its texture coordinates are not two finite numbers")
    picture = _picture(visual)
    if picture is None or coordinates is None:
        plain = np.asarray(visual.material.main_color[:3], np.float32) / 255
        return _Part(vertices, faces, np.tile(plain, (len(vertices), 1)), coordinates, None)
    # A picture that repeats: each triangle moves to where most of it lies within the picture.
    coordinates = coordinates - np.floor(coordinates.mean(axis=1, keepdims=True))
    return _Part(vertices, faces, None, coordinates, srgb_decoded(np.asarray(picture.convert("RGB"), np.uint8)))


def _all_coordinates(parts: list[_Part], path: str | Path) -> Float32:
    coordinates = [part.texture_coordinates for part in parts if part.texture_coordinates is not None]
    if len(coordinates) < len(parts):
        raise InputError("has no texture coordinates for a picture", file=path, fix="use a texture of kind solid")
    return np.concatenate(coordinates)


def _atlas(parts: list[_Part]) -> tuple[Float32, Float32]:
    """The pictures of all parts below each other in one, (h, w, 3), and the texture coordinates in it, (f, 3, 2)."""
    white = np.ones((2, 2, 3), np.float32)
    tiles = [white if part.tile is None else part.tile for part in parts]
    height, width = max(2, sum(len(tile) for tile in tiles)), max(2, *(tile.shape[1] for tile in tiles))
    picture, coordinates, top = np.ones((height, width, 3), np.float32), [], 0
    for part, tile in zip(parts, tiles, strict=True):
        h, w = tile.shape[:2]
        picture[top : top + h, :w] = tile
        if part.tile is None or part.texture_coordinates is None:
            s = t = np.full((len(part.faces), 3), 0.5, np.float32)
        else:
            s, t = part.texture_coordinates[..., 0], part.texture_coordinates[..., 1]
        # Half a pixel inside the rim, or interpolation would mix in the colours of the next picture.
        across, down = np.clip(s * w, 0.5, w - 0.5), np.clip((1 - t) * h, 0.5, h - 0.5) + top
        coordinates.append(np.stack([across / width, 1 - down / height], axis=-1))
        top += h
    return picture, np.concatenate(coordinates).astype(np.float32)
