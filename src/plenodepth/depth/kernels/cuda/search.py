"""A search on the GPU: cut, resample, sweep, agree; one launch after the other, in one stream."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import ApertureModel
from plenodepth.depth.kernels.cuda.device import cupy, gpu
from plenodepth.depth.kernels.cuda.plan import COARSE_THREADS, PLANS, Camera, Plan, address_of, require_memory
from plenodepth.depth.kernels.cuda.sources import OPTIONS, packed, source_of
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.settings import DepthSettings

f4 = np.float32
i4 = np.int32

Mark = Callable[[str], None]  # told the name of each stage once it is launched

THREADS = 256
REGISTERS = 65536  # of a multiprocessor
THREADS_OF_MULTIPROCESSOR = 2048

_one_at_a_time = Lock()


def cuda_maps(
    gray: NDArray[np.float32], camera: Camera, settings: DepthSettings, noise: float, model: ApertureModel, ring: int
) -> MapArrays:
    """Maps of an image (h, w), as the kernels of the CPU fill them; `ring` neighbours are asked whether they agree."""
    with _one_at_a_time:
        plan = PLANS.get(camera, settings, noise, model)
        try:
            image = cupy().asarray(np.ascontiguousarray(gray, np.float32))
            return MapArrays(*(cupy().asnumpy(values) for values in search(plan, image, ring)))
        except cupy().cuda.memory.OutOfMemoryError:
            require_memory(False, bytes_without_resampling(plan, gray.shape))
            raise


def search(plan: Plan, image: Any, ring: int, mark: Mark = lambda stage: None) -> MapArrays:
    """Maps on the device, of an image (h, w) on the device."""
    shape = image.shape if plan.views.refined else (plan.views.rows, plan.views.columns)
    maps = empty_maps_on_device(shape)
    bands = plan.bands(bytes_without_resampling(plan, image.shape))
    mark("maps")
    gray, detail = cut(plan, image)
    mark("cut")
    tiles = plan.tiles_argument(gray, detail)
    scratch = _room_for_resampled(plan, bands) if plan.resampled else (gray, detail)
    best, sharpness = cupy().empty(plan.lenses, np.int32), cupy().empty(plan.lenses, np.float32)
    for band in bands:
        if plan.views.refined:
            _refined(plan, tiles, scratch, band, image.shape[1], maps, mark)
        else:
            _coarse(plan, tiles, scratch, band, best, sharpness, maps, mark)
    _agree(plan, tiles, ring, image.shape, maps)
    mark("agreement")
    return maps


def bytes_without_resampling(plan: Plan, shape: tuple[int, ...]) -> int:
    """Bytes of device memory that a search of an image (h, w) takes, but for resampled tiles."""
    pixels = shape[0] * shape[1]
    entries = pixels if plan.views.refined else plan.lenses
    costs = _blocks(plan, None) * plan.bytes_of_volume if plan.views.refined else 0
    return 4 * pixels + 8 * plan.lenses * plan.size + 18 * entries + costs


def empty_maps_on_device(shape: tuple[int, ...]) -> MapArrays:
    """Arrays without any depth."""
    depth, sigma, cost = (cupy().empty(shape, np.float32) for _ in range(3))
    for values in (depth, sigma, cost):
        values.data.memset_async(0xFF, values.nbytes)  # is NaN, and needs no kernel
    return MapArrays(depth, sigma, cupy().zeros(shape, np.float32), cost, cupy().zeros(shape, np.int16))


def cut(plan: Plan, image: Any) -> tuple[Any, Any]:
    """Gray and detail of all tiles."""
    flat = plan.lenses * plan.size + 4 * plan.tiles.side
    gray, detail = cupy().zeros(flat, np.float32), cupy().zeros(flat, np.float32)
    height, width = image.shape
    arguments = (
        image, i4(width), i4(height), plan.tiles_argument(gray, detail), f4(plan.tiles.reach), plan.smoothing,
        i4(plan.smoothing.size), plan.mixture, i4(plan.mixture.size), gray, detail,
    )  # fmt: skip
    launch(kernel("cut.cu", "cut_tiles"), plan.lenses, THREADS, arguments, 16 * plan.size)
    return gray, detail


def _room_for_resampled(plan: Plan, bands: list[tuple[int, int]]) -> tuple[Any, Any]:
    """Room for the resampled tiles of any of the bands: gray and detail."""
    rows = max(last - first for first, last in map(plan.rows_of, bands))
    flat = rows * plan.views.columns * plan.planes * plan.size + 4 * plan.tiles.side
    # Where a tile has no rim, a pixel beyond its last one may be read. It counts nothing, but 0 · NaN would be NaN.
    make = cupy().empty if plan.tiles.reach - plan.tiles.radius >= 1 else cupy().zeros
    return make(flat, np.float32), make(flat, np.float32)


def _coarse(
    plan: Plan,
    tiles: Any,
    scratch: tuple[Any, Any],
    band: tuple[int, int],
    best: Any,
    sharpness: Any,
    maps: MapArrays,
    mark: Mark,
) -> None:
    """Depths of the micro-images of a band of rows.

    A sweep compares tiles in a few shared planes, and what follows in that of the best hypothesis: only then it is
    known which tiles are needed in which plane.
    """
    columns, shapes, resampled = plan.views.columns, plan.shapes_argument, plan.resampled
    first, last = band[0] * columns, band[1] * columns
    compared = plan.compared_argument(*scratch, plan.rows_of(band)[0] if resampled else 0)
    common = (tiles, plan.views_argument, plan.tables_argument, compared, shapes, i4(first), i4(plan.tasks))
    wanted = _resample(plan, tiles, scratch, band, np.unique(plan.tables.plane_of_hypothesis)) if resampled else None
    mark("resample")
    sweep = kernel("coarse.cu", "sweep_lenses", resampled=resampled)
    launch(sweep, last - first, COARSE_THREADS, (*common, best, sharpness), plan.coarse_shared)
    mark("sweep")
    if wanted is not None:
        pairs = (last - first) * (plan.shapes.neighbours + 1)
        arguments = (plan.views_argument, compared, shapes, best, i4(first), i4(last), wanted)
        launch(kernel("resample.cu", "want_planes"), -(-pairs // THREADS), THREADS, arguments)
        _resample_wanted(plan, tiles, scratch, band, wanted)
    mark("resample again")
    about_best = kernel("coarse.cu", "search_about_best", resampled=resampled)
    last_arguments = best, sharpness, packed(maps, address_of)
    launch(about_best, last - first, COARSE_THREADS, (*common, *last_arguments), plan.coarse_shared)
    mark("second search")


def _refined(
    plan: Plan, tiles: Any, scratch: tuple[Any, Any], band: tuple[int, int], width: int, maps: MapArrays, mark: Mark
) -> None:
    """Depths of the pixels of a band of rows of micro-images."""
    columns = plan.views.columns
    if plan.resampled:
        _resample(plan, tiles, scratch, band, np.arange(plan.planes))
    mark("resample")
    first, last = band[0] * columns, band[1] * columns
    blocks = min(_blocks(plan, _sweep_pixels(plan)), last - first)
    volumes = cupy().empty(blocks * plan.bytes_of_volume // 4, np.float32)
    compared = plan.compared_argument(*scratch, plan.rows_of(band)[0] if plan.resampled else 0)
    arguments = (
        tiles, plan.views_argument, plan.tables_argument, compared, plan.shapes_argument, i4(first), i4(last),
        i4(width), volumes, packed(maps, address_of),
    )  # fmt: skip
    launch(_sweep_pixels(plan), blocks, plan.refined_threads, arguments, plan.refined_shared(plan.together))
    mark("sweep")


def _sweep_pixels(plan: Plan) -> Any:
    return kernel("refined.cu", "sweep_pixels", resampled=plan.resampled, together=plan.together)


def _blocks(plan: Plan, of_kernel: Any) -> int:
    """Blocks of the refined search that all run at the same time; of no kernel: at most."""
    threads = plan.refined_threads
    resident = min(
        THREADS_OF_MULTIPROCESSOR // threads,
        gpu().shared_of_multiprocessor // (plan.refined_shared(plan.together) + 1024),
    )
    if of_kernel is not None:
        resident = min(resident, REGISTERS // (of_kernel.num_regs * threads))
    return gpu().multiprocessors * max(resident, 1)


def _resample(
    plan: Plan, tiles: Any, scratch: tuple[Any, Any], band: tuple[int, int], planes: NDArray[np.integer]
) -> Any:
    """Resample all tiles of a band for some planes; returns what is done already: see resample.cu."""
    first, last = plan.rows_of(band)
    wanted = plan.wanted_at_first((last - first) * plan.views.columns, planes)
    _resample_wanted(plan, tiles, scratch, band, wanted)
    return wanted


def _resample_wanted(plan: Plan, tiles: Any, scratch: tuple[Any, Any], band: tuple[int, int], wanted: Any) -> None:
    first, last = (row * plan.views.columns for row in plan.rows_of(band))
    arguments = (
        tiles, plan.views_argument, plan.tables_argument, plan.compared_argument(*scratch, plan.rows_of(band)[0]),
        plan.shapes_argument, wanted, i4(first), *scratch,
    )  # fmt: skip
    launch(kernel("resample.cu", "resample_tiles"), last - first, THREADS, arguments, 12 * plan.size)


def _agree(plan: Plan, tiles: Any, ring: int, shape: tuple[int, ...], maps: MapArrays) -> None:
    """Lower the confidence of depths that few neighbouring views confirm."""
    views, shapes, last = plan.views_argument, plan.shapes_argument, (maps.virtual_depth, maps.confidence)
    if plan.views.refined:
        sizes = i4(shape[1]), i4(shape[0])
        refined = kernel("agreement.cu", "agree_refined")
        launch(refined, plan.lenses, THREADS, (tiles, views, shapes, i4(ring), *sizes, *last))
    else:
        coarse = kernel("agreement.cu", "agree_coarse")
        launch(coarse, -(-plan.lenses // THREADS), THREADS, (views, shapes, i4(ring), *last))


@cache
def kernel(file: str, name: str, *, resampled: bool = False, together: int = 1) -> Any:
    """A compiled kernel; CuPy keeps the code of each on disk."""
    return _module(file, resampled, together).get_function(name)


@cache
def _module(file: str, resampled: bool, together: int) -> Any:
    return cupy().RawModule(code=source_of(file, resampled=resampled, together=together), options=OPTIONS)


def launch(of_kernel: Any, blocks: int, threads: int, arguments: tuple[Any, ...], shared: int = 0) -> None:
    """Launch a kernel; `shared`: bytes of shared memory that its blocks ask for."""
    if shared > 48 * 1024 and of_kernel.max_dynamic_shared_size_bytes < shared:
        of_kernel.max_dynamic_shared_size_bytes = shared
    of_kernel((blocks,), (threads,), arguments, shared_mem=shared)
