"""One frame from raw image to files: the whole chain as a function."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from plenodepth import __version__
from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.estimate import Progress, estimate_virtual_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.kappa import used_kappa
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.settings_file import SettingsFile, settings_content
from plenodepth.errors import InputError
from plenodepth.io import atomic_files, atomic_path, json_text, write_float_map
from plenodepth.metric.central_view import central_depth
from plenodepth.metric.cloud import PointCloud, point_cloud, write_cloud
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map
from plenodepth.raw.image import RawImage

Device = Literal["auto", "cpu", "cuda"]
UsedDevice = Literal["cpu"]

QUARTILES = (0.25, 0.5, 0.75)
NEEDS_CALIBRATION = "metric depth needs a calibrated camera; this one is known by its lens grid only"


@dataclass(frozen=True, eq=False)
class DepthResult:
    """Everything that is known of a frame; metric parts are None for a camera known only by its lens grid."""

    name: str
    virtual: VirtualDepthMap
    metric: MetricDepthMap | None
    cloud: PointCloud | None
    central: np.ndarray[Any, np.dtype[np.float32]] | None  # central sub-aperture depth, mm
    summary: dict[str, Any]


def estimate_depth(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings | None = None,
    filters: FilterSettings | None = None,
    *,
    device: Device = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> DepthResult:
    """Estimate, filter and convert one clean image."""
    settings, filters = settings or DepthSettings(), filters or FilterSettings()
    used_device, threads = chosen_device(device), chosen_threads(threads)
    start, cpu_start = time.perf_counter(), time.process_time()
    estimated = estimate_virtual_depth(image, camera, settings, threads=threads, progress=progress)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    virtual = apply_filters(estimated, camera, filters, settings.virtual_range)
    metric = cloud = central = None
    if isinstance(camera, PlenopticCamera):
        metric = metric_depth_map(virtual, camera)
        cloud = point_cloud(virtual, camera, image)
        # A coarse depth belongs to a whole micro-image; painting all its pixels leaves no holes between them.
        full = cloud if virtual.refined else point_cloud(virtual, camera, image, every_pixel=True)
        # The nearest of many noisy points would be too near.
        central = central_depth(full, camera, rule="median")
    present = np.isfinite(virtual.virtual_depth)
    notes, kappa = _notes(virtual, camera), used_kappa(camera, settings)
    summary = {
        "plenodepth": __version__,
        "image": image.name,
        "camera": camera.name,
        "devignetting": str(image.devignetting),
        "device": used_device,
        "threads": threads,
        "seconds": round(seconds, 3),  # of the estimation alone
        "cpu_seconds": round(cpu_seconds, 3),
        "aperture_model": virtual.aperture_model,
        "depth_scale_applied": _scaled(virtual, camera),
        "blur_coefficient": None if kappa is None else kappa.value,
        "blur_coefficient_from": None if kappa is None else kappa.source,
        "valid_fraction": virtual.valid_fraction,
        **_quartiles("virtual_depth", virtual.virtual_depth),
        "median_sigma_virtual_depth": _median(virtual.sigma),
        **({} if metric is None else _in_millimetres(metric)),
        **({"note": "; ".join(notes)} if notes else {}),
        "median_confidence": _median(virtual.confidence[present]),
        "settings": settings_content(SettingsFile(settings, filters)),
    }
    return DepthResult(image.name, virtual, metric, cloud, central, summary)


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
    elif camera.depth_scale is not None and not _scaled(virtual, camera):
        model = camera.depth_scale_model
        notes.append(
            f"the camera's depth scale is for aperture model {model}, and not applied ({model} would apply it)"
        )
    return notes


def write_frame(frame: DepthResult, folder: Path) -> list[Path]:
    """Write a frame's files into a folder that is there, all or none; returns their paths."""
    maps = {"virtual": frame.virtual.virtual_depth, "confidence": frame.virtual.confidence}
    if frame.metric is not None and frame.central is not None:
        maps |= {"depth": frame.metric.depth, "csad": frame.central}
    with atomic_files(folder) as unfinished:
        for suffix, values in maps.items():
            write_float_map(values, unfinished / f"{frame.name}.{suffix}.tiff")
        if frame.cloud is not None:
            write_cloud(frame.cloud, unfinished / f"{frame.name}.ply")
        with atomic_path(unfinished / f"{frame.name}.json") as record:
            record.write_text(json_text(frame.summary), encoding="utf-8")
        names = sorted(path.name for path in unfinished.iterdir())
    return [folder / name for name in names]


def chosen_device(wanted: Device) -> UsedDevice:
    """The device that an estimation runs on. This is the one place to change for another."""
    if wanted == "cuda":
        raise InputError("this version has no CUDA kernel", field="device", fix="use --device cpu")
    if wanted not in ("auto", "cpu"):
        raise InputError(f"is {wanted!r}", field="device", fix="use auto or cpu")
    return "cpu"


def chosen_threads(wanted: int | None) -> int:
    """The number of threads of an estimation: all cores unless told."""
    if wanted is not None and wanted < 1:
        raise InputError(f"is {wanted}, needs a whole number ≥ 1", field="threads")
    return wanted or os.cpu_count() or 1


def _in_millimetres(metric: MetricDepthMap) -> dict[str, float | None]:
    return {**_quartiles("z_mm", metric.depth), "median_sigma_z_mm": _median(metric.sigma)}


def _quartiles(name: str, values: np.ndarray[Any, np.dtype[np.float32]]) -> dict[str, float | None]:
    present = values[np.isfinite(values)]
    found = np.quantile(present, QUARTILES) if present.size else [np.nan] * 3
    low, middle, high = (None if np.isnan(value) else float(value) for value in found)
    return {f"median_{name}": middle, f"q25_{name}": low, f"q75_{name}": high}


def _median(values: np.ndarray[Any, np.dtype[np.float32]]) -> float | None:
    present = values[np.isfinite(values)]
    return float(np.median(present)) if present.size else None
