"""Traces a scene: the light on every pixel of the sensor."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Lattice
from plenodepth.sim.kernels.tracing import emit_rows, shade_rows, trace_rows
from plenodepth.sim.optics.options import CHANNELS, RealOptics
from plenodepth.sim.packed_scene import PackedScene, pack_scene
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.samples import ray_samples
from plenodepth.sim.scenes.scene import Scene

Float32 = NDArray[np.float32]
Progress = Callable[[int, int], None]  # rays done, rays in all

RAYS_AT_A_TIME = 1 << 20  # limits memory: scenes with triangles need about 100 bytes per ray
ROWS_AT_A_TIME = 16  # for scenes without triangles, which need no memory per ray


@dataclass(frozen=True)
class RenderSettings:
    """How a scene is traced."""

    rays: int = 64  # per pixel
    seed: int = 0
    f_number: float | None = None  # None: the camera's
    vignetting: bool = True  # False: divide by the share of rays that pass the main lens
    neighbour_light: bool = False  # light that reaches a pixel through the lenses around its own
    threads: int | None = None  # None: all cores
    optics: RealOptics | None = None  # None: thin lenses

    def __post_init__(self) -> None:
        if self.rays < 1:
            raise InputError(f"is {self.rays}, needs at least 1", field="rays")
        if self.threads is not None and self.threads < 1:
            raise InputError(f"is {self.threads}, needs at least 1", field="threads")


@dataclass(frozen=True, eq=False)
class Rendering:
    """Light on the sensor, (height, width, 3) float32, 1 = a fully open pixel that looks at white; and what it cost."""

    light: Float32
    rays: int
    seconds: float
    cpu_seconds: float


def scene_depths(scene: Scene, focal_length: float) -> tuple[float, float]:
    """Depths (near, far) in mm of the two planes that fix a ray: the range of the scene, or ±5 % about a thin one."""
    near, far = scene.depth_range()
    if near <= focal_length:
        name = min(scene.objects, key=lambda thing: float(thing.bounds()[:, 2].min())).name
        raise InputError(
            f"reaches to z = {near:.4g} mm, inside the focal length of {focal_length:.4g} mm",
            field=name,
            fix="move it away from the camera",
        )
    middle = (near + far) / 2
    return min(near, max(0.95 * middle, 1.001 * focal_length)), max(far, 1.05 * middle)


def neighbour_table(lattice: Lattice, with_neighbours: bool) -> NDArray[np.int32]:
    """Lenses whose light a pixel of each lens may get: its own alone, or also those one pitch around; −1 pads."""
    k, l = (index.ravel() for index in lattice.indices())
    own = (l * lattice.columns + k).astype(np.int32)
    if not with_neighbours:
        return own[:, None]
    dl, dk = (offset.ravel() for offset in np.mgrid[-1:2, -2:3])
    other_k, other_l = k[:, None] + dk, l[:, None] + dl
    node, other = lattice.node(k, l)[:, None], lattice.node(other_k, other_l)
    # The layout of the shifts depends on the row, so all candidates are measured instead of listed.
    close = np.linalg.norm((other - node) / lattice.diameter, axis=-1) < 1.5
    inside = close & lattice.contains(other_k, other_l)
    table = np.where(inside, other_l * lattice.columns + other_k, -1).astype(np.int32)
    order = np.argsort(table < 0, axis=1, kind="stable")
    return np.ascontiguousarray(np.take_along_axis(table, order, axis=1)[:, : int(inside.sum(axis=1).max())])


def render(
    scene: Scene,
    camera: PlenopticCamera,
    settings: RenderSettings | None = None,
    *,
    setup: RaySetup | None = None,
    progress: Progress | None = None,
) -> Rendering:
    """Trace a scene. The same settings give the same bytes whatever the number of threads."""
    settings = settings or RenderSettings()
    start, cpu_start = time.perf_counter(), time.process_time()
    optics = settings.optics
    if setup is None:
        depths = scene_depths(scene, camera.main_lens.focal_length)
        setup = ray_setup(camera, *depths, f_number=settings.f_number, optics=optics)
    packed = pack_scene(scene)
    neighbours = neighbour_table(camera.micro_images.lattice, settings.neighbour_light)
    if optics is None or not optics.bends_colors:
        light, total = _trace(setup, neighbours, packed, settings, progress)
    else:
        light, total = _trace_colors(setup, camera, optics, neighbours, packed, settings, progress)
    return Rendering(light, total, time.perf_counter() - start, time.process_time() - cpu_start)


def _trace_colors(
    setup: RaySetup,
    camera: PlenopticCamera,
    optics: RealOptics,
    neighbours: NDArray[np.int32],
    packed: PackedScene,
    settings: RenderSettings,
    progress: Progress | None,
) -> tuple[Float32, int]:
    """As `_trace`, one colour after the other. Red and blue get half the rays: colours double the work, no more."""
    light = np.zeros((setup.height, setup.width, 3), np.float32)
    half = max(1, settings.rays // 2)
    shares = [settings.rays if color == "G" else half for color in CHANNELS]
    done = 0
    for color, rays in enumerate(shares):
        found = ray_setup(
            camera, setup.near, setup.far, f_number=settings.f_number, optics=optics, color=color, owner=False
        )
        found = replace(found, owner=setup.owner)
        before = done

        def told(now: int, total: int, before: int = before, rays: int = rays) -> None:
            if progress is not None:
                progress(before + now, total // rays * sum(shares))

        one, traced = _trace(found, neighbours, packed, replace(settings, rays=rays), told)
        light[..., color] = one[..., color]
        done += traced
    return light, done


def _trace(
    setup: RaySetup,
    neighbours: NDArray[np.int32],
    packed: PackedScene,
    settings: RenderSettings,
    progress: Progress | None,
) -> tuple[Float32, int]:
    """Light (h, w, 3) on all pixels that have a lens, and the number of rays."""
    light = np.zeros((setup.height, setup.width, 3), np.float32)
    diffracted = settings.optics is not None and settings.optics.wavelength is not None
    samples = ray_samples(settings.rays, setup.pixel_size, setup.lens_shape, settings.seed, diffracted=diffracted)
    per_pixel = int(settings.rays * neighbours.shape[1])
    bands = list(_bands(setup, per_pixel, packed))
    total = int(np.count_nonzero(setup.owner >= 0)) * per_pixel

    def trace(band: tuple[int, int]) -> int:
        work = _trace_with_triangles if packed.triangles.tree is not None else _trace_shapes
        work(band, setup, neighbours, samples, packed, settings, light)
        return int(np.count_nonzero(setup.owner[slice(*band)] >= 0)) * per_pixel

    done = 0
    with ThreadPoolExecutor(settings.threads or os.cpu_count()) as pool:
        for rays in pool.map(trace, bands):
            done += rays
            if progress is not None:
                progress(done, total)
    return light, total


def _bands(setup: RaySetup, per_pixel: int, packed: PackedScene) -> Iterator[tuple[int, int]]:
    rows = ROWS_AT_A_TIME
    if packed.triangles.tree is not None:
        rows = max(1, RAYS_AT_A_TIME // (setup.width * per_pixel))
    return pairwise([*range(0, setup.height, rows), setup.height])


def _trace_shapes(
    band: tuple[int, int],
    setup: RaySetup,
    neighbours: NDArray[np.int32],
    samples: Float32,
    packed: PackedScene,
    settings: RenderSettings,
    light: Float32,
) -> None:
    trace_rows(
        *band, setup.owner, neighbours, *_optics(setup), samples, settings.seed,
        packed.objects, packed.kinds, packed.texels, packed.volumes, packed.lamps, packed.ambient, packed.background,
        settings.vignetting, light,
    )  # fmt: skip


def _trace_with_triangles(
    band: tuple[int, int],
    setup: RaySetup,
    neighbours: NDArray[np.int32],
    samples: Float32,
    packed: PackedScene,
    settings: RenderSettings,
    light: Float32,
) -> None:
    rows = band[1] - band[0]
    most = rows * setup.width * settings.rays * neighbours.shape[1]
    origins, directions = np.empty((most, 3), np.float32), np.empty((most, 3), np.float32)
    counts = np.empty((rows, setup.width), np.int32)
    weights = None if setup.real is None else np.empty(most, np.float32)
    n = emit_rows(
        *band, setup.owner, neighbours, *_optics(setup), samples, settings.seed, origins, directions, weights, counts
    )
    origins, directions = origins[:n], directions[:n]
    shade_rows(
        band[0], settings.rays, origins, directions, weights, counts, *packed.triangles.intersect(origins, directions),
        packed.objects, packed.kinds, packed.triangles.owner, packed.triangles.normals, packed.triangles.colors,
        packed.triangles.texture_coordinates, packed.texels, packed.volumes, packed.lamps, packed.ambient,
        packed.background, settings.vignetting, light,
    )  # fmt: skip


def _optics(setup: RaySetup) -> tuple[Any, ...]:
    single = np.float32
    return (
        setup.lens,
        setup.chord,
        single(setup.pixel_size),
        single(setup.near),
        single(setup.far),
        single(setup.aperture_radius),
        setup.real,
    )
