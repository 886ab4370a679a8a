"""Virtual depth from a clean image."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.depth.kernels.cpu import MISSING, coarse_rows, refined_rows
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Tiles, cut_tiles
from plenodepth.depth.views import Views, plan_views
from plenodepth.errors import InputError
from plenodepth.raw.image import RawImage

Progress = Callable[[int, int], None]  # rows of micro-images done, in all

ROWS_AT_A_TIME = 4


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
    tiles, views = cut_tiles(image.gray, camera, settings), plan_views(camera, settings)
    shape = (height, width) if settings.refined else (views.rows, views.columns)
    depth, sigma, cost = (np.full(shape, np.nan, np.float32) for _ in range(3))
    confidence, used = np.zeros(shape, np.float32), np.zeros(shape, np.int16)
    arguments = _kernel_arguments(tiles, views, settings)

    def work(band: tuple[int, int]) -> None:
        if settings.refined:
            refined_rows(*band, *arguments, tiles.origin, settings.window, depth, sigma, confidence, cost, used)
        else:
            flat = [array.reshape(-1) for array in (depth, sigma, confidence, cost)]
            coarse_rows(*band, *arguments, *flat, used.reshape(-1))

    bands = list(pairwise([*range(0, views.rows, ROWS_AT_A_TIME), views.rows]))
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for band, _ in zip(bands, pool.map(work, bands), strict=True):
            if progress is not None:
                progress(band[1], views.rows)
    return VirtualDepthMap(depth, sigma, confidence, cost, used, refined=settings.refined)


def _kernel_arguments(tiles: Tiles, views: Views, settings: DepthSettings) -> tuple[object, ...]:
    """What all kernels take between the band of rows and their outputs."""
    single = np.float32
    gray = np.where(np.isnan(tiles.gray), MISSING, tiles.gray)
    return (
        views.columns, views.rows, views.by_column, views.step_k, views.step_l, views.baseline, views.swept,
        views.pitch_ratio, views.lens_type, views.blur_slope, views.blur_intercept, views.inverse_depths,
        gray, tiles.detail, tiles.center, tiles.side, single(tiles.radius), single(tiles.blur_unit),
        single(settings.least_contrast), single(settings.least_overlap), single(settings.least_views),
    )  # fmt: skip
