"""`plenodepth evaluate cloud`: a cloud, or a central sub-aperture map, against the cloud of a scanner."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plenodepth.cli.common import JsonOption, ParametersOption, console, plain_table, print_json
from plenodepth.cli.evaluate_depth import differences_content
from plenodepth.cli.evaluation_options import FigureOption, named, parse_numbers, require_figure, save, say_notes
from plenodepth.cli.option_groups import expand_groups
from plenodepth.cli.progress import FrameProgress, row_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plenodepth.camera import PlenopticCamera
    from plenodepth.evaluate.differences import DepthDifferences
    from plenodepth.geometry import Pose

    Float64 = NDArray[np.float64]

FEW = 0.1  # of the truth's pixels
SPARSE = (
    "the maps have few pixels in common: a cloud may be too sparse for them; give the .csad.tiff that plenodepth depth "
    "writes, or a larger --scale"
)
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


@expand_groups
def cloud(
    *,
    prediction: Annotated[
        Path,
        typer.Argument(
            metavar="PREDICTION",
            help="Cloud in the camera frame (.ply, .bin.gz, .xyz …); with --camera also a map (.csad.tiff).",
        ),
    ],
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="Cloud of a scanner (.pts, .ptx, .ply, .xyz, .bin.gz).")
    ],
    options: CloudOptions,
    params: ParametersOption = None,
    figure: FigureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare a cloud with a scanner's: distances both ways, and depth as the camera's centre sees it.

    With [bold]--camera[/bold] both clouds become central sub-aperture maps (CSAD), whose absolute difference over the
    pixels that both have is the measure of the paper's table. A figure shows the difference of the maps.

    Example: [bold]plenodepth evaluate cloud out/raw.ply scene.pts --cam-from-lidar pose.yaml --camera camera.yaml
    --range 400 1500 --json > a.json[/bold]
    """
    from plenodepth.evaluate.lidar_frame import read_cam_from_lidar

    thresholds = parse_numbers(options.threshold, "--threshold", "5,10")
    near, far = options.z_range
    _check(options, prediction, figure, thresholds)
    optics = None if options.camera is None else _camera(options.camera, params)
    content: dict[str, Any] = {"kind": "cloud", "prediction": str(prediction), "truth": str(truth)}
    content["range_mm"] = [near, far]
    with row_progress("reading", quiet=as_json) as bar:
        pose = None if options.cam_from_lidar is None else read_cam_from_lidar(options.cam_from_lidar)
        reference, notes = _cropped(truth, options.unit, pose, options, optics)
        reading: Float64 | None = None
        if prediction.suffix.lower() not in MAPS:
            reading, more = _cropped(prediction, None, None, options, optics)
            notes = more + notes
        if reading is not None and not options.csad:
            bar.frame(0, 1, "distances")
            content |= _distances(reading, reference, thresholds, options.cap, bar)
        differences = None
        if optics is not None:
            bar.frame(0, 1, "maps")
            source = prediction if reading is None else reading
            differences = _central(optics, source, reference, options, bar)
            content["csad"] = differences_content(differences)
            if differences.completeness < FEW:
                notes.append(SPARSE)
    content["notes"] = notes
    if figure is not None and differences is not None:
        from plenodepth.view.difference_figure import difference_figure

        save(difference_figure(differences.signed, f"CSAD of {prediction.name}", truth.name), figure, content)
    if as_json:
        print_json(content)
        return
    _print(content)


def _check(options: CloudOptions, prediction: Path, figure: Path | None, thresholds: tuple[float, ...]) -> None:
    """Refuse options that do not go together before anything is read."""
    near, far = options.z_range
    if not 0 <= near < far:
        raise InputError(f"is {near:g} {far:g}", field="--range", fix="give the nearest and the farthest depth, mm")
    if options.cap is not None and not options.cap >= max(thresholds):
        raise InputError(f"is {options.cap:g} mm, a threshold is beyond", field="--cap", fix="give more, or none")
    is_map = prediction.suffix.lower() in MAPS
    if options.camera is None and (options.csad or figure is not None or is_map):
        what = f"{prediction} is a map" if is_map else "a figure shows maps" if figure is not None else "--csad"
        raise InputError(f"is missing: {what}", field="--camera", fix="give the camera that makes the maps")
    require_figure(figure)


def _camera(source: str, params: Path | None) -> PlenopticCamera:
    from plenodepth.camera import PlenopticCamera, load_camera

    camera = load_camera(source, parameters=params)
    if not isinstance(camera, PlenopticCamera):
        raise InputError("has no metric calibration", file=source, field="--camera", fix="give a calibrated camera")
    return camera


def _cropped(
    path: Path, unit: str | None, pose: Pose | None, options: CloudOptions, camera: PlenopticCamera | None
) -> tuple[Float64, list[str]]:
    """The points of a cloud in the camera's frame, within the range and, where a camera is given, in its view."""
    from plenodepth.evaluate.lidar_frame import in_range, in_view
    from plenodepth.io.clouds import read_cloud

    near, far = options.z_range
    cloud = read_cloud(path, unit)
    notes = list(cloud.notes)
    moved = cloud.points if pose is None else pose(cloud.points)
    points = in_range(moved, near, far)
    if not len(points):
        low, high = moved[:, 2].min(), moved[:, 2].max()
        message = f"has no point between {near:g} and {far:g} mm; its z go from {low:.4g} to {high:.4g}"
        raise InputError(message, file=path, fix="check --range, --unit and --cam-from-lidar")
    if len(points) < len(moved):
        notes.append(f"{len(moved) - len(points)} of {len(moved)} points are outside the range, and left out")
    if camera is not None:
        seen = in_view(camera, points)
        if not len(seen):
            fix = "check --cam-from-lidar and --unit"
            raise InputError(f"none of {len(points)} points is in the camera's view", file=path, fix=fix)
        if len(seen) < len(points):
            notes.append(
                f"{len(points) - len(seen)} of {len(points)} points are outside the camera's view, and left out"
            )
        points = seen
    return points, named(path, notes)


def _distances(
    reading: Float64, reference: Float64, thresholds: tuple[float, ...], cap: float | None, bar: FrameProgress
) -> dict[str, Any]:
    from plenodepth.evaluate.cloud_distances import DirectedDistances, compare_clouds
    from plenodepth.evaluate.tiles import ViewTiles

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


def _central(
    camera: PlenopticCamera, reading: Path | Float64, reference: Float64, options: CloudOptions, bar: FrameProgress
) -> DepthDifferences:
    """The central sub-aperture maps of both and their differences."""
    from plenodepth.evaluate.differences import depth_differences
    from plenodepth.io.maps import read_map
    from plenodepth.metric.csad import central_depth

    true = central_depth(camera, reference, rule="minimum", scale=options.scale)
    bar(1, 3)
    if isinstance(reading, Path):
        found = read_map(reading).values
        if found.shape != true.shape:
            message = f"is {found.shape[1]} × {found.shape[0]}, a central sub-aperture map of the camera "
            raise InputError(f"{message}{true.shape[1]} × {true.shape[0]}", file=reading)
        near, far = options.z_range
        found = found.copy()
        found[~((found >= near) & (found <= far))] = float("nan")
    else:
        found = central_depth(camera, reading, rule=options.rule, scale=options.scale)
    bar(2, 3)
    try:
        return depth_differences(found, true)
    except InputError as error:
        side = {"reading": "the prediction", "reference": "the truth"}.get(error.field or "", error.field or "")
        raise InputError(f"the map of {side} {error.message}", field="csad", fix=error.fix) from None


def _print(content: dict[str, Any]) -> None:
    if "accuracy" in content:
        table = plain_table(
            f"{content['prediction']} against {content['truth']}", "distance [mm]", "accuracy", "completeness"
        )
        rows = {
            "points": "points",
            "mean": "mean_mm",
            "median": "median_mm",
            "95 % within": "q95_mm",
            "largest": "largest_mm",
        }
        for label, key in rows.items():
            values = [content[side][key] for side in ("accuracy", "completeness")]
            table.add_row(label, *(str(value) if key == "points" else f"{value:.3f}" for value in values))
        for row in content["thresholds"]:
            shares = (f"{100 * row['precision']:.2f} %", f"{100 * row['recall']:.2f} %")
            table.add_row(f"within {row['threshold_mm']:g} mm", *shares)
        console().print(table)
        scores = ", ".join(f"{row['f_score']:.3f} at {row['threshold_mm']:g} mm" for row in content["thresholds"])
        console().print(
            f"Chamfer {content['chamfer_mm']:.3f} mm; Hausdorff {content['hausdorff_mm']:.3f} mm; F-score {scores}"
        )
    if "csad" in content:
        csad = content["csad"]
        if "accuracy" in content:
            console().print()
        table = plain_table("Central sub-aperture maps, |difference|", "", "")
        table.add_row("pixels in common", str(csad["pixels"]))
        table.add_row("completeness", f"{100 * csad['completeness']:.2f} %")
        table.add_row("median", f"{csad['median_ad_mm']:.3f} mm")
        table.add_row("quartiles", f"{csad['q25_ad_mm']:.3f} … {csad['q75_ad_mm']:.3f} mm")
        table.add_row("mean", f"{csad['mean_ad_mm']:.3f} mm")
        table.add_row("bias (> 0: too far)", f"{csad['bias_mm']:+z.3f} mm")
        console().print(table)
    if "figure" in content:
        console().print(f"figure: {content['figure']}")
    say_notes(content["notes"])
