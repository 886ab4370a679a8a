"""A laser scanner beside the camera: a cloud of points of the same scene, the ground truth of real data.

The LIDAR frame is the scanner's own: origin where its beams start, x forwards, y left, z up. A beam of azimuth a
(about z, from x towards y) and elevation e (up from the x, y plane) goes along (cos e cos a, cos e sin a, sin e).
Lengths in mm, angles in rad. A beam has no width, so no return lies between an edge and what is behind it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.model import frozen_vector, require_positive
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.kernels.tracing import shade_rays
from plenodepth.sim.packed_scene import PackedScene, pack_scene
from plenodepth.sim.scenes.scene import Checkerboard, Light, Scene
from plenodepth.sim.sensor import LUMINANCE

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]

TERRESTRIAL_SIGMA = 1.0  # mm, range noise of a terrestrial scanner at short range
BESIDE_CAMERA = (-300.0, -100.0, 0.0)  # mm, camera frame: left of the camera and above it
WIDEST = math.radians(80)  # from the middle of the window to its farthest beam
MOST_BEAMS = 100_000_000
BEAMS_AT_A_TIME = 1 << 19  # bounds memory: about 150 bytes per beam


@dataclass(frozen=True, eq=False)
class LidarSettings:
    """Where the scanner stands and which window it scans, by `step` from beam to beam or by about `points` beams."""

    cam_from_lidar: Pose
    azimuth: tuple[float, float]
    elevation: tuple[float, float]
    step: float | None = None
    points: int | None = None
    range_sigma: float = 0.0  # standard deviation along the beam
    seed: int = 0

    def __post_init__(self) -> None:
        for name, limit in (("azimuth", math.pi), ("elevation", math.pi / 2)):
            low, high = frozen_vector(getattr(self, name), 2, name)
            if not -limit <= low < high <= limit:
                message = f"reaches from {low:g} to {high:g} rad"
                raise InputError(message, field=name, fix=f"give (low, high) within ±{limit:.4g}")
        if (self.step is None) == (self.points is None):
            raise InputError("needs either the step or the number of points", field="step, points")
        require_positive(self.spacing, "step" if self.points is None else "points", "rad or points")
        if not (math.isfinite(self.range_sigma) and self.range_sigma >= 0):
            raise InputError(f"is {self.range_sigma}, needs a number ≥ 0", field="range_sigma", fix="give it in mm")
        if self.seed < 0:
            raise InputError(f"is {self.seed}, needs a whole number ≥ 0", field="seed")
        columns, rows = self.beams
        if columns * rows > MOST_BEAMS:
            message = f"asks for {columns} × {rows} beams, the most is {MOST_BEAMS}"
            raise InputError(message, field="step, points", fix="give a larger step or a smaller window")
        if math.cos(self._widest()) < math.cos(WIDEST):
            message = f"reaches {math.degrees(self._widest()):.0f}° from its middle, the most is 80°"
            raise InputError(message, field="azimuth, elevation", fix="scan a smaller window, or several")

    @property
    def spacing(self) -> float:
        """Angle between neighbouring beams, rad."""
        if self.step is not None:
            return self.step
        window = (self.azimuth[1] - self.azimuth[0]) * (self.elevation[1] - self.elevation[0])
        return math.sqrt(window / self.points) if self.points is not None and self.points > 0 else math.nan

    @property
    def beams(self) -> tuple[int, int]:
        """How many beams in azimuth and in elevation."""
        sizes = (self.azimuth[1] - self.azimuth[0], self.elevation[1] - self.elevation[0])
        columns, rows = (max(1, round(size / self.spacing)) for size in sizes)
        return columns, rows

    @property
    def middle(self) -> Array:
        """Direction (3,) of the window's middle, LIDAR frame."""
        return beam(sum(self.azimuth) / 2, sum(self.elevation) / 2)

    def _widest(self) -> float:
        """Largest angle between the window's middle and its border, rad."""
        across, up = (np.linspace(*limits, 65) for limits in (self.azimuth, self.elevation))
        border = [beam(across, e) for e in self.elevation] + [beam(a, up) for a in self.azimuth]
        cosine = np.concatenate(border) @ self.middle
        return float(np.arccos(np.clip(cosine, -1, 1)).max())


@dataclass(frozen=True, eq=False)
class LidarScan:
    """The returns of a scan: n points, where they are and what they look like."""

    points: Array  # (n, 3) mm, LIDAR frame
    colors: NDArray[np.uint8]  # (n, 3), linear light
    intensity: Float32  # (n,) in [0, 1]: reflectance times the cosine of incidence (emitters: their light)
    cam_from_lidar: Pose
    objects: Int32  # (n,) index of the scene's object that was hit


def join_scans(scans: Sequence[LidarScan]) -> LidarScan:
    """Scans from several stations as one cloud, in the frame of the first."""
    first = scans[0]
    lidar_from_cam = first.cam_from_lidar.inverse()
    return LidarScan(
        points=np.concatenate([first.points, *((lidar_from_cam @ s.cam_from_lidar)(s.points) for s in scans[1:])]),
        colors=np.concatenate([scan.colors for scan in scans]),
        intensity=np.concatenate([scan.intensity for scan in scans]),
        cam_from_lidar=first.cam_from_lidar,
        objects=np.concatenate([scan.objects for scan in scans]),
    )


@dataclass(frozen=True, eq=False)
class ExtrinsicTargets:
    """The same n points in both frames, mm, by which `cam_from_lidar` can be found."""

    camera: Array  # (n, 3)
    lidar: Array  # (n, 3), as measured
    boards: tuple[str, ...]  # (n,) name of the board of each point


def beam(azimuth: ArrayLike, elevation: ArrayLike) -> Array:
    """Unit directions (..., 3) of beams, LIDAR frame."""
    a, e = np.broadcast_arrays(np.asarray(azimuth, np.float64), np.asarray(elevation, np.float64))
    return np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], axis=-1)


def pose_beside_camera(scene: Scene, position: ArrayLike = BESIDE_CAMERA) -> Pose:
    """`cam_from_lidar` of an upright scanner at `position` (3,) mm, camera frame, that faces the scene's middle."""
    corners = _corners(scene)
    return upright_pose(position, (corners.min(axis=0) + corners.max(axis=0)) / 2)


def upright_pose(position: ArrayLike, faced: ArrayLike) -> Pose:
    """`cam_from_lidar` of an upright scanner at `position` (3,) mm that faces the point `faced` (3,), camera frame."""
    place = frozen_vector(position, 3, "position")
    forward = frozen_vector(faced, 3, "faced") - place
    left = np.cross([0.0, -1.0, 0.0], forward)  # up is −y of the camera
    if not np.linalg.norm(left) > 1e-6 * np.linalg.norm(forward):
        raise InputError("is straight above or below what it faces", field="position", fix="move it aside")
    x, y = forward / np.linalg.norm(forward), left / np.linalg.norm(left)
    return Pose(np.column_stack([x, y, np.cross(x, y)]), place)


def lidar_for_scene(
    scene: Scene,
    points: int = 200_000,
    *,
    cam_from_lidar: Pose | None = None,
    range_sigma: float = 0.0,
    seed: int = 0,
) -> LidarSettings:
    """A scanner (by default beside the camera) whose window just holds the scene, at most ±50° about its x."""
    pose = pose_beside_camera(scene) if cam_from_lidar is None else cam_from_lidar
    return lidar_for_points(_corners(scene), points, pose, range_sigma=range_sigma, seed=seed)


def lidar_for_points(
    held: ArrayLike, points: int, cam_from_lidar: Pose, *, range_sigma: float = 0.0, seed: int = 0
) -> LidarSettings:
    """A scanner whose window just holds the points `held` (n, 3) mm, camera frame, at most ±50° about its x."""
    corners = cam_from_lidar.inverse()(np.asarray(held, np.float64))
    corners = corners[corners[:, 0] > 0]
    if not len(corners):
        raise _behind()
    widest = math.radians(50)
    limits = []
    for angle in (np.arctan2(corners[:, 1], corners[:, 0]), np.arctan2(corners[:, 2], np.hypot(*corners.T[:2]))):
        low, high = float(angle.min()), float(angle.max())
        margin = 0.02 * (high - low) + 1e-3
        limits.append((max(low - margin, -widest), min(high + margin, widest)))
    azimuth, elevation = limits
    return LidarSettings(cam_from_lidar, azimuth, elevation, points=points, range_sigma=range_sigma, seed=seed)


def scan_scene(scene: Scene, settings: LidarSettings) -> LidarScan:
    """Scan a scene; beams that meet nothing return nothing. The same seed gives the same points.

    Points are ordered by elevation, then azimuth. A scene of which the scanner sees nothing is an `InputError`.
    """
    # Kernels trace rays along +z from the plane z = 0: the scene moves into a frame with z along the window's middle.
    look_from_lidar = _look_from_lidar(settings.middle)
    look_from_cam = look_from_lidar @ settings.cam_from_lidar.inverse()
    seen, numbers = _seen_from(scene, look_from_cam)
    packed = pack_scene(seen)
    lamp = np.array([[1, 1, 0, 0, 0]], np.float32)  # the laser itself, at the origin, for the intensity
    parts: list[tuple[Array, NDArray[np.uint8], Float32, Int32]] = []
    for chunk, directions in enumerate(_beams(settings)):
        looking = look_from_lidar(directions)
        slopes = np.ascontiguousarray(looking / looking[:, 2:], dtype=np.float32)
        depths, indices, light = _trace(packed, slopes, packed.lamps, packed.ambient)
        _, _, echo = _trace(packed, slopes, lamp, np.float32(0))
        noise = np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(chunk,)))
        deviation = settings.range_sigma * noise.standard_normal(len(directions))
        hit = indices >= 0
        distance = depths[hit] / looking[hit, 2] + deviation[hit]
        forward = distance > 0
        hit[hit] = forward
        colors = np.rint(np.clip(light[hit], 0, 1) * 255).astype(np.uint8)
        points = directions[hit] * distance[forward, None]
        parts.append((points, colors, np.clip(echo[hit] @ LUMINANCE, 0, 1), numbers[indices[hit]]))
    points, colors, intensity, objects = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(points):
        fix = "turn the scanner towards an object, or widen its window"
        raise InputError("no beam meets an object", field="lidar", fix=fix)
    return LidarScan(points, colors, intensity, settings.cam_from_lidar, objects)


def extrinsic_targets(scene: Scene, cam_from_lidar: Pose, *, sigma: float = 0.0, seed: int = 0) -> ExtrinsicTargets:
    """The inner corners of all checkerboards of a scene; `sigma` mm per axis is the scanner's error in finding them."""
    boards = [thing for thing in scene.objects if isinstance(thing, Checkerboard)]
    if not boards:
        raise InputError("holds no checkerboard", field="scene.objects", fix="add one")
    if not (math.isfinite(sigma) and sigma >= 0):
        raise InputError(f"is {sigma}, needs a number ≥ 0", field="sigma", fix="give it in mm")
    camera = np.concatenate([board.cam_from_object(board.corners()) for board in boards])
    lidar = cam_from_lidar.inverse()(camera)
    lidar = lidar + sigma * np.random.default_rng(seed).standard_normal(lidar.shape)
    return ExtrinsicTargets(camera, lidar, tuple(board.name for board in boards for _ in board.corners()))


def _beams(settings: LidarSettings) -> Iterator[Array]:
    """Directions (n, 3) of all beams, at the middles of equal cells of the window, a part of the rows at a time."""
    columns, rows = settings.beams
    a, e = (
        low + (np.arange(count) + 0.5) * (high - low) / count
        for (low, high), count in ((settings.azimuth, columns), (settings.elevation, rows))
    )
    step = max(1, BEAMS_AT_A_TIME // columns)
    for first in range(0, rows, step):
        yield beam(a[None, :], e[first : first + step, None]).reshape(-1, 3)


def _look_from_lidar(middle: Array) -> Pose:
    """The rotation from the LIDAR frame into a frame whose z axis is the direction `middle` (3,)."""
    helper = np.eye(3)[np.argmin(np.abs(middle))]
    x = np.cross(helper, middle)
    x /= np.linalg.norm(x)
    return Pose(np.stack([x, np.cross(middle, x), middle]), np.zeros(3))


def _seen_from(scene: Scene, look_from_cam: Pose) -> tuple[Scene, Int32]:
    """The scene in the tracing frame without the objects behind it, and the indices of those that are left."""
    moved = [replace(thing, cam_from_object=look_from_cam @ thing.cam_from_object) for thing in scene.objects]
    numbers = [index for index, thing in enumerate(moved) if thing.bounds()[:, 2].max() > 0]
    if not numbers:
        raise _behind()
    lights = tuple(_moved_light(light, look_from_cam) for light in scene.lights)
    return replace(scene, objects=tuple(moved[i] for i in numbers), lights=lights), np.array(numbers, np.int32)


def _moved_light(light: Light, look_from_cam: Pose) -> Light:
    if light.direction is not None:
        return replace(light, direction=look_from_cam.rotation @ light.direction)
    return replace(light, position=look_from_cam(light.position))  # type: ignore[arg-type]  # one of the two is there


def _trace(packed: PackedScene, slopes: Float32, lamps: Float32, ambient: np.float32) -> tuple[Float32, Int32, Float32]:
    """Depth along z, object (−1: none) and colour of the first hits of rays from the origin."""
    n, mesh = len(slopes), packed.triangles
    origins = np.zeros((n, 3), np.float32)
    depths, indices, colors = np.empty(n, np.float32), np.empty(n, np.int32), np.empty((n, 3), np.float32)
    shade_rays(
        origins, slopes, *mesh.intersect(origins, slopes), packed.objects, packed.kinds,
        mesh.owner, mesh.normals, mesh.colors, mesh.texture_coordinates, packed.texels, packed.volumes, lamps, ambient,
        depths, indices, colors,
    )  # fmt: skip
    return depths, indices, colors


def _corners(scene: Scene) -> Array:
    """Points (n, 3) mm on and between the corners of the objects' bounds, camera frame."""
    share = np.linspace(0, 1, 9)[:, None, None, None]
    lines = [(1 - share) * p[:, None] + share * p[None, :] for p in (thing.bounds() for thing in scene.objects)]
    return np.concatenate([line.reshape(-1, 3) for line in lines])


def _behind() -> InputError:
    return InputError("the scene is behind the scanner", field="lidar", fix="turn the scanner towards the scene")
