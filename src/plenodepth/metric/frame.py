"""One frame from raw image to files: the whole chain as a function."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth import __version__
from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.estimate import Progress, estimate_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import atomic_path, write_float_map
from plenodepth.metric.cloud import PointCloud, point_cloud, write_cloud
from plenodepth.metric.csad import central_depth
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map
from plenodepth.raw.image import RawImage

QUARTILES = (0.25, 0.5, 0.75)
NEEDS_CALIBRATION = "metric depth needs a calibrated camera; this one is known by its lens grid only"


@dataclass(frozen=True, eq=False)
class FrameDepth:
    """Everything that is known of a frame; metric parts are None for a camera known only by its lens grid."""

    name: str
    virtual: VirtualDepthMap
    metric: MetricDepthMap | None
    cloud: PointCloud | None
    central: np.ndarray[Any, np.dtype[np.float32]] | None  # central sub-aperture depth, mm
    summary: dict[str, Any]


def frame_depth(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    settings: DepthSettings | None = None,
    filters: FilterSettings | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> FrameDepth:
    """Estimate, filter and convert one clean image."""
    settings, filters = settings or DepthSettings(), filters or FilterSettings()
    start, cpu_start = time.perf_counter(), time.process_time()
    estimated = estimate_depth(image, camera, settings, threads=threads, progress=progress)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    virtual = apply_filters(estimated, camera, filters)
    metric = cloud = central = None
    if isinstance(camera, PlenopticCamera):
        metric = metric_depth_map(camera, virtual)
        cloud = point_cloud(camera, virtual, image)
        # A coarse depth belongs to a whole micro-image; painting all its pixels leaves no holes between them.
        full = cloud if virtual.refined else point_cloud(camera, virtual, image, every_pixel=True)
        central = central_depth(camera, full)
    summary = {
        "plenodepth": __version__,
        "image": image.name,
        "camera": camera.name,
        "devignetting": str(image.devignetting),
        "seconds": round(seconds, 3),  # of the estimation alone
        "cpu_seconds": round(cpu_seconds, 3),
        "valid_fraction": virtual.valid_fraction,
        **_quartiles("virtual_depth", virtual.virtual_depth),
        **({"note": NEEDS_CALIBRATION} if metric is None else _quartiles("z_mm", metric.depth)),
        "median_confidence": _median(virtual.confidence[np.isfinite(virtual.virtual_depth)]),
        "settings": asdict(settings),
        "filters": asdict(filters),
    }
    return FrameDepth(image.name, virtual, metric, cloud, central, summary)


def write_frame(frame: FrameDepth, folder: Path) -> list[Path]:
    """Write a frame's files into a folder that is there; returns their paths."""
    maps = {"virtual": frame.virtual.virtual_depth, "confidence": frame.virtual.confidence}
    if frame.metric is not None and frame.central is not None:
        maps |= {"depth": frame.metric.depth, "csad": frame.central}
    paths = []
    for suffix, values in maps.items():
        paths.append(folder / f"{frame.name}.{suffix}.tiff")
        write_float_map(paths[-1], values)
    if frame.cloud is not None:
        paths.append(folder / f"{frame.name}.ply")
        write_cloud(paths[-1], frame.cloud)
    paths.append(folder / f"{frame.name}.json")
    with atomic_path(paths[-1]) as temporary:
        temporary.write_text(json.dumps(frame.summary, indent=2) + "\n", encoding="utf-8")
    return paths


def _quartiles(name: str, values: np.ndarray[Any, np.dtype[np.float32]]) -> dict[str, float | None]:
    present = values[np.isfinite(values)]
    found = np.quantile(present, QUARTILES) if present.size else [np.nan] * 3
    low, middle, high = (None if np.isnan(value) else float(value) for value in found)
    return {f"median_{name}": middle, f"q25_{name}": low, f"q75_{name}": high}


def _median(values: np.ndarray[Any, np.dtype[np.float32]]) -> float | None:
    return float(np.median(values)) if values.size else None
