"""`plenodepth evaluate cloud`: a cloud, or a central sub-aperture map, against the cloud of a scanner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.evaluate.cloud_comparison import MAPS, CloudOptions, central, cropped, distances, is_depth
from plenodepth.cli.evaluate.options import FigureOption, parse_numbers, require_figure, save, say_notes
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table, print_json
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress
from plenodepth.errors import InputError
from plenodepth.evaluate.maps.comparison import differences_content

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plenodepth.camera import PlenopticCamera

    Float64 = NDArray[np.float64]

FEW = 0.1  # of the truth's pixels
SPARSE = (
    "the maps have few pixels in common: a cloud may be too sparse for them; give the .virtual.tiff that plenodepth "
    "depth writes, or a larger --scale"
)


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
    from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar

    thresholds = parse_numbers(options.threshold, "--threshold", "5,10")
    near, far = options.z_range
    _check(options, prediction, figure, thresholds)
    optics = None if options.camera is None else _camera(options.camera, params)
    content: dict[str, Any] = {"kind": "cloud", "prediction": str(prediction), "truth": str(truth)}
    content["range_mm"] = [near, far]
    with row_progress("reading", quiet=as_json) as bar:
        pose = None if options.cam_from_lidar is None else read_cam_from_lidar(options.cam_from_lidar)
        reference, notes = cropped(truth, options.unit, pose, options, optics)
        reading: Float64 | None = None
        if not is_depth(prediction):
            reading, more = cropped(prediction, None, None, options, optics)
            notes = more + notes
        if reading is not None and not options.csad:
            bar.frame(0, 1, "distances")
            content |= distances(reading, reference, thresholds, options.cap, bar)
        differences = None
        if optics is not None:
            bar.frame(0, 1, "maps")
            differences = central(optics, prediction, reading, reference, options, bar)
            content["csad"] = differences_content(differences)
            if differences.completeness < FEW:
                notes.append(SPARSE)
    content["notes"] = notes
    if figure is not None and differences is not None:
        from plenodepth.view.figures.depth import difference_figure

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
    is_map = prediction.suffix.lower() in MAPS  # which only a camera makes points of
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
