"""A cloud, or a depth map of a frame, against the cloud of a scanner: both in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.distances import CloudDistances, compare_clouds
from plenodepth.evaluate.clouds.lidar_frame import in_range, in_view, read_cam_from_lidar
from plenodepth.evaluate.maps.comparison import notes_on
from plenodepth.evaluate.maps.differences import DepthDifferences, depth_differences
from plenodepth.evaluate.maps.tiles import ViewTiles
from plenodepth.geometry import Pose
from plenodepth.io.clouds.any_format import read_cloud
from plenodepth.io.maps.any_format import read_map
from plenodepth.metric import central_depth, point_cloud
from plenodepth.metric.result import is_virtual_map, load_virtual_map
from plenodepth.progress import Progress, no_progress

Float64 = NDArray[np.float64]

MAP_SUFFIXES = (".tif", ".tiff", ".exr", ".npy")  # of a prediction that is a map, not a cloud
Z_RANGE = (400.0, 1500.0)  # mm
THRESHOLDS = (5.0, 10.0)  # mm
MAP_SCALE = 4  # sensor pixels for one pixel of a central sub-aperture map
LEAST_COMPLETENESS = 0.1  # of the truth's pixels
SPARSE = (
    "the maps have few pixels in common: a cloud may be too sparse for them; give the .virtual.tiff that plenodepth "
    "depth writes, or a larger --scale"
)


@dataclass(frozen=True)
class TileDistance:
    """Mean distances of the points in one tile of the view, mm; NaN where a cloud has none there."""

    tile: str
    accuracy: float
    completeness: float


@dataclass(frozen=True, eq=False)
class CloudComparison:
    """A prediction against a scanner's cloud: distances both ways, and central sub-aperture maps (CSAD)."""

    prediction: Path
    truth: Path
    z_range: tuple[float, float]  # mm, depths that were compared
    distances: CloudDistances | None  # None where only maps were compared
    tiles: tuple[TileDistance, ...]
    csad: DepthDifferences | None  # of the central sub-aperture maps; None without a camera
    notes: tuple[str, ...]  # on how the files were read and what was left out

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        figures: dict[str, Any] = {"kind": "cloud", "prediction": str(self.prediction), "truth": str(self.truth)}
        figures["range_mm"] = list(self.z_range)
        if self.distances is not None:
            figures |= self.distances.content()
            figures["tiles"] = [
                {"tile": row.tile, "accuracy_mm": row.accuracy, "completeness_mm": row.completeness}
                for row in self.tiles
            ]
        if self.csad is not None:
            figures["csad"] = self.csad.content()
        return {**figures, "notes": list(self.notes)}


def compare_cloud_files(
    prediction: Path | str,
    truth: Path | str,
    camera: PlenopticCamera | None = None,
    *,
    cam_from_lidar: Pose | Path | str | None = None,
    unit: Literal["m", "mm"] | None = None,
    z_range: tuple[float, float] = Z_RANGE,
    thresholds: Sequence[float] = THRESHOLDS,
    cap: float | None = None,
    maps_only: bool = False,
    scale: int = MAP_SCALE,
    rule: Literal["minimum", "median"] = "median",
    progress: Progress = no_progress,
) -> CloudComparison:
    """Compare a cloud in the camera frame with the cloud of a scanner, within `z_range` (near, far), mm.

    With a camera, points outside its view are left out and central sub-aperture maps are compared too: one pixel is
    `scale` sensor pixels wide, and holds the `rule` of its depths (of the truth always the minimum). Then the
    prediction may also be a map of virtual depth or a central sub-aperture map. `maps_only` leaves the distances
    between points out. Distances beyond `cap`, mm, count as the cap. `cam_from_lidar` brings the truth to the camera
    frame, and `unit` is that of its file; None tells it from the extent.
    """
    prediction, truth = Path(prediction), Path(truth)
    _check(prediction, camera, z_range, thresholds, cap, maps_only)
    pose = cam_from_lidar if cam_from_lidar is None or isinstance(cam_from_lidar, Pose) else None
    if cam_from_lidar is not None and not isinstance(cam_from_lidar, Pose):
        pose = read_cam_from_lidar(cam_from_lidar)
    true, notes = _read_points(truth, camera, unit, pose, z_range)
    found: Float64 | None = None
    if not _is_central_map(prediction):
        found, more = _read_points(prediction, camera, None, None, z_range)
        notes = more + notes
    distances, tiles = None, tuple[TileDistance, ...]()
    if found is not None and not maps_only:
        distances, tiles = _distances(found, true, thresholds, cap, progress)
    csad = None
    if camera is not None:
        progress(0, 3, "maps")
        true_map = central_depth(true, camera, rule="minimum", scale=scale)
        progress(1, 3, "maps")
        found_map = _central_map(prediction, camera, found, true_map.shape, z_range, scale, rule)
        progress(2, 3, "maps")
        csad = _map_differences(found_map, true_map)
        if csad.completeness < LEAST_COMPLETENESS:
            notes.append(SPARSE)
    return CloudComparison(prediction, truth, z_range, distances, tiles, csad, tuple(notes))


def _check(
    prediction: Path,
    camera: PlenopticCamera | None,
    z_range: tuple[float, float],
    thresholds: Sequence[float],
    cap: float | None,
    maps_only: bool,
) -> None:
    """Refuse what does not go together before anything is read."""
    near, far = z_range
    if not 0 <= near < far:
        raise InputError(f"is {near:g} {far:g}", field="z_range", fix="give the nearest and the farthest depth, mm")
    if cap is not None and not cap >= max(thresholds):
        raise InputError(f"is {cap:g} mm, a threshold is beyond", field="cap", fix="give more, or none")
    is_map = prediction.suffix.lower() in MAP_SUFFIXES  # only a camera turns it into points
    if camera is None and (maps_only or is_map):
        what = f"{prediction} is a map" if is_map else "only maps are compared"
        raise InputError(f"is missing: {what}", field="camera", fix="give the camera that makes the maps")


def _is_central_map(prediction: Path) -> bool:
    """Whether a prediction is a central sub-aperture map already, so that it has no points."""
    return prediction.suffix.lower() in MAP_SUFFIXES and not is_virtual_map(prediction)


def _read_points(
    path: Path, camera: PlenopticCamera | None, unit: str | None, pose: Pose | None, z_range: tuple[float, float]
) -> tuple[Float64, list[str]]:
    """The points (n, 3) of a file in the camera frame, mm, that are in the range and in the view of the camera."""
    near, far = z_range
    notes = list[str]()
    if is_virtual_map(path) and camera is not None:
        moved = point_cloud(load_virtual_map(path), camera).points.astype(np.float64)
        if not len(moved):
            raise InputError("has no depth at all", file=path)
    else:
        cloud = read_cloud(path, unit)
        notes += cloud.notes
        moved = cloud.points if pose is None else pose(cloud.points)
    points = in_range(moved, near, far)
    if not len(points):
        low, high = moved[:, 2].min(), moved[:, 2].max()
        message = f"has no point between {near:g} and {far:g} mm; its z go from {low:.4g} to {high:.4g}"
        raise InputError(message, file=path, fix="check --range, --unit and --cam-from-lidar")
    if len(points) < len(moved):
        notes.append(f"{len(moved) - len(points)} of {len(moved)} points are outside the range, and left out")
    if camera is not None:
        seen = in_view(points, camera)
        if not len(seen):
            fix = "check --cam-from-lidar and --unit"
            raise InputError(f"none of {len(points)} points is in the camera's view", file=path, fix=fix)
        if len(seen) < len(points):
            lost = len(points) - len(seen)
            notes.append(f"{lost} of {len(points)} points are outside the camera's view, and left out")
        points = seen
    return points, notes_on(path, notes)


def _distances(
    found: Float64, true: Float64, thresholds: Sequence[float], cap: float | None, progress: Progress
) -> tuple[CloudDistances, tuple[TileDistance, ...]]:
    """Distances both ways, and their means in the tiles of the view."""
    limit = float("inf") if cap is None else cap
    result = compare_clouds(found, true, cap=limit, thresholds=thresholds, progress=progress)
    view = ViewTiles.around(true)
    there = view.mean(found, result.to_reference.clip(max=limit))
    back = view.mean(true, result.to_reading.clip(max=limit))
    nothing = (float("nan"), 0)
    names = sorted({*there, *back})
    tiles = (TileDistance(name, there.get(name, nothing)[0], back.get(name, nothing)[0]) for name in names)
    return result, tuple(tiles)


def _central_map(
    prediction: Path,
    camera: PlenopticCamera,
    points: Float64 | None,
    shape: tuple[int, ...],
    z_range: tuple[float, float],
    scale: int,
    rule: Literal["minimum", "median"],
) -> NDArray[np.floating[Any]]:
    """The central sub-aperture map of a prediction, mm; NaN where it has no depth in the range."""
    near, far = z_range
    if points is None:
        depths = read_map(prediction).values
        if depths.shape != shape:
            message = f"is {depths.shape[1]} × {depths.shape[0]}, a central sub-aperture map of the camera "
            raise InputError(f"{message}{shape[1]} × {shape[0]}", file=prediction)
        return np.where((depths >= near) & (depths <= far), depths, np.float32(np.nan))
    if is_virtual_map(prediction):  # a depth belongs to all pixels of its micro-image, and so leaves no holes
        every = point_cloud(load_virtual_map(prediction), camera, every_pixel=True)
        points = in_range(every.points.astype(np.float64), near, far)
    return central_depth(points, camera, rule=rule, scale=scale)


def _map_differences(found: NDArray[np.floating[Any]], true: NDArray[np.floating[Any]]) -> DepthDifferences:
    try:
        return depth_differences(found, true)
    except InputError as error:
        side = {"reading": "the prediction", "reference": "the truth"}.get(error.field or "", error.field or "")
        raise InputError(f"the map of {side} {error.message}", field="csad", fix=error.fix) from None
