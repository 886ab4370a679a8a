"""Depth at N = 4 with the aperture undone per pixel: slanted walls, the corners of the image, off-axis objects.

The chain is that of bench_relative_depth: raw numbers of a sensor with noise, a white image of another exposure,
`clean_image`, default settings, no Γ. Slanted walls stand before a quarter of the R12-ES sensor; what depends on the
place in the image (the array is tilted, the principal point is off the middle, lenses distort) takes all of it. Full
frames take most of the time. PLENODEPTH_FULL_SIZE=1 adds the refined maps of full frames.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.micro_images import owner_map
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import ApertureModel, DepthSettings
from plenodepth.geometry import Pose
from plenodepth.metric import metric_depth_map, point_cloud
from plenodepth.raw import RawImage, clean_image
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import Box, ImageTexture, Material, Rectangle, Scene, SceneObject, Sphere
from plenodepth.sim.scenes.textures import noise_image, solid_noise
from plenodepth.sim.scenes.twins import view_center, view_size, wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene
from plenodepth.sim.truth import GroundTruth, ground_truth

LARGEST_BIAS = 0.01  # |median error| of any part, band or object, coarse per pixel
LARGEST_ERROR = 0.015  # median |error|, likewise
LARGEST_REFINED_ERROR = 0.04  # median |error| of single pixels, which are noisier
LARGEST_LATERAL_SHARE = 0.4  # of the error of points that are put on rays through lens centres

RAYS, WHITE_SEED = 128, 1
MODELS: tuple[ApertureModel, ...] = ("off", "per_pixel")
SLANT = 60  # degrees, of slanted walls
TILTS = {"about x": (1.0, 0.0, 0.0), "about y": (0.0, 1.0, 0.0)}
CENTERS = (680.0, 900.0, 1200.0)  # mm, of slanted walls, which together reach from 600 to 1400 mm
SLANTED_SIZE = 3.2  # of the view, so that their far ends reach its rim
BANDS = (600.0, 700.0, 800.0, 900.0, 1000.0, 1100.0, 1200.0, 1300.0, 1400.0)  # mm
DISTANCES = (700.0, 1200.0, 1700.0)  # mm, of walls before the whole sensor
PARTS = 3  # of the image, to each side
LEAST = 30  # depths, for a median
LATERAL_DISTANCES = (600.0, 900.0, 1400.0)  # mm

Bool = NDArray[np.bool_]
Float64 = NDArray[np.float64]


@cache
def middle_size() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), 88, 76), depth_scale=None)


@cache
def full_size() -> PlenopticCamera:
    return replace(preset("r12-es"), depth_scale=None)


@cache
def exposed(camera: PlenopticCamera, scene: Scene, seed: int) -> NDArray[np.uint16]:
    """Gray numbers of 12 bits."""
    start = time.perf_counter()
    light = render(scene, camera, RenderSettings(rays=RAYS, seed=seed)).light
    print(f"({scene.objects[0].name}: {light.shape[1]} × {light.shape[0]} px in {time.perf_counter() - start:.0f} s)")
    return expose(light, SensorSettings(color=False, seed=seed))


@cache
def white(camera: PlenopticCamera) -> NDArray[np.uint16]:
    return exposed(camera, white_scene(camera), WHITE_SEED)


@cache
def image(camera: PlenopticCamera, scene: Scene, seed: int) -> RawImage:
    return clean_image(exposed(camera, scene, seed), camera, white=white(camera), name=scene.objects[0].name)


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors of depth: maps (rows, columns) of micro-images, or (h, w) of pixels, NaN where there is none."""

    relative: Float64
    truth: Float64  # mm

    def of(self, where: Bool) -> Errors:
        return Errors(self.relative[where], self.truth[where])

    @property
    def count(self) -> int:
        return int(np.isfinite(self.relative).sum())

    @property
    def bias(self) -> float:
        return float(np.nanmedian(self.relative)) if self.count >= LEAST else float("nan")

    @property
    def typical(self) -> float:
        return float(np.nanmedian(np.abs(self.relative))) if self.count >= LEAST else float("nan")


@cache
def truth(camera: PlenopticCamera, scene: Scene) -> GroundTruth:
    return ground_truth(scene, camera)


@cache
def errors(camera: PlenopticCamera, scene: Scene, seed: int, settings: DepthSettings) -> Errors:
    found = metric_depth_map(estimate_virtual_depth(image(camera, scene, seed), camera, settings), camera).depth
    known = truth(camera, scene)
    true = (known.depth if settings.refined else known.lens_depth).astype(np.float64)
    return Errors(found / true - 1, true)


def cell(found: Errors) -> str:
    return f"{100 * found.bias:+6.2f} {100 * found.typical:5.2f}"


def require(parts: dict[str, Errors], largest_error: float = LARGEST_ERROR) -> None:
    """Every part has depths, no bias and small errors."""
    for name, found in parts.items():
        assert abs(found.bias) <= LARGEST_BIAS, f"{name}: bias {100 * found.bias:+.2f} %"
        assert found.typical <= largest_error, f"{name}: error {100 * found.typical:.2f} %"


# --- slanted walls ----------------------------------------------------------------------------------------------


@cache
def slanted_wall(camera: PlenopticCamera, tilt: str, depth: float) -> Scene:
    """A wall of noise that fills the view, its middle at `depth` mm, its finest detail about two pixels wide there."""
    turn = Pose.from_rotation_vector(np.radians(SLANT) * np.array(TILTS[tilt])).rotation
    side = SLANTED_SIZE * max(view_size(depth, camera))
    texels = min(4000, round(SLANTED_SIZE * camera.sensor.width / 2))
    texture = noise_image(texels, texels, octaves=6, cell=max(texels / 32, 32.0), seed=int(depth))
    pose = Pose(turn, view_center(depth, camera))
    name = f"wall at {SLANT}° {tilt}, {depth:g} mm"
    return Scene((Rectangle(side, side, pose, Material(texture=texture, emits=True), name=name),))


def slanted_errors(tilt: str, depth: float, settings: DepthSettings) -> Errors:
    return errors(middle_size(), slanted_wall(middle_size(), tilt, depth), int(depth), settings)


def by_depth(tilt: str, settings: DepthSettings) -> dict[str, Errors]:
    """The errors of all walls of one tilt, in bands of depth."""
    found = [slanted_errors(tilt, depth, settings) for depth in CENTERS]
    relative = np.concatenate([part.relative.ravel() for part in found])
    both = Errors(relative, np.concatenate([part.truth.ravel() for part in found]))
    return {
        f"{low:g} … {high:g} mm": both.of((both.truth >= low) & (both.truth < high)) for low, high in pairwise(BANDS)
    }


def test_slanted_walls() -> None:
    variants = {
        f"{kind} {model}": DepthSettings(refined=kind == "refined", aperture_model=model)
        for kind in ("coarse", "refined")
        for model in MODELS
    }
    for tilt in TILTS:
        rows = {name: by_depth(tilt, settings) for name, settings in variants.items()}
        print(f"\nwalls at {SLANT}° {tilt}: bias and median absolute error in %")
        print(" " * 15 + "  ".join(f"{name:>17s}" for name in rows))
        for band in rows["coarse off"]:
            print(f"{band:15s}" + "  ".join(f"{cell(row[band]):>17s}" for row in rows.values()))
        require(rows["coarse per_pixel"])
        require(rows["refined per_pixel"], LARGEST_REFINED_ERROR)


# --- parts of the image -----------------------------------------------------------------------------------------


def by_part(found: Errors, parts: int = PARTS) -> dict[str, Errors]:
    """The errors in parts × parts of the image, row by row."""
    rows, columns = (np.array_split(np.arange(size), parts) for size in found.relative.shape)
    return {
        f"row {i + 1}, column {j + 1}": Errors(found.relative[np.ix_(row, column)], found.truth[np.ix_(row, column)])
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    }


@cache
def wall(depth: float) -> Scene:
    return wall_scene(depth, 50 + int(depth), full_size())


def wall_errors(depth: float, settings: DepthSettings) -> Errors:
    return errors(full_size(), wall(depth), int(depth), settings)


def test_all_parts_of_the_image() -> None:
    kinds = (False, True) if os.environ.get("PLENODEPTH_FULL_SIZE") else (False,)
    for depth in DISTANCES:
        for refined in kinds:
            parts = {}
            for model in MODELS:
                parts = by_part(wall_errors(depth, DepthSettings(refined=refined, aperture_model=model)))
                kind = "refined" if refined else "coarse"
                print(
                    f"\nwall at {depth:g} mm, {kind} {model}: bias and median absolute error in %, parts of the image"
                )
                cells = [cell(part) for part in parts.values()]
                for start in range(0, len(cells), PARTS):
                    print("   ".join(cells[start : start + PARTS]))
            require(parts, LARGEST_REFINED_ERROR if refined else LARGEST_ERROR)


# --- off-axis objects -------------------------------------------------------------------------------------------


@cache
def corner_scene() -> Scene:
    """Balls, boxes and a tilted board about the corners and edges of the view, before a wall at 1500 mm."""
    camera = full_size()
    places = (  # of the view's width and height, and mm
        ("ball", -0.38, -0.36, 700.0),
        ("box", 0.38, -0.35, 900.0),
        ("ball", 0.38, 0.35, 1150.0),
        ("box", -0.38, 0.35, 600.0),
        ("board", 0.0, -0.33, 800.0),
        ("ball", 0.0, 0.36, 1000.0),
    )
    things: list[SceneObject] = []
    for index, (kind, x, y, depth) in enumerate(places):
        width, height = view_size(depth, camera)
        middle = view_center(depth, camera) + [x * width, y * height, 0.0]
        turn = Pose.from_rotation_vector([0.3, 0.5 - 0.2 * index, 0.1]).rotation
        size, name = 0.2 * height, f"{kind} at {depth:g} mm"
        material = Material(texture=solid_noise(period=0.12 * depth, octaves=6, seed=300 + index), emits=True)
        if kind == "ball":
            things.append(Sphere(size / 2, Pose(turn, middle), material, name))
        elif kind == "box":
            things.append(Box(np.full(3, 0.8 * size), Pose(turn, middle), material, name))
        else:
            things.append(Rectangle(1.6 * size, size, Pose(turn, middle), material, name))
    return Scene((*things, *wall_scene(1500.0, 77, camera).objects))


def corner_errors(settings: DepthSettings) -> Errors:
    return errors(full_size(), corner_scene(), 9, settings)


@cache
def object_of_lens() -> NDArray[np.int16]:
    """Index (rows, columns) of the object that a whole micro-image shows; −1 where an edge is in it."""
    micro_images, known = full_size().micro_images, truth(full_size(), corner_scene())
    lattice, (height, width) = micro_images.lattice, known.boundary.shape
    owner = owner_map(micro_images, height, width)[known.boundary]
    edges = np.bincount(owner[owner >= 0], minlength=lattice.rows * lattice.columns).reshape(lattice.rows, -1)
    center = np.rint(micro_images.center(*lattice.indices())).astype(int)
    index = known.object_index[center[..., 1].clip(0, height - 1), center[..., 0].clip(0, width - 1)]
    return np.where(edges > 0, np.int16(-1), index)


def by_object(found: Errors, refined: bool) -> dict[str, Errors]:
    """The errors of each object, away from its edges."""
    known = truth(full_size(), corner_scene())
    index = np.where(known.boundary, np.int16(-1), known.object_index) if refined else object_of_lens()
    return {thing.name: found.of(index == number) for number, thing in enumerate(corner_scene().objects)}


def test_off_axis_objects() -> None:
    kinds = (False, True) if os.environ.get("PLENODEPTH_FULL_SIZE") else (False,)
    variants = {
        f"{'refined' if refined else 'coarse'} {model}": DepthSettings(refined=refined, aperture_model=model)
        for refined in kinds
        for model in MODELS
    }
    rows = {name: by_object(corner_errors(settings), settings.refined) for name, settings in variants.items()}
    print("\nobjects about the corners: bias and median absolute error in %")
    print(" " * 20 + "  ".join(f"{name:>17s}" for name in rows))
    for name in rows["coarse off"]:
        print(f"{name:20s}" + "  ".join(f"{cell(row[name]):>17s}" for row in rows.values()))
    require(rows["coarse per_pixel"])
    if "refined per_pixel" in rows:
        require(rows["refined per_pixel"], LARGEST_REFINED_ERROR)


# --- across the axis --------------------------------------------------------------------------------------------


@cache
def small() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), 40, 36), depth_scale=None)


def traced_places(depth: float) -> Float64:
    """The place (h, w, 2) mm on a wall that each pixel shows, from what it sees of even ramps of red and green."""
    half = max(view_size(depth, small()))
    values = np.zeros((2, 2, 3), np.float32)
    values[:, 1, 0], values[1, :, 1] = 1, 1
    pose = Pose(np.eye(3), np.array([0.0, 0.0, depth]))
    scene = Scene((Rectangle(4 * half, 4 * half, pose, Material(texture=ImageTexture(values), emits=True)),))
    light = render(scene, small(), RenderSettings(rays=2 * RAYS, vignetting=False)).light
    return (2 * light[..., :2].astype(np.float64) - 1) * half


def test_points_lie_where_pixels_look() -> None:
    """Errors of depth along the ray from the main lens are left aside: they are those of the other tables."""
    print("\nmedian distance in mm, across the line of sight, of refined clouds from what their pixels show")
    print("     mm  model      points on rays through lens centres  where pixels look")
    for depth in LATERAL_DISTANCES:
        camera, places = small(), traced_places(depth)
        source = image(camera, wall_scene(depth, 40 + int(depth), camera), int(depth))
        for model in ("slope", "per_pixel"):
            found = estimate_virtual_depth(source, camera, DepthSettings(refined=True, aperture_model=model))
            away = []
            for virtual_map in (replace(found, aperture_model="off"), found):
                cloud = point_cloud(virtual_map, camera)
                on_wall = cloud.points[:, :2] * (depth / cloud.points[:, 2:])
                seen = places[cloud.pixels[:, 1], cloud.pixels[:, 0]]
                away.append(float(np.median(np.linalg.norm(on_wall - seen, axis=1))))
            print(f"{depth:7.0f}  {model:9s}  {away[0]:35.2f}  {away[1]:17.2f}")
            assert away[1] < LARGEST_LATERAL_SHARE * away[0]
