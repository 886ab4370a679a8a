"""Two clouds, read, cut to what counts and compared: the parts of `plenodepth evaluate cloud`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plenodepth.cli.evaluate.options import named
from plenodepth.cli.shared.progress import FrameProgress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plenodepth.camera import PlenopticCamera
    from plenodepth.evaluate.maps.differences import DepthDifferences
    from plenodepth.geometry import Pose

    Float64 = NDArray[np.float64]

MAPS = (".tif", ".tiff", ".exr", ".npy")  # of a prediction that is a map already


@dataclass(frozen=True)
class CloudOptions:
    """What is compared, and how."""

    cam_from_lidar: Annotated[
        Path | None,
        typer.Option("--cam-from-lidar", help="Pose of the scanner, by calibrate lidar (.yaml) or libpleno's (.js)."),
    ] = None
    unit: Annotated[
        Literal["m", "mm"] | None, typer.Option("--unit", help="Of the truth; default: told from its extent, and said.")
    ] = None
    z_range: Annotated[
        tuple[float, float], typer.Option("--range", help="Depths that count, mm, camera frame.", metavar="NEAR FAR")
    ] = (400.0, 1500.0)
    threshold: Annotated[str, typer.Option("--threshold", help="For precision and recall, mm.")] = "5,10"
    cap: Annotated[
        float | None, typer.Option("--cap", help="Distances beyond it count as it, mm; default: none do.")
    ] = None
    camera: Annotated[
        str | None,
        typer.Option("--camera", help="Also compare central sub-aperture maps; what it does not see is left out."),
    ] = None
    csad: Annotated[
        bool, typer.Option("--csad", help="The maps alone, without distances between points; needs --camera.")
    ] = False
    scale: Annotated[int, typer.Option("--scale", help="A pixel of the maps is so many pixels of the sensor wide.")] = 4
    rule: Annotated[
        Literal["minimum", "median"],
        typer.Option("--rule", help="Depth of a pixel of the prediction's map; the truth's is the minimum."),
    ] = "median"


def cropped(
    path: Path, unit: str | None, pose: Pose | None, options: CloudOptions, camera: PlenopticCamera | None
) -> tuple[Float64, list[str]]:
    """The points of a cloud in the camera's frame, within the range and, where a camera is given, in its view."""
    from plenodepth.evaluate.clouds.lidar_frame import in_range, in_view
    from plenodepth.io.clouds.any_format import read_cloud
    from plenodepth.metric import point_cloud
    from plenodepth.metric.stored_map import is_virtual_map, read_virtual_map

    near, far = options.z_range
    notes = list[str]()
    if is_virtual_map(path) and camera is not None:
        moved = point_cloud(read_virtual_map(path), camera).points
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
            notes.append(
                f"{len(points) - len(seen)} of {len(points)} points are outside the camera's view, and left out"
            )
        points = seen
    return points, named(path, notes)


def distances(
    reading: Float64, reference: Float64, thresholds: tuple[float, ...], cap: float | None, bar: FrameProgress
) -> dict[str, Any]:
    """Distances both ways, with the means of tiles of the view, for JSON."""
    from plenodepth.evaluate.clouds.cloud_distances import DirectedDistances, compare_clouds
    from plenodepth.evaluate.maps.tiles import ViewTiles

    limit = float("inf") if cap is None else cap
    result = compare_clouds(reading, reference, cap=limit, thresholds=thresholds, progress=bar)

    def directed(part: DirectedDistances) -> dict[str, Any]:
        return {
            "points": part.count,
            "mean_mm": part.mean,
            "q25_mm": part.q25,
            "median_mm": part.median,
            "q75_mm": part.q75,
            "q95_mm": part.q95,
            "largest_mm": part.largest,
            "beyond_cap": part.beyond,
        }

    tiles = ViewTiles.around(reference)
    there = tiles.mean(reading, result.to_reference.clip(max=limit))
    back = tiles.mean(reference, result.to_reading.clip(max=limit))
    nothing = (float("nan"), 0)
    return {
        "accuracy": directed(result.accuracy),
        "completeness": directed(result.completeness),
        "chamfer_mm": result.chamfer,
        "hausdorff_mm": result.hausdorff,
        "hausdorff_95_mm": result.hausdorff_95,
        "thresholds": [
            {"threshold_mm": row.threshold, "precision": row.precision, "recall": row.recall, "f_score": row.f_score}
            for row in result.f_scores
        ],
        "tiles": [
            {"tile": name, "accuracy_mm": there.get(name, nothing)[0], "completeness_mm": back.get(name, nothing)[0]}
            for name in sorted({*there, *back})
        ],
    }


def is_depth(prediction: Path) -> bool:
    """Whether a prediction is a central sub-aperture map already, and no points."""
    from plenodepth.metric.stored_map import is_virtual_map

    return prediction.suffix.lower() in MAPS and not is_virtual_map(prediction)


def central(
    camera: PlenopticCamera,
    prediction: Path,
    reading: Float64 | None,
    reference: Float64,
    options: CloudOptions,
    bar: FrameProgress,
) -> DepthDifferences:
    """The central sub-aperture maps of both and their differences."""
    from plenodepth.evaluate.clouds.lidar_frame import in_range
    from plenodepth.evaluate.maps.differences import depth_differences
    from plenodepth.io.maps.any_format import read_map
    from plenodepth.metric import central_depth, point_cloud
    from plenodepth.metric.stored_map import is_virtual_map, read_virtual_map

    near, far = options.z_range
    true = central_depth(reference, camera, rule="minimum", scale=options.scale)
    bar(1, 3)
    if reading is None:
        found = read_map(prediction).values
        if found.shape != true.shape:
            message = f"is {found.shape[1]} × {found.shape[0]}, a central sub-aperture map of the camera "
            raise InputError(f"{message}{true.shape[1]} × {true.shape[0]}", file=prediction)
        found = found.copy()
        found[~((found >= near) & (found <= far))] = float("nan")
    else:
        if is_virtual_map(prediction):  # a depth belongs to all pixels of its micro-image: they leave no holes
            every = point_cloud(read_virtual_map(prediction), camera, every_pixel=True)
            reading = in_range(every.points, near, far)
        found = central_depth(reading, camera, rule=options.rule, scale=options.scale)
    bar(2, 3)
    try:
        return depth_differences(found, true)
    except InputError as error:
        side = {"reading": "the prediction", "reference": "the truth"}.get(error.field or "", error.field or "")
        raise InputError(f"the map of {side} {error.message}", field="csad", fix=error.fix) from None
