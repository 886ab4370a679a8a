"""Virtual depth from a clean image."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.micro_images import owner_map
from plenodepth.camera.model import ApertureModel, image_size
from plenodepth.depth.aperture.model_choice import choose_model
from plenodepth.depth.aperture.resampling import ResamplingTables, plan_resampling, true_from_apparent
from plenodepth.depth.device import Device, chosen_device
from plenodepth.depth.filters.neighbourhood import FIRST_RING
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.cpu.agreement import coarse_agreement, refined_agreement
from plenodepth.depth.kernels.cpu.cut import cut
from plenodepth.depth.kernels.cpu.golden import golden_coarse_rows, golden_refined_rows
from plenodepth.depth.kernels.cpu.sweep import coarse_rows, refined_rows
from plenodepth.depth.maps import MapArrays, VirtualDepthMap, empty_maps
from plenodepth.depth.neighbour_average import average_with_neighbours
from plenodepth.depth.scatter import widen_sigma
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Float32, Tiles, cut_tiles, empty_tiles, smoothing_of, tile_cutting
from plenodepth.depth.views import Views, plan_views
from plenodepth.errors import InputError
from plenodepth.raw.image import RawImage
from plenodepth.threads import thread_count

Progress = Callable[[int, int], None]  # rows of micro-images done, in all
RowKernel = Callable[[int, int, Tiles, Views, ResamplingTables, MapArrays], None]

TRIED_ROWS = 12  # of micro-images, in the middle: enough to tell which aperture model fits
ROWS_PER_BAND = 4  # of micro-images
# Where tiles are resampled, a band resamples the rows of its neighbours, too. So there are few bands.
BANDS_PER_THREAD = {False: 1, True: 2}  # coarse, refined


def estimate_virtual_depth(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings | None = None,
    *,
    device: Device = "cpu",
    threads: int | None = None,
    progress: Progress | None = None,
) -> VirtualDepthMap:
    """Virtual depth of a clean image, unfiltered: per micro-image, or per pixel with `DepthSettings(refined=True)`.

    The same image, settings and device give the same bytes, whatever the number of threads. The GPU (`device` cuda, or
    auto where there is one) gives the same depths but for rounding; what compares results, as calibration does, stays
    on the CPU. `progress` is called with the rows of micro-images that are done, and with the number of all rows.

    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> image = plenodepth.load_raw("raw.png", camera, white="white.png")
    >>> found = plenodepth.estimate_virtual_depth(image, camera, plenodepth.DepthSettings(blur=False))
    >>> bool(found.valid_fraction > 0.9)
    True
    """
    settings = settings or DepthSettings()
    width, height = image_size(camera)
    if image.gray.shape != (height, width):
        found = f"{image.gray.shape[1]} × {image.gray.shape[0]}"
        raise InputError(f"is {found} px, the camera's images are {width} × {height}", file=image.name)
    on_gpu, workers = chosen_device(device, settings) == "cuda", thread_count(threads)
    model, note = choose_model(image, camera, settings, lambda: better_model(image, camera, settings))
    views = plan_views(camera, settings, image.noise, model)
    search = _maps_by_gpu if on_gpu else _maps_by_cpu
    maps = search(image, camera, settings, model, views, workers, progress)
    if model == "per_pixel" and not settings.refined:
        maps.virtual_depth[:] = average_with_neighbours(maps.virtual_depth, maps.sigma, views)
    bands, places = _bands(views.rows, workers, model, settings.refined), empty_tiles(camera, settings, model)
    with ThreadPoolExecutor(workers) as pool:
        widen_sigma(places, views, maps, camera, settings, model, bands, pool)
    estimated = VirtualDepthMap(*maps, refined=settings.refined, aperture_model=model, aperture_note=note)
    return _by_slope(estimated, camera, settings) if model == "slope" else estimated


def _maps_by_gpu(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings,
    model: ApertureModel,
    views: Views,
    workers: int,
    progress: Progress | None,
) -> MapArrays:
    """The maps by the kernels in CUDA; no threads are needed, and all rows are done at once."""
    from plenodepth.depth.kernels.cuda.search import cuda_maps

    maps = cuda_maps(image.gray, camera, settings, image.noise, model, _ring(views))
    if progress is not None:
        progress(views.rows, views.rows)
    return maps


def _maps_by_cpu(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings,
    model: ApertureModel,
    views: Views,
    workers: int,
    progress: Progress | None,
) -> MapArrays:
    """The maps by the kernels for the CPU, bands of rows at a time."""
    maps = empty_maps(image.gray.shape if settings.refined else (views.rows, views.columns))
    bands = _bands(views.rows, workers, model, settings.refined)
    with ThreadPoolExecutor(workers) as pool:
        tiles = image_tiles(image.gray, camera, settings, model, bands, pool)
        kernel = _row_kernel(settings)
        tables = plan_resampling(tiles, views, camera, model, smoothing_of(settings, model))
        done = pool.map(lambda band: kernel(band[0], band[1], tiles, views, tables, maps), bands)
        for band, _ in zip(bands, done, strict=True):
            if progress is not None:
                progress(band[1], views.rows)
        _agree(tiles, views, maps, settings, bands, pool)
    return maps


def better_model(image: RawImage, camera: PlenopticCamera | GridCamera, settings: DepthSettings) -> ApertureModel:
    """The aperture model, off or per_pixel, by which the views of some rows of micro-images match with more confidence.

    Simulated walls at 600, 900 and 1500 mm: devignetted at f/4 and f/5.6, the median confidences are 0.40 … 0.80 and
    0.51 … 0.92; taken at f/2 with a camera file of f/4 or f/5.6, 0.87 … 0.93 and 0.45 … 0.88.
    """
    coarse, confidence = replace(settings, refined=False), dict[ApertureModel, float]()
    models: tuple[ApertureModel, ...] = ("off", "per_pixel")
    for model in models:
        views = plan_views(camera, coarse, image.noise, model)
        maps, middle = empty_maps((views.rows, views.columns)), views.rows // 2
        band = max(middle - TRIED_ROWS // 2, 0), min(middle + TRIED_ROWS // 2 + 1, views.rows)
        needed = max(band[0] - views.halo, 0), min(band[1] + views.halo, views.rows)
        with ThreadPoolExecutor(1) as pool:
            tiles = image_tiles(image.gray, camera, coarse, model, [needed], pool)
            tables = plan_resampling(tiles, views, camera, model, smoothing_of(coarse, model))
            _row_kernel(coarse)(band[0], band[1], tiles, views, tables, maps)
            _agree(tiles, views, maps, coarse, [band], pool)
        confidence[model] = float(np.nanmean(maps.confidence[band[0] : band[1]]))
    return max(models, key=lambda model: confidence[model])


def _bands(rows: int, workers: int, model: ApertureModel, refined: bool) -> list[tuple[int, int]]:
    """The bands of rows of micro-images (first, last + 1); a thread estimates one band at a time."""
    at_a_time = -(-rows // (BANDS_PER_THREAD[refined] * workers)) if model == "per_pixel" else ROWS_PER_BAND
    return list(pairwise([*range(0, rows, max(at_a_time, ROWS_PER_BAND)), rows]))


def _by_slope(found: VirtualDepthMap, camera: PlenopticCamera | GridCamera, settings: DepthSettings) -> VirtualDepthMap:
    """Correct virtual depths that were found without regard to the aperture: the model `slope`."""
    assert isinstance(camera, PlenopticCamera)
    shape = found.virtual_depth.shape
    lens = owner_map(camera.micro_images, *shape) if found.refined else np.arange(shape[0] * shape[1]).reshape(shape)
    apparent = found.virtual_depth.astype(np.float64)
    true, growth = true_from_apparent(apparent, camera, lens, settings.margin_for("slope"), settings.smoothing)
    return replace(
        found,
        virtual_depth=true.astype(np.float32),
        sigma=(found.sigma * growth).astype(np.float32),
        confidence=np.where(np.isfinite(true), found.confidence, np.float32(0)),
    )


def image_tiles(
    gray: Float32,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings,
    model: ApertureModel,
    bands: list[tuple[int, int]],
    pool: ThreadPoolExecutor,
) -> Tiles:
    """The tiles of an image (h, w), cut in bands of rows of micro-images (first, last + 1)."""
    if settings.kernel == "reference":
        return cut_tiles(gray, camera, settings, model)
    tiles = empty_tiles(camera, settings, model)
    cutting, columns = tile_cutting(tiles.reach, settings), camera.micro_images.lattice.columns
    image = np.ascontiguousarray(gray, np.float32)
    for _ in pool.map(lambda band: cut(band[0] * columns, band[1] * columns, image, tiles, cutting), bands):
        pass
    used = len(tiles.origin) * tiles.side**2
    tiles.gray[used:] = tiles.detail[used:] = 0
    return tiles


def _agree(
    tiles: Tiles,
    views: Views,
    maps: MapArrays,
    settings: DepthSettings,
    bands: list[tuple[int, int]],
    pool: ThreadPoolExecutor,
) -> None:
    """Lower the confidence of depths that few neighbouring views confirm."""
    last_arguments = (_ring(views), maps.virtual_depth, maps.confidence)

    def agree(band: tuple[int, int]) -> None:
        if settings.refined:
            refined_agreement(band[0], band[1], tiles, views, *last_arguments)
        else:
            coarse_agreement(band[0], band[1], views, *last_arguments)

    for _ in pool.map(agree, bands):
        pass


def _ring(views: Views) -> int:
    """The number of neighbours that are asked whether they agree."""
    return int(np.count_nonzero(np.linalg.norm(views.baseline[0], axis=1) <= FIRST_RING * views.pitch))


def _row_kernel(settings: DepthSettings) -> RowKernel:
    """The kernel of the settings; it estimates the micro-images of rows first … last − 1."""
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
