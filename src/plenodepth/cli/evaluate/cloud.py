"""`plenodepth evaluate cloud`: a cloud, or a central sub-aperture map, against the cloud of a scanner."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plenodepth.cli.evaluate.options import FigureOption, errors_name_options, parse_numbers, require_figure, save
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table, print_json, print_notes
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.camera import PlenopticCamera
    from plenodepth.evaluate.clouds.comparison import CloudComparison
    from plenodepth.evaluate.clouds.distances import CloudDistances
    from plenodepth.evaluate.maps.differences import DepthDifferences


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
            help="Cloud in the camera frame (.ply, .bin.gz …); with --camera also NAME.virtual.tiff or NAME.csad.tiff.",
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

    The paper's measure takes every pixel of a frame: [bold]plenodepth evaluate cloud out/raw.virtual.tiff scene.pts
    --cam-from-lidar pose.yaml --camera camera.yaml --csad[/bold]
    """
    from plenodepth.evaluate.clouds.comparison import compare_cloud_files

    thresholds = parse_numbers(options.threshold, "--threshold", "5,10")
    require_figure(figure)
    camera = None if options.camera is None else _load_camera(options.camera, params)
    if camera is None and (figure is not None or options.csad):
        what = "a figure shows maps" if figure is not None else "--csad"
        raise InputError(f"is missing: {what}", field="--camera", fix="give the camera that makes the maps")
    with (
        row_progress("reading", quiet=as_json) as bar,
        errors_name_options(z_range="--range", cap="--cap", camera="--camera"),
    ):
        result = compare_cloud_files(
            prediction,
            truth,
            camera,
            cam_from_lidar=options.cam_from_lidar,
            unit=options.unit,
            z_range=options.z_range,
            thresholds=thresholds,
            cap=options.cap,
            maps_only=options.csad,
            scale=options.scale,
            rule=options.rule,
            progress=step_progress(bar),
        )
    content = result.content()
    if figure is not None and result.csad is not None:
        from plenodepth.view.figures.depth import difference_figure

        save(difference_figure(result.csad.signed, f"CSAD of {prediction.name}", truth.name), figure, content)
    if as_json:
        print_json(content)
        return
    _print(result)
    if figure is not None:
        console().print(f"figure: {figure}")
    print_notes(result.notes)


def _load_camera(source: str, params: Path | None) -> PlenopticCamera:
    from plenodepth.camera import PlenopticCamera, load_camera

    camera = load_camera(source, parameters=params)
    if not isinstance(camera, PlenopticCamera):
        raise InputError("has no metric calibration", file=source, field="--camera", fix="give a calibrated camera")
    return camera


def _print(result: CloudComparison) -> None:
    if result.distances is not None:
        _print_distances(result.distances, f"{result.prediction} against {result.truth}")
    if result.csad is not None:
        if result.distances is not None:
            console().print()
        _print_maps(result.csad)


def _print_distances(distances: CloudDistances, title: str) -> None:
    table = plain_table(title, "distance [mm]", "accuracy", "completeness")
    sides = (distances.accuracy, distances.completeness)
    table.add_row("points", *(str(side.count) for side in sides))
    table.add_row("mean", *(f"{side.mean:.3f}" for side in sides))
    table.add_row("median", *(f"{side.median:.3f}" for side in sides))
    table.add_row("95 % within", *(f"{side.q95:.3f}" for side in sides))
    table.add_row("largest", *(f"{side.largest:.3f}" for side in sides))
    for row in distances.f_scores:
        table.add_row(f"within {row.threshold:g} mm", f"{100 * row.precision:.2f} %", f"{100 * row.recall:.2f} %")
    console().print(table)
    scores = ", ".join(f"{row.f_score:.3f} at {row.threshold:g} mm" for row in distances.f_scores)
    console().print(f"Chamfer {distances.chamfer:.3f} mm; Hausdorff {distances.hausdorff:.3f} mm; F-score {scores}")


def _print_maps(csad: DepthDifferences) -> None:
    table = plain_table("Central sub-aperture maps, |difference|", "", "")
    table.add_row("pixels in common", str(csad.common))
    table.add_row("completeness", f"{100 * csad.completeness:.2f} %")
    table.add_row("median", f"{csad.median:.3f} mm")
    table.add_row("quartiles", f"{csad.q25:.3f} … {csad.q75:.3f} mm")
    table.add_row("mean", f"{csad.mean:.3f} mm")
    table.add_row("bias (> 0: too far)", f"{csad.bias:+z.3f} mm")
    console().print(table)
