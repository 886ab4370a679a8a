"""A scene packed into arrays of numbers, for the kernels and for Embree."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.sim.kernels import colors, shapes
from plenodepth.sim.scenes.scene import (
    Box,
    Checkerboard,
    ImageTexture,
    Material,
    Mesh,
    Rectangle,
    Scene,
    SceneObject,
    SolidTexture,
    Sphere,
)

log = logging.getLogger(__name__)

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]

SHAPES: dict[type, int] = {
    Rectangle: shapes.RECTANGLE,
    Checkerboard: shapes.CHECKERBOARD,
    Sphere: shapes.SPHERE,
    Box: shapes.BOX,
    Mesh: shapes.MESH,
}


@dataclass(frozen=True, eq=False)
class Triangles:
    """All meshes of a scene in the camera frame, and Embree's tree over them."""

    owner: Int32  # (t,) index of the object that a triangle belongs to
    normals: Float32  # (t, 3), not unit
    colors: Float32  # (t, 3, 3) per corner
    texture_coordinates: Float32  # (t, 3, 2)
    tree: Any  # embreex scene; None without triangles

    def intersect(self, origins: Float32, directions: Float32) -> tuple[Float32, Int32, Float32, Float32]:
        """Depth, triangle (−1: none) and the two barycentric weights of each ray's first hit."""
        if self.tree is None:
            n = len(origins)
            return np.full(n, np.inf, np.float32), np.full(n, -1, np.int32), *np.zeros((2, n), np.float32)
        hit = self.tree.run(origins, directions, query="INTERSECT", output=True)
        return hit["tfar"], hit["primID"], hit["u"], hit["v"]


@dataclass(frozen=True, eq=False)
class PackedScene:
    """A scene as the kernels read it: they name the columns in `kernels/shapes.py` and `kernels/colors.py`."""

    objects: Float32  # (n, 26)
    kinds: Int32  # (n, 6)
    texels: Float32  # all image textures, RGB interleaved
    volumes: Float32  # all solid textures
    lamps: Float32  # (m, 5)
    ambient: np.float32
    background: Float32  # (3,)
    triangles: Triangles


def pack_scene(scene: Scene) -> PackedScene:
    """Pack a scene. Degenerate triangles are left out, with a warning."""
    packer = _Packer()
    rows = [packer.row(thing) for thing in scene.objects]
    lamps = [
        [
            light.position is not None,
            light.intensity,
            *(light.position if light.position is not None else light.direction),
        ]  # type: ignore[misc]
        for light in scene.lights
    ]
    return PackedScene(
        objects=np.array([numbers for numbers, _ in rows], np.float32),
        kinds=np.array([integers for _, integers in rows], np.int32),
        texels=_concatenated(packer.texels),
        volumes=_concatenated(packer.volumes),
        lamps=np.array(lamps, np.float32).reshape(-1, 5),
        ambient=np.float32(scene.ambient),
        background=np.array(scene.background, np.float32),
        triangles=_triangles(scene),
    )


def _concatenated(parts: list[Float32]) -> Float32:
    # Never empty, so that the kernels' types do not depend on the scene.
    return np.concatenate([*parts, np.zeros(1, np.float32)])


class _Packer:
    """Makes a row of numbers of each object and collects their textures."""

    def __init__(self) -> None:
        self.texels: list[Float32] = []
        self.volumes: list[Float32] = []

    def row(self, thing: SceneObject) -> tuple[list[float], list[int]]:
        pose = thing.cam_from_object.inverse()
        local = np.column_stack([pose.rotation, pose.translation]).ravel().tolist()
        shape = SHAPES[type(thing)]
        if isinstance(thing, Checkerboard):
            size = [thing.square, thing.margin, thing.columns, thing.rows]
            numbers = [*local, *size, 1, 1, 1, *[thing.dark] * 3, *[thing.light] * 3, 0]
            return numbers, [shape, colors.PLAIN, 0, 0, 0, int(thing.emits)]
        size = [0.0] * 4
        if isinstance(thing, Rectangle):
            size[:2] = thing.width / 2, thing.height / 2
        elif isinstance(thing, Sphere):
            size[0] = thing.radius
        elif isinstance(thing, Box):
            size[:3] = (thing.size / 2).tolist()
        kind, first, width, height, dark, light, scale = self._texture(thing.material)
        numbers = [*local, *size, *thing.material.color, *dark, *light, scale]
        return numbers, [shape, kind, first, width, height, int(thing.material.emits)]

    def _texture(self, material: Material) -> tuple[int, int, int, int, Any, Any, float]:
        texture, black, white = material.texture, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        if isinstance(texture, ImageTexture):
            first = sum(part.size for part in self.texels)
            self.texels.append(texture.pixels.ravel())
            height, width = texture.pixels.shape[:2]
            return colors.IMAGE, first, width, height, black, white, 0.0
        if isinstance(texture, SolidTexture):
            first = sum(part.size for part in self.volumes)
            self.volumes.append(texture.volume.ravel())
            cells = texture.volume.shape[0]
            return colors.SOLID, first, cells, cells, texture.dark, texture.light, cells / texture.period
        return colors.PLAIN, 0, 0, 0, black, white, 0.0


def _triangles(scene: Scene) -> Triangles:
    corners, owners, colors, coordinates = [], [], [], []
    for index, thing in enumerate(scene.objects):
        if not isinstance(thing, Mesh):
            continue
        vertices = thing.cam_from_object(thing.vertices).astype(np.float32)
        triangle = vertices[thing.faces]
        area = np.linalg.norm(np.cross(triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0]), axis=1)
        good = area > 0
        if not good.all():
            log.warning("%s: %d degenerate triangles are left out", thing.name, int((~good).sum()))
        corners.append(triangle[good])
        owners.append(np.full(int(good.sum()), index, np.int32))
        color = np.broadcast_to(np.array(thing.material.color, np.float32), (int(good.sum()), 3, 3))
        if thing.vertex_colors is not None:
            color = color * thing.vertex_colors[thing.faces][good]
        colors.append(color)
        uv = thing.texture_coordinates
        coordinates.append(np.zeros((int(good.sum()), 3, 2)) if uv is None else uv[good])
    if not corners or not sum(len(part) for part in corners):
        blank = [np.zeros((1, *shape), np.float32) for shape in ((3,), (3, 3), (3, 2))]
        return Triangles(np.zeros(1, np.int32), blank[0], blank[1], blank[2], None)
    soup = np.ascontiguousarray(np.concatenate(corners), np.float32)
    return Triangles(
        np.concatenate(owners),
        np.cross(soup[:, 1] - soup[:, 0], soup[:, 2] - soup[:, 0]).astype(np.float32),
        np.ascontiguousarray(np.concatenate(colors), np.float32),
        np.ascontiguousarray(np.concatenate(coordinates), np.float32),
        _tree(soup),
    )


def _tree(soup: Float32) -> Any:
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    tree = EmbreeScene()
    TriangleMesh(tree, soup)  # (t, 3, 3): primitive numbers are the order of the triangles
    return tree
