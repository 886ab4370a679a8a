"""What a pinhole sees of a scene: the true pictures and depths that rendered views are measured against."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.files.views import ViewGeometry, save_views
from plenodepth.camera.pinhole import Pinhole, central_pinhole
from plenodepth.errors import InputError
from plenodepth.io import atomic_files, write_float_map, write_image, write_light
from plenodepth.io.srgb import srgb_encoded
from plenodepth.sim.kernels.tracing import shade_rays
from plenodepth.sim.packed_scene import PackedScene, pack_scene
from plenodepth.sim.scenes.scene import Scene

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]
Progress = Callable[[int, int], None]  # rays done, rays in all

SAMPLES = 4  # rays along each side of a pixel
RAYS_AT_A_TIME = 1 << 18
SCALE = 2.0  # side of a view's pixel, in pixels of the sensor: a quarter of its pixels
SPAN = 0.6  # of the pupil's radius: how far from its middle the outermost views of a row or column stand


@dataclass(frozen=True, eq=False)
class TrueView:
    """What a pinhole sees, (h, w) each, without noise, blur and vignetting."""

    light: Float32  # (h, w, 3) linear, the mean over each pixel's square; 1 is what a white image calls white
    depth: Float32  # mm along z from the pinhole, at the middle of each pixel; NaN where nothing is met
    object_index: NDArray[np.int16]  # into the scene's objects, at the middle of each pixel; −1 for none
    pinhole: Pinhole

    def write(self, folder: Path, name: str) -> None:
        """Write NAME.png (sRGB), NAME.light.tiff (linear), NAME.depth.tiff and NAME.objects.png (from 1; 0: none)."""
        write_image((255 * srgb_encoded(self.light)).round().astype(np.uint8), folder / f"{name}.png")
        write_light(self.light, folder / f"{name}.light.tiff")
        write_float_map(self.depth, folder / f"{name}.depth.tiff", compressed=False)
        write_image((self.object_index + 1).astype(np.uint16), folder / f"{name}.objects.png")


def view_grid(
    camera: PlenopticCamera, columns: int = 1, rows: int = 1, *, scale: float = SCALE, span: float = SPAN
) -> list[ViewGeometry]:
    """Views from a grid of places in the main lens' pupil, row by row; one column and one row: the central view.

    `scale` is the side of a view's pixel in pixels of the sensor, `span` where the outermost stand, in radii.
    """
    if min(columns, rows) < 1:
        raise InputError(f"is {columns}x{rows}, needs at least 1x1", field="grid")
    width, height = int(camera.sensor.width / scale), int(camera.sensor.height / scale)
    if not min(width, height) >= 1:
        raise InputError(f"is {scale:g}, which leaves no pixels", field="scale")
    radius, center = 0.0, central_pinhole(camera, scale)
    if columns * rows > 1:
        diameter = camera.main_lens.aperture_diameter
        if diameter is None:
            raise InputError(f"camera '{camera.name}' has none", field="main_lens.f_number", fix="give the aperture")
        radius = diameter / 2
        corner = span * math.hypot(columns > 1, rows > 1)
        if not 0 < corner <= 1:
            message = f"of {span:g} puts the outermost views at {corner:.3g} radii of the pupil"
            raise InputError(message, field="span", fix="give one that leaves them within 1")
    views = []
    for row in range(rows):
        for column in range(columns):
            x, y = (span * radius * _share(*step) for step in ((column, columns), (row, rows)))
            pinhole = Pinhole(center.fx, center.fy, center.cx, center.cy, np.array([x, y, 0.0]))
            views.append(ViewGeometry(f"view-{row:02d}-{column:02d}", width, height, pinhole))
    return views


def _share(index: int, count: int) -> float:
    """−1 … 1 for the first to the last of several; 0 for a single one."""
    return 0.0 if count == 1 else 2 * index / (count - 1) - 1


def simulate_views(
    scene: Scene,
    views: Sequence[ViewGeometry],
    out: str | Path,
    *,
    samples: int = SAMPLES,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Trace the true picture and depth of each view, and write them and views.json into the folder `out`.

    >>> scene, camera = plenodepth.load_scene("scene.yaml"), plenodepth.load_camera("camera.yaml")
    >>> from plenodepth.sim import simulate_views, view_grid
    >>> simulate_views(scene, view_grid(camera, 3, 3, scale=4), "truth", samples=1)
    """
    rays = [view.width * view.height * (samples * samples + 1) for view in views]
    with atomic_files(out) as folder:
        for number, view in enumerate(views):
            before = sum(rays[:number])

            def told(done: int, _: int, before: int = before) -> None:
                if progress is not None:
                    progress(before + done, sum(rays))

            if view.pinhole is None:
                raise InputError("has no pinhole: its camera is known by its lens grid only", field=view.name)
            found = true_view(scene, view.pinhole, view.shape, samples=samples, threads=threads, progress=told)
            found.write(folder, view.name)
        save_views(views, folder)


def true_view(
    scene: Scene,
    pinhole: Pinhole,
    shape: tuple[int, int],
    *,
    samples: int = SAMPLES,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TrueView:
    """Trace the view (h, w) of a pinhole on the plane z = 0, with samples × samples rays per pixel and one for depth.

    The rays of a pixel stand on a regular grid. The same bytes for any number of threads.
    """
    if samples < 1:
        raise InputError(f"is {samples}, needs at least 1", field="samples")
    if pinhole.center[2] != 0:
        raise InputError(
            f"has z = {pinhole.center[2]:g} mm", field="center", fix="give a place in the main lens, z = 0"
        )
    height, width = shape
    packed, background = pack_scene(scene), np.array(scene.background, np.float32)
    light, depth = np.empty((height, width, 3), np.float32), np.empty((height, width), np.float32)
    index = np.empty((height, width), np.int16)
    inner = (np.arange(samples) + 0.5) / samples - 0.5  # px from the middle of a pixel
    per_row = width * (samples * samples + 1)
    bands = list(pairwise([*range(0, height, max(1, RAYS_AT_A_TIME // per_row)), height]))

    def trace(band: tuple[int, int]) -> int:
        rows = np.arange(*band, dtype=np.float64)
        middle = _slopes(pinhole, rows, np.arange(width, dtype=np.float64))
        found, objects, _ = _first_seen(packed, pinhole, middle)
        depth[slice(*band)] = np.where(objects < 0, np.float32(np.nan), found).reshape(-1, width)
        index[slice(*band)] = objects.reshape(-1, width)
        fine = _slopes(pinhole, (rows[:, None] + inner).ravel(), (np.arange(width)[:, None] + inner).ravel())
        _, objects, colors = _first_seen(packed, pinhole, fine)
        colors[objects < 0] = background
        light[slice(*band)] = colors.reshape(-1, samples, width, samples, 3).mean(axis=(1, 3), dtype=np.float64)
        return (band[1] - band[0]) * per_row

    done = 0
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for rays in pool.map(trace, bands):
            done += rays
            if progress is not None:
                progress(done, height * per_row)
    return TrueView(light, depth, index, pinhole)


def _slopes(pinhole: Pinhole, rows: NDArray[np.float64], columns: NDArray[np.float64]) -> Float32:
    """Directions (rows · columns, 3) with z = 1 of the rays through image positions, row by row."""
    directions = np.ones((len(rows), len(columns), 3), np.float32)
    directions[..., 0] = (columns - pinhole.cx) / pinhole.fx
    directions[..., 1] = ((rows - pinhole.cy) / pinhole.fy)[:, None]
    return directions.reshape(-1, 3)


def _first_seen(packed: PackedScene, pinhole: Pinhole, directions: Float32) -> tuple[Float32, Int32, Float32]:
    """Depth (n,), object (n,) (−1: none) and colour (n, 3) of what rays from the pinhole meet first."""
    n, mesh = len(directions), packed.triangles
    origins = np.empty((n, 3), np.float32)
    origins[:] = pinhole.center
    depths, indices, colors = np.empty(n, np.float32), np.empty(n, np.int32), np.empty((n, 3), np.float32)
    shade_rays(
        origins, directions, *mesh.intersect(origins, directions), packed.objects, packed.kinds,
        mesh.owner, mesh.normals, mesh.colors, mesh.texture_coordinates, packed.texels, packed.volumes, packed.lamps,
        packed.ambient, depths, indices, colors,
    )  # fmt: skip
    return depths, indices, colors
