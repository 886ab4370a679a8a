"""Scenes from YAML or JSON files. `schema.py` lists their keys; some files ship with the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.camera.files.native import Triple
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import parse_by_suffix, read_text
from plenodepth.io.budget import MemoryOf
from plenodepth.io.reading import quoted
from plenodepth.sim.scenes import schema as parts
from plenodepth.sim.scenes.figurines import HEIGHT, figurine
from plenodepth.sim.scenes.meshes import load_mesh
from plenodepth.sim.scenes.scene import (
    Box,
    Checkerboard,
    ImageTexture,
    Light,
    Material,
    Mesh,
    Rectangle,
    Scene,
    SceneObject,
    Sphere,
    Texture,
)
from plenodepth.sim.scenes.scene_names import scene_path
from plenodepth.sim.scenes.textures import TEXEL_BYTES, noise_image, read_texture, solid_noise

SCENE_VERSION = 1
SCENE_VERSION_KEY = "plenodepth_scene"  # its presence marks a file as a scene
TEXELS_PER_CELL = 2  # in the finest octave of a noise
SIDE_LIMIT = 6000  # texels
SOLID_BYTES = 128**3 * 4
TRIANGLE_BYTES = 24  # half a vertex of three doubles, and three corners


def load_scene(path: str | Path) -> Scene:
    """The scene of a file, or of the name of one that ships; paths in a file are relative to its folder.

    >>> [thing.name for thing in plenodepth.load_scene("scene.yaml").objects]
    ['plane']
    """
    path = scene_path(path)
    content = parse_by_suffix(read_text(path), path)
    if not isinstance(content, dict):
        raise InputError("does not hold a mapping of keys", file=path)
    return scene_from_content(content, path, path.parent)


def scene_from_content(content: dict[str, Any], file: str | Path, folder: str | Path = ".") -> Scene:
    """The scene that the content of a file describes. Errors name `file` and the field (`objects.2.texture.file`)."""
    if SCENE_VERSION_KEY not in content:
        raise InputError("is missing: this is no scene file", file=file, field=SCENE_VERSION_KEY)
    version = content[SCENE_VERSION_KEY]
    if version != SCENE_VERSION:
        raise InputError(
            f"is {quoted(version)}, this version of plenodepth reads {SCENE_VERSION}",
            file=file,
            field=SCENE_VERSION_KEY,
        )
    parsed = parts.parsed_scene(content, file)
    if not parsed.objects:
        raise InputError("holds no object", file=file, field="objects", fix="add at least one")
    try:
        with np.errstate(all="ignore"):  # absurd numbers end as an error of some field
            memory = MemoryOf(file)
            return Scene(
                tuple(_object(part, f"objects.{i}", Path(folder), memory) for i, part in enumerate(parsed.objects)),
                tuple(_light(part, f"lights.{i}") for i, part in enumerate(parsed.lights)),
                parsed.ambient,
                parsed.background,
            )
    except InputError as error:
        raise error.in_file(file) from None


@contextmanager
def _at(field: str, *, or_within: bool = False) -> Iterator[None]:
    """Let errors of this block name `field` of the scene file.

    With `or_within` the field that an error names itself is added. The name of another file, such as a mesh, goes into
    the message.
    """
    try:
        yield
    except InputError as error:
        message = f"{error.file}: {error.message}" if error.file else error.message
        within = f".{error.field}" if or_within and error.field else ""
        raise InputError(message, field=field + within, fix=error.fix) from None


def _light(part: parts.LightPart, where: str) -> Light:
    with _at(where):
        return Light(
            part.intensity,
            None if part.direction is None else np.array(part.direction),
            None if part.position is None else np.array(part.position),
        )


def _object(part: parts.ObjectPart, where: str, folder: Path, memory: MemoryOf) -> SceneObject:
    name = part.name or (part.shape if isinstance(part, parts.FigurinePart) else part.kind)
    if isinstance(part, parts.CheckerboardPart):
        thing: SceneObject = _checkerboard(part, name, where)
    else:
        thing = _surfaced(part, name, where, folder, memory)
    with _at(where):
        if not thing.bounds()[:, 2].max() > 0:
            raise InputError(f"'{name}' is behind the camera", fix="give it a position with z > 0")
    return thing


def _checkerboard(part: parts.CheckerboardPart, name: str, where: str) -> Checkerboard:
    place = part.center if part.position is None else part.position
    with _at(f"{where}.position"):
        if place is None or (part.position is not None and part.center is not None):
            raise InputError("needs either position (of corner 0) or center (of all corners)")
    pose = _pose(part.rotation, part.rotation_matrix, place, where)
    if part.center is not None:
        middle = np.array([part.columns - 1, part.rows - 1, 0]) * part.square / 2
        pose = pose @ Pose(np.eye(3), -middle)
    with _at(where):
        return Checkerboard(
            part.columns, part.rows, part.square, pose, part.margin, part.dark, part.light, part.emits, name
        )


def _surfaced(part: parts.SurfacedPart, name: str, where: str, folder: Path, memory: MemoryOf) -> SceneObject:
    pose = _pose(part.rotation, part.rotation_matrix, part.position, where)
    with _at(f"{where}.texture", or_within=True):
        material = Material(part.color, _texture(part, folder, memory), part.emits)
    if isinstance(part, parts.MeshPart):
        with _at(f"{where}.file"):
            mesh = load_mesh(_path(folder, part.file), pose, material, name, part.scale)
            memory.add(mesh.vertices.nbytes + mesh.faces.nbytes)
            return mesh
    if isinstance(part, parts.FigurinePart):
        with _at(where, or_within=True):
            memory.add(part.detail * TRIANGLE_BYTES)
            vertices, faces = figurine(part.shape, part.detail)
            return Mesh(vertices * (part.height / HEIGHT), faces, pose, material, name=name)
    with _at(where):
        if isinstance(part, parts.RectanglePart):
            return Rectangle(*part.size, pose, material, name)
        if isinstance(part, parts.SpherePart):
            return Sphere(part.radius, pose, material, name)
        return Box(np.array(part.size), pose, material, name)


def _pose(angles: Triple | None, rows: tuple[Triple, ...] | None, place: Triple | None, where: str) -> Pose:
    with _at(f"{where}.rotation_matrix"):
        if rows is None:
            return Pose.from_euler_xyz(np.radians(angles or (0.0, 0.0, 0.0)), np.array(place))
        if angles is not None:
            raise InputError("is there beside rotation", fix="keep one of them")
        return Pose(np.array(rows), np.array(place))


def _texture(part: parts.SurfacedPart, folder: Path, memory: MemoryOf) -> Texture | None:
    texture = part.texture
    if isinstance(texture, parts.SolidPart):
        memory.add(SOLID_BYTES)
        return solid_noise(texture.period, texture.octaves, texture.seed, texture.dark, texture.light)
    if isinstance(texture, parts.ImagePart):
        if isinstance(part, parts.FigurinePart):
            raise InputError("image does not go with a figurine", field="kind", fix="use kind: solid")
        with _at("file"):
            picture = read_texture(_path(folder, texture.file))
            memory.add(picture.pixels.nbytes)
            return picture
    return None if texture is None else _noise(texture, _extent(part), memory)


def _extent(part: parts.SurfacedPart) -> tuple[float, float]:
    """Width and height, mm, of the surface that a picture covers."""
    if isinstance(part, parts.RectanglePart):
        return part.size
    if isinstance(part, parts.SpherePart):
        return 2 * np.pi * part.radius, np.pi * part.radius
    if isinstance(part, parts.BoxPart):
        x, y, z = part.size
        return max(x, z), max(y, z)
    raise InputError(f"noise does not go with a {part.kind}", field="kind", fix="use kind: solid")


def _noise(texture: parts.NoisePart, extent: tuple[float, float], memory: MemoryOf) -> ImageTexture:
    finest = texture.cell / 2 ** (texture.octaves - 1)
    texel = max(finest / TEXELS_PER_CELL, max(extent) / SIDE_LIMIT)
    if texture.cell < texel:
        raise InputError(f"is {texture.cell:g} mm, on this surface it is at least {texel:g} mm", field="cell")
    if (texture.dark is None) != (texture.light is None):
        raise InputError("goes with light: give both or neither", field="dark")
    colors = None if texture.dark is None or texture.light is None else (texture.dark, texture.light)
    width, height = (max(2, min(SIDE_LIMIT, round(side / texel))) for side in extent)
    memory.add(width * height * TEXEL_BYTES)
    return noise_image(
        width,
        height,
        octaves=texture.octaves,
        cell=texture.cell / texel,
        contrast=texture.contrast,
        seed=texture.seed,
        colors=colors,
    )


def _path(folder: Path, file: str) -> Path:
    if not file or "\0" in file:
        raise InputError("is not the name of a file")
    return folder / file
