"""Virtual depth from a clean image."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.agreement import coarse_agreement, refined_agreement
from plenodepth.depth.kernels.cut import cut
from plenodepth.depth.kernels.golden import golden_coarse_rows, golden_refined_rows
from plenodepth.depth.kernels.sweep import coarse_rows, refined_rows
from plenodepth.depth.maps import MapArrays, VirtualDepthMap, empty_maps
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Float32, Tiles, cut_tiles, empty_tiles, tile_recipe
from plenodepth.depth.views import Views, plan_views
from plenodepth.errors import InputError
from plenodepth.raw.image import RawImage

Progress = Callable[[int, int], None]  # rows of micro-images done, in all
RowKernel = Callable[[int, int, Tiles, Views, MapArrays], None]

ROWS_AT_A_TIME = 4
FIRST_RING = 1.45  # pitches: the 6 neighbours of a hexagonal lattice, the 8 of an orthogonal one
AGREEMENT = 0.05  # relative difference of 1/v up to which two views tell the same depth
LEAST_LOOKED = np.int8(2)


def estimate_depth(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> VirtualDepthMap:
    """Estimate virtual depth; the same image and settings give the same bytes whatever the number of threads."""
    settings = settings or DepthSettings()
    width, height = image_size(camera)
    if image.gray.shape != (height, width):
        found = f"{image.gray.shape[1]} × {image.gray.shape[0]}"
        raise InputError(f"is {found} px, the camera's images are {width} × {height}", file=image.name)
    views = plan_views(camera, settings, image.noise)
    maps = empty_maps((height, width) if settings.refined else (views.rows, views.columns))
    bands = list(pairwise([*range(0, views.rows, ROWS_AT_A_TIME), views.rows]))
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        tiles = _tiles(image.gray, camera, settings, bands, pool)
        kernel = _row_kernel(settings)
        done = pool.map(lambda band: kernel(band[0], band[1], tiles, views, maps), bands)
        for band, _ in zip(bands, done, strict=True):
            if progress is not None:
                progress(band[1], views.rows)
        maps.confidence[:] *= _agreement(tiles, views, maps, settings, bands, pool)
    return VirtualDepthMap(*maps, refined=settings.refined)


def _tiles(
    gray: Float32,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings,
    bands: list[tuple[int, int]],
    pool: ThreadPoolExecutor,
) -> Tiles:
    if settings.kernel == "reference":
        return cut_tiles(gray, camera, settings)
    tiles = empty_tiles(camera, settings)
    recipe, columns = tile_recipe(tiles.radius, settings), camera.micro_images.lattice.columns
    image = np.ascontiguousarray(gray, np.float32)
    for _ in pool.map(lambda band: cut(band[0] * columns, band[1] * columns, image, tiles, recipe), bands):
        pass
    used = len(tiles.origin) * tiles.side**2
    tiles.gray[used:] = tiles.detail[used:] = 0
    return tiles


def _agreement(
    tiles: Tiles,
    views: Views,
    maps: MapArrays,
    settings: DepthSettings,
    bands: list[tuple[int, int]],
    pool: ThreadPoolExecutor,
) -> Float32:
    """Share of the neighbouring views with a depth that have the same, in [0, 1]; a single one counts as half."""
    agreeing, looked = (np.zeros(maps.virtual_depth.shape, np.int8) for _ in range(2))
    nearest = np.linalg.norm(views.baseline[0], axis=1) <= FIRST_RING * views.pitch
    last_arguments = (maps.virtual_depth, int(nearest.sum()), np.float32(AGREEMENT), agreeing, looked)

    def count(band: tuple[int, int]) -> None:
        if settings.refined:
            refined_agreement(band[0], band[1], tiles, views, *last_arguments)
        else:
            coarse_agreement(band[0], band[1], views, *last_arguments)

    for _ in pool.map(count, bands):
        pass
    return np.asarray(agreeing / np.maximum(looked, LEAST_LOOKED), np.float32)


def _row_kernel(settings: DepthSettings) -> RowKernel:
    """What estimates the micro-images of rows first … last − 1."""
    kernels: dict[tuple[str, str, bool], RowKernel] = {
        ("cpu", "sweep", False): coarse_rows,
        ("cpu", "sweep", True): refined_rows,
        ("cpu", "golden", False): golden_coarse_rows,
        ("cpu", "golden", True): golden_refined_rows,
        ("reference", "sweep", False): reference.coarse_rows,
        ("reference", "sweep", True): reference.refined_rows,
    }
    chosen = kernels.get((settings.kernel, settings.search, settings.refined))
    if chosen is None:
        raise InputError("is for the sweep only", field="settings.kernel: reference", fix="give kernel: cpu")
    return chosen
