"""What a scene is made of. Objects stand in the camera frame through their pose `cam_from_object`; mm."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import frozen_vector, require_positive
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]

WHITE = (1.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class ImageTexture:
    """A picture (h, w, 3), linear light in [0, 1], stretched over a face; the first row is at smallest y."""

    pixels: Float32

    def __post_init__(self) -> None:
        pixels = np.ascontiguousarray(self.pixels, dtype=np.float32)
        if pixels.ndim != 3 or pixels.shape[2] != 3 or min(pixels.shape[:2]) < 2 or not np.isfinite(pixels).all():
            raise InputError(f"needs finite (h, w, 3) with h, w ≥ 2, got {pixels.shape}", field="texture")
        object.__setattr__(self, "pixels", pixels)


@dataclass(frozen=True, eq=False)
class SolidTexture:
    """Noise filling space: `volume` (n, n, n) in [0, 1] repeated every `period` mm, from colour 0 to colour 1."""

    volume: Float32
    period: float
    dark: tuple[float, float, float] = (0.0, 0.0, 0.0)
    light: tuple[float, float, float] = WHITE

    def __post_init__(self) -> None:
        volume = np.ascontiguousarray(self.volume, dtype=np.float32)
        if volume.ndim != 3 or len(set(volume.shape)) != 1 or volume.shape[0] < 2:
            raise InputError(f"needs a cube of noise, got {volume.shape}", field="texture.volume")
        require_positive(self.period, "texture.period")
        object.__setattr__(self, "volume", volume)


Texture = ImageTexture | SolidTexture


@dataclass(frozen=True, eq=False)
class Material:
    """Colour (or texture times colour); lit by the scene's lights (Lambert) unless it emits."""

    color: tuple[float, float, float] = WHITE
    texture: Texture | None = None
    emits: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.color).all() and np.min(self.color) >= 0):
            raise InputError(f"is {self.color}, needs three numbers ≥ 0", field="material.color")


@dataclass(frozen=True, eq=False)
class Rectangle:
    """width × height mm in the plane z = 0 of its frame, centred on its origin; seen from both sides."""

    width: float
    height: float
    cam_from_object: Pose
    material: Material = field(default_factory=Material)
    name: str = "rectangle"

    def __post_init__(self) -> None:
        require_positive(self.width, f"{self.name}.width")
        require_positive(self.height, f"{self.name}.height")

    def bounds(self) -> Array:
        """Corner points (n, 3) mm of a box around it, camera frame."""
        x, y = self.width / 2, self.height / 2
        return self.cam_from_object(np.array([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0.0]]))


@dataclass(frozen=True, eq=False)
class Checkerboard:
    """A board of columns × rows INNER corners, `square` mm apart; its frame starts at corner 0, x along the columns.

    One square more on each side of the corners, then a white rim of `margin` mm.
    """

    columns: int
    rows: int
    square: float
    cam_from_object: Pose
    margin: float = 0.0
    dark: float = 0.05
    light: float = 0.95
    emits: bool = True
    name: str = "board"

    def __post_init__(self) -> None:
        require_positive(self.square, f"{self.name}.square")
        if self.columns < 1 or self.rows < 1 or self.margin < 0:
            raise InputError("needs at least one inner corner and a margin ≥ 0", field=self.name)

    def corners(self) -> Array:
        """Inner corners (rows · columns, 3) mm in the board's frame; corner (k, l) is number l · columns + k."""
        l, k = np.divmod(np.arange(self.rows * self.columns), self.columns)
        return self.square * np.stack([k, l, np.zeros_like(k)], axis=1).astype(np.float64)

    def bounds(self) -> Array:
        """Corner points (4, 3) mm, camera frame."""
        low = -self.square - self.margin
        x, y = (count * self.square + self.margin for count in (self.columns, self.rows))
        return self.cam_from_object(np.array([[low, low, 0], [x, low, 0], [x, y, 0], [low, y, 0.0]]))


@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball of `radius` mm about the origin of its frame; image textures wrap it by longitude and latitude about y."""

    radius: float
    cam_from_object: Pose
    material: Material = field(default_factory=Material)
    name: str = "sphere"

    def __post_init__(self) -> None:
        require_positive(self.radius, f"{self.name}.radius")

    def bounds(self) -> Array:
        """Corner points (8, 3) mm of a box around it, camera frame."""
        return self.cam_from_object.translation + self.radius * _cube_corners()


@dataclass(frozen=True, eq=False)
class Box:
    """size (3,) mm about the origin of its frame; an image texture covers each face."""

    size: Array
    cam_from_object: Pose
    material: Material = field(default_factory=Material)
    name: str = "box"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", frozen_vector(self.size, 3, f"{self.name}.size"))
        for length in self.size:
            require_positive(length, f"{self.name}.size")

    def bounds(self) -> Array:
        """Corner points (8, 3) mm, camera frame."""
        return self.cam_from_object(_cube_corners() * self.size / 2)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles (f, 3) over vertices (n, 3) mm; colours per vertex (n, 3) in [0, 1] times the material's.

    An image texture needs `texture_coordinates` (f, 3, 2) in [0, 1], per triangle corner.
    """

    vertices: Array
    faces: NDArray[np.int32]
    cam_from_object: Pose
    material: Material = field(default_factory=Material)
    vertex_colors: Float32 | None = None
    texture_coordinates: Float32 | None = None
    name: str = "mesh"

    def __post_init__(self) -> None:
        vertices = np.ascontiguousarray(self.vertices, dtype=np.float64)
        faces = np.ascontiguousarray(self.faces, dtype=np.int32)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise InputError(f"needs finite vertices (n, 3), got {vertices.shape}", field=self.name)
        if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise InputError(f"needs triangles (f, 3), got {faces.shape}", field=self.name)
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise InputError("a triangle names a vertex that is not there", field=self.name)
        if self.vertex_colors is not None and np.shape(self.vertex_colors) != vertices.shape:
            raise InputError(f"needs {vertices.shape} colours, one per vertex", field=f"{self.name}.vertex_colors")
        coordinates = (len(faces), 3, 2)
        if self.texture_coordinates is not None and np.shape(self.texture_coordinates) != coordinates:
            raise InputError(f"needs the shape {coordinates}", field=f"{self.name}.texture_coordinates")
        if isinstance(self.material.texture, ImageTexture) and self.texture_coordinates is None:
            raise InputError("is needed for an image texture", field=f"{self.name}.texture_coordinates")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    def bounds(self) -> Array:
        """Corner points (8, 3) mm of a box around it, camera frame."""
        p = self.cam_from_object(self.vertices)
        low, high = p.min(axis=0), p.max(axis=0)
        return np.asarray((low + high) / 2 + _cube_corners() * (high - low) / 2)


SceneObject = Rectangle | Checkerboard | Sphere | Box | Mesh


@dataclass(frozen=True, eq=False)
class Light:
    """A lamp: far away in a `direction` (from the scene to it), or near at a `position` (mm, camera frame)."""

    intensity: float = 1.0
    direction: Array | None = None
    position: Array | None = None

    def __post_init__(self) -> None:
        require_positive(self.intensity, "light.intensity", "units of full white")
        if (self.direction is None) == (self.position is None):
            raise InputError("needs either a direction or a position", field="light")
        name = "direction" if self.direction is not None else "position"
        vector = frozen_vector(self.direction if self.direction is not None else self.position, 3, f"light.{name}")  # type: ignore[arg-type]
        if name == "direction" and not np.linalg.norm(vector) > 0:
            raise InputError("is zero", field="light.direction")
        object.__setattr__(self, name, vector)


@dataclass(frozen=True, eq=False)
class Scene:
    """Objects that may hide each other, lamps, light from everywhere (`ambient`) and what shows behind it all."""

    objects: tuple[SceneObject, ...]
    lights: tuple[Light, ...] = ()
    ambient: float = 1.0
    background: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not self.objects:
            raise InputError("holds no object", field="scene.objects", fix="add at least one")
        for thing in self.objects:
            depth = thing.bounds()[:, 2]
            if depth.max() <= 0:
                raise InputError("is behind the camera", field=thing.name, fix="give it a pose with z > 0")

    def depth_range(self) -> tuple[float, float]:
        """Nearest and farthest z of all objects, mm."""
        depths = np.concatenate([thing.bounds()[:, 2] for thing in self.objects])
        return float(depths.min()), float(depths.max())


def _cube_corners() -> Array:
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
