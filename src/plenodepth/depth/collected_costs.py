"""Costs of all hypotheses for the pixels of another view, from all micro-images that see the same point."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.aperture.resampling import ResamplingTables, plan_resampling
from plenodepth.depth.estimate import ROWS_PER_BAND, Progress, image_tiles
from plenodepth.depth.kernels.constants import COLLECTED_REACH
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import smoothing_of
from plenodepth.depth.views import Views
from plenodepth.raw.image import RawImage
from plenodepth.threads import thread_count

Float32 = NDArray[np.float32]

AT_A_TIME = 5  # hypotheses: each needs 32 bytes per pixel of the view while it is collected


@dataclass(frozen=True, eq=False)
class CollectedCosts:
    """Costs (h, w, n) of n hypotheses for the pixels of a view, in units of gray; `MISSING` where there is none."""

    cost: Float32
    side: NDArray[np.uint8]  # (h, w, n): 0: of all pairs of views; 1 … 4: of those right, left, below, above
    inverse_depths: Float32  # (n,) 1/v, ascending


def collected_costs(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings,
    model: ApertureModel,
    views: Views,
    places: Float32,
    shape: tuple[int, int],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> CollectedCosts:
    """Costs for a view of a shape (h, w) at the n hypotheses of `views`, which are planned by `settings` and `model`.

    `places` (J, n, 4) says where the view sees each lens' pixels: see `collect`.
    """
    from plenodepth.depth.kernels.cpu.collect import CHANNELS, choose_sides, collect, empty_collect_buffers
    from plenodepth.depth.kernels.cpu.resample import empty_compared_tiles

    height, width = shape
    cost = np.empty((*shape, len(views.inverse_depths)), np.float32)
    side = np.empty(cost.shape, np.uint8)
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        bands = list(pairwise([*range(0, views.rows, ROWS_PER_BAND), views.rows]))
        tiles = image_tiles(image.gray, camera, settings, model, bands, pool)
        tables = plan_resampling(tiles, views, camera, model, smoothing_of(settings, model))
        parts = hypotheses_together(tables)

        def find(hypotheses: NDArray[np.int64]) -> int:
            cells = np.zeros(len(hypotheses) * height * width * CHANNELS, np.float32)
            compared, buffers = empty_compared_tiles(tiles, views, tables), empty_collect_buffers(tiles)
            collect(tiles, views, compared, hypotheses, places, height, width, buffers, cells)
            rows = [np.empty((width + 2 * COLLECTED_REACH) * CHANNELS, np.float32) for _ in range(2)]
            for number, h in enumerate(hypotheses):
                choose_sides(cells, number * height * width, h, height, width, *rows, cost, side)
            return len(hypotheses)

        done = 0
        for count in pool.map(find, parts):
            done += count
            if progress is not None:
                progress(done, cost.shape[2])
    return CollectedCosts(cost, side, views.inverse_depths)


def hypotheses_together(tables: ResamplingTables) -> list[NDArray[np.int64]]:
    """The hypotheses in parts that are collected together: of one plane, and not too many."""
    parts = list[NDArray[np.int64]]()
    for plane in np.unique(tables.plane_of_hypothesis):
        of_plane = np.flatnonzero(tables.plane_of_hypothesis == plane)
        parts += np.array_split(of_plane, -(-len(of_plane) // AT_A_TIME))
    return parts
