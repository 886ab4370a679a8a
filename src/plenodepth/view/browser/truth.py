"""A truth beside the cloud: its points, and by how much each point of a cloud is too near or too far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.depth import virtual_from_metric
from plenodepth.errors import InputError
from plenodepth.io import read_cloud, read_map
from plenodepth.view.browser.clouds import ShownCloud
from plenodepth.view.browser.folder import require_readable_size
from plenodepth.view.browser.frames import is_cloud

Float32 = NDArray[np.float32]

SCALE = 4  # pixels of the sensor across one of the central view, as of `evaluate cloud`
DRAWN = 300_000  # points of a truth, at most


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of a frame, in the camera frame."""

    points: Float32  # (m, 3) mm
    depth: Float32  # (h, w) mm: what each pixel of the central view sees; NaN where that is not known
    camera: PlenopticCamera


@lru_cache(maxsize=1)
def load_truth(path: Path, camera: PlenopticCamera | GridCamera | None, cam_from_lidar: Path | None = None) -> Truth:
    """The truth of a file: a cloud, or a map of depths per micro-image, per pixel, or of the central view."""
    if not isinstance(camera, PlenopticCamera):
        message = "a truth is compared where the main lens' centre sees it"
        raise InputError(message, file=path, field="--truth", fix="give a calibrated camera with --camera")
    require_readable_size(path)
    if is_cloud(path):
        points = read_cloud(path).points
        if cam_from_lidar is not None:
            from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar

            points = read_cam_from_lidar(cam_from_lidar)(points)
        from plenodepth.metric.central_view import central_depth

        depth = central_depth(points, camera, scale=SCALE)
        ahead = points[points[:, 2] > camera.main_lens.focal_length]
        if not np.isfinite(depth).any():
            fix = "give the pose of the scanner with --cam-from-lidar"
            raise InputError("holds nothing that the camera sees", file=path, field="--truth", fix=fix)
        return Truth(_thinned(ahead), depth, camera)
    from plenodepth.metric.central_colors import central_points

    depth = _central(read_map(path).values, camera, path)
    there = np.isfinite(depth)
    seen = central_points(np.where(there, depth, np.float32(0)), camera, scale=SCALE)[there]
    return Truth(_thinned(seen), depth, camera)


def _thinned(points: NDArray[np.floating[Any]]) -> Float32:
    return points[:: max(1, len(points) // DRAWN)].astype(np.float32)


def _central(values: Float32, camera: PlenopticCamera, path: Path) -> Float32:
    """A map of depths as the central view has it."""
    from plenodepth.camera.micro_images import owner_map
    from plenodepth.depth.maps import VirtualDepthMap
    from plenodepth.metric.central_view import central_view
    from plenodepth.metric.depth_map import MetricDepthMap

    lattice, height, width = camera.micro_images.lattice, camera.sensor.height, camera.sensor.width
    if values.shape == (height // SCALE, width // SCALE):
        return values
    refined = values.shape == (height, width)
    if not refined and values.shape != (lattice.rows, lattice.columns):
        rows, columns = values.shape
        message = f"is {columns} × {rows}, the camera has {lattice.columns} × {lattice.rows} micro-images"
        raise InputError(f"{message} and {width} × {height} pixels", file=path, field="--truth")
    k, l = lattice.indices()
    if refined:
        owner = owner_map(camera.micro_images, height, width)
        l, k = np.divmod(np.maximum(owner, 0), lattice.columns)
    virtual = virtual_from_metric(values, camera, k, l, invalid="nan").astype(np.float32)
    none = np.full(values.shape, np.nan, np.float32)
    known = np.isfinite(values).astype(np.float32)
    found = VirtualDepthMap(virtual, none, known, none, np.zeros(values.shape, np.int16), refined)
    metric = MetricDepthMap(values, none, known, refined)
    return central_view(found, camera, metric=metric, scale=SCALE)


def with_error(cloud: ShownCloud, truth: Truth) -> ShownCloud:
    """The cloud with z − z_true of each point, mm, where the main lens' centre sees it; NaN where no truth is known."""
    if not cloud.metric:
        return cloud
    from plenodepth.metric.central_view import central_places

    place, seen = central_places(cloud.points.astype(np.float64), truth.camera, SCALE)
    true = np.where(seen, truth.depth.ravel()[np.maximum(place, 0)], np.float32(np.nan))
    return replace(cloud, error=(cloud.depth - true).astype(np.float32))


def error_sentence(cloud: ShownCloud) -> str:
    """How far the cloud is from the truth, in a line; empty where nothing is known."""
    if cloud.error is None:
        return ""
    known = cloud.error[np.isfinite(cloud.error)]
    if not known.size:
        return "No point lies where the truth is known."
    typical, share = float(np.median(np.abs(known))), 100 * known.size / len(cloud)
    relative = 100 * float(np.median(np.abs(known) / cloud.depth[np.isfinite(cloud.error)]))
    return f"Against the truth: median |error| {typical:.2f} mm ({relative:.2f} %) over {share:.0f} % of the points."
