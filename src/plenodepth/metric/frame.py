"""One frame from clean image to depth in millimetres: the whole chain as a function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.blas import single_blas_thread
from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.device import Device, UsedDevice, chosen_device
from plenodepth.depth.estimate import Progress, estimate_virtual_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.relative_blur import used_kappa
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.settings_file import SettingsFile
from plenodepth.depth.sign import with_depth_sign
from plenodepth.metric.dense.central_view import CentralView
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map
from plenodepth.metric.focus import unchecked_focus
from plenodepth.metric.quality import Quality, judged, thinned, with_dense
from plenodepth.metric.result import NEEDS_CALIBRATION, DepthResult, DepthSummary
from plenodepth.raw.image import RawImage
from plenodepth.threads import limited_threads, thread_count
from plenodepth.timing import StageClock
from plenodepth.version import __version__

QUARTILES = (0.25, 0.5, 0.75)


@single_blas_thread()
def estimate_depth(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings | None = None,
    filters: FilterSettings | None = None,
    dense: DenseSettings | None = None,
    *,
    device: Device = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> DepthResult:
    """Depth of one clean image (`load_raw`, `clean_image`): virtual depth, filtered, then in mm with σ, and a cloud.

    A camera that is known by its lens grid only gives virtual depth; where the grid does not tell the sign of that, it
    is found in the image (and is that of the result's `camera`). `DenseSettings(enabled=True)` adds the dense central
    view; with `DepthSettings(refined=True)` as well, the depths of the raw image's pixels are those of that view, where
    they look. `device`: where the search runs; auto takes the GPU where there is one, and the summary says which.
    `threads`: by default one per core.

    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> image = plenodepth.load_raw("raw.png", camera, white="white.png")  # of a wall, 900 mm away
    >>> depth = plenodepth.estimate_depth(image, camera)
    >>> abs(depth.summary.median_z_mm - 900) < 9  # mm
    True
    >>> depth.z.shape == depth.sigma.shape == (camera.micro_images.lattice.rows, camera.micro_images.lattice.columns)
    True
    """
    settings, filters, dense = settings or DepthSettings(), filters or FilterSettings(), dense or DenseSettings()
    used_device, threads = chosen_device(device, settings), thread_count(threads)
    clock, metric, view = StageClock(image.clock.stages), None, None
    with limited_threads(threads):
        with clock.stage("search"):
            camera, sign_note = with_depth_sign(image, camera, threads=threads)
            # The pixels of a dense result see what the view does, for which one depth per micro-image is enough.
            searched = replace(settings, refined=settings.refined and not dense.enabled)
            estimated = estimate_virtual_depth(
                image, camera, searched, device=used_device, threads=threads, progress=progress
            )
        with clock.stage("filter"):
            quality = judged(estimated, image, camera, settings)
            virtual = apply_filters(estimated, camera, filters, settings.virtual_range)
            del estimated  # for a refined map, as much memory as the image
        if dense.enabled:
            from plenodepth.metric.dense.pixels import pixel_map
            from plenodepth.metric.dense.view import central_view_of, within
            from plenodepth.metric.dense.virtual_view import virtual_view

            with clock.stage("dense"):
                model, limits = virtual.aperture_model, (filters.near, filters.far)
                found = virtual_view(image, camera, virtual, settings, dense, threads=threads, progress=progress)
                view = within(central_view_of(found, camera, dense.scale, model), *limits)
                quality = with_dense(quality, view.summary["unconfirmed_fraction"])
                if settings.refined:
                    note = virtual.aperture_note
                    virtual = replace(pixel_map(found, camera, model), aperture_note=note)
                    virtual = apply_filters(virtual, camera, filters, settings.virtual_range)
                del found
        if isinstance(camera, PlenopticCamera):
            with clock.stage("metric"):
                metric = metric_depth_map(virtual, camera)
        with clock.stage("summary"):
            everything = SettingsFile(settings, filters, dense)
            noted = replace(image, notes=(*image.notes, *([sign_note] if sign_note else [])))
            summary = _summary(noted, camera, virtual, metric, view, everything, quality, used_device, threads, clock)
    return DepthResult(image, camera, virtual, metric, summary, view)


def _summary(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    virtual: VirtualDepthMap,
    metric: MetricDepthMap | None,
    view: CentralView | None,
    settings: SettingsFile,
    quality: Quality,
    device: UsedDevice,
    threads: int,
    clock: StageClock,
) -> DepthSummary:
    kappa = used_kappa(camera, settings.depth)
    quantiles = _quantiles(virtual, metric)
    return DepthSummary(
        plenodepth=__version__,
        image=image.name,
        camera=camera.name,
        devignetting=str(image.devignetting),
        device=device,
        threads=threads,
        clock=clock,
        aperture_model=virtual.aperture_model,
        depth_scale_applied=_scaled(virtual, camera),
        blur_coefficient=None if kappa is None else kappa.value,
        blur_coefficient_from=None if kappa is None else kappa.source,
        valid_fraction=virtual.valid_fraction,
        **quantiles,
        quality=quality,
        notes=(*image.notes, *_notes(virtual, camera), *unchecked_focus(image, camera, quantiles["median_z_mm"])),
        settings=settings,
        metric=metric is not None,
        dense=None if view is None else view.summary,
    )


def _scaled(virtual: VirtualDepthMap, camera: PlenopticCamera | GridCamera) -> bool:
    """Whether the camera's Γ is in the metric depth."""
    if not isinstance(camera, PlenopticCamera):
        return False
    return camera.depth_scale is not None and camera.depth_scale_model == virtual.aperture_model


def _notes(virtual: VirtualDepthMap, camera: PlenopticCamera | GridCamera) -> list[str]:
    """What the user should know about the frame."""
    notes = [virtual.aperture_note] if virtual.aperture_note else []
    if not isinstance(camera, PlenopticCamera):
        notes.append(NEEDS_CALIBRATION)
    elif camera.depth_scale is not None and virtual.aperture_model == "off" != camera.depth_scale_model:
        notes.append(
            f"the camera's depth scale Γ was found with aperture model {camera.depth_scale_model}, which this image "
            "does not allow; depths are without it"
        )
    return notes


def _quantiles(virtual: VirtualDepthMap, metric: MetricDepthMap | None) -> dict[str, Any]:
    """Medians and quartiles of the maps by their names in the summary, None where there is nothing.

    A million values tell them as well as twelve: the error of a quartile is a thousandth of the spread.
    """
    nothing = np.empty((0, 0), np.float32)
    z, sigma_z = (nothing, nothing) if metric is None else (metric.depth, metric.sigma)
    depth = thinned(virtual.virtual_depth)
    return {
        **_quartiles("virtual_depth", depth),
        **_quartiles("z_mm", thinned(z)),
        **_median("sigma_virtual_depth", thinned(virtual.sigma)),
        **_median("sigma_z_mm", thinned(sigma_z)),
        **_median("confidence", thinned(virtual.confidence), np.isfinite(depth)),
    }


def _quartiles(name: str, values: NDArray[np.float32]) -> dict[str, float | None]:
    present = values[np.isfinite(values)]
    found = np.quantile(present, QUARTILES, overwrite_input=True) if present.size else [np.nan] * 3
    low, middle, high = (None if np.isnan(value) else float(value) for value in found)
    return {f"median_{name}": middle, f"q25_{name}": low, f"q75_{name}": high}


def _median(name: str, values: NDArray[np.float32], known: NDArray[np.bool_] | None = None) -> dict[str, float | None]:
    present = values[np.isfinite(values) if known is None else known & np.isfinite(values)]
    return {f"median_{name}": float(np.median(present, overwrite_input=True)) if present.size else None}
