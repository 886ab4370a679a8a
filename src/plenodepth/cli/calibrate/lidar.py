"""`plenodepth calibrate lidar`: where a laser scanner stands, by targets that it and the camera see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.calibrate.options import (
    ApertureAwareOption,
    CalibratedOption,
    FreshOption,
    StepFolderOption,
    WhiteOption,
    aperture_aware_for,
    opened,
    require_file_out,
    work_folder,
)
from plenodepth.cli.calibrate.output import print_step
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.lidar.step import LidarRecord

# What errors call the inputs, and the options that give them.
OPTIONS = {
    "targets": "--targets",
    "features": "--features",
    "target_sigma": "--target-sigma",
    "frame": "--frame",
    "cloud or targets": "--cloud or --targets",
    "image or features": "--image or --features",
}


def lidar(
    *,
    camera: CalibratedOption,
    cloud: Annotated[
        Path | None, typer.Option("--cloud", help="The scan (.pts, .ply), with intensity or colours.")
    ] = None,
    image: Annotated[Path | None, typer.Option("--image", help="Raw image that shows the targets.")] = None,
    white: WhiteOption = None,
    targets_file: Annotated[
        Path | None,
        typer.Option(
            "--targets", help="Instead of the scan: targets, one a line: x,y,z (mm, lidar frame) and maybe a name."
        ),
    ] = None,
    features_file: Annotated[
        Path | None,
        typer.Option(
            "--features", help="Instead of the image: features; their cluster is the target's number, from 0."
        ),
    ] = None,
    frame: Annotated[
        int | None, typer.Option("--frame", help="Frame that shows the targets; needed where there are several.")
    ] = None,
    target_sigma: Annotated[
        float | None,
        typer.Option(
            "--target-sigma", help="Standard deviation of the targets' coordinates, mm. Default: as found, or 0."
        ),
    ] = None,
    aperture_aware: ApertureAwareOption = None,
    out: Annotated[Path, typer.Option("--out", help="Pose to write (.yaml, .json); a figure goes beside it.")],
    js: Annotated[
        Path | None, typer.Option("--js", help="Also write libpleno's pose file: the camera in the lidar frame.")
    ] = None,
    params: ParametersOption = None,
    work: StepFolderOption = None,
    fresh: FreshOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find where a laser scanner stands (cam_from_lidar), with uncertainty, by targets that it and the camera see.

    Targets are crossings of dark and bright, as of four squares of a checkerboard, on flat plates. They are found in
    the scan and in the image, and matched by their distances: three or more must be seen by both, unevenly placed.
    The scanner may be turned any way. Skipped where the result is up to date.

    Example: [bold]plenodepth calibrate lidar --camera camera.yaml --image raw.png --white white.png --cloud lidar.pts
    --out pose.yaml[/bold]
    """
    from plenodepth.calib.lidar.files import POSE_SUFFIXES
    from plenodepth.calib.lidar.step import ScannerFiles, lidar_step
    from plenodepth.camera import load_plenoptic_camera
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.residuals import lidar_residual_figure

    if out.suffix.lower() not in POSE_SUFFIXES:
        raise InputError(f"is '{out}'", field="--out", fix=f"end it with {' or '.join(POSE_SUFFIXES)}")
    for path in (out, *([js] if js else [])):
        require_file_out(path)
    figure = out.with_suffix(".png")
    try:
        files = ScannerFiles(targets_file, cloud, features_file, image, white)
        optics = load_plenoptic_camera(camera, parameters=params)
        aware = aperture_aware_for(aperture_aware, features_file, optics)
        with work_folder(work, out) as folder, row_progress("lidar", quiet=as_json) as bar:
            step = lidar_step(
                files,
                optics,
                out,
                opened(folder, fresh=fresh or not figure.is_file()),
                aperture=aware,
                frame=frame,
                target_sigma=target_sigma,
                libpleno_out=js,
                progress=step_progress(bar),
            )
    except InputError as error:
        field = OPTIONS.get(error.field or "", error.field)
        raise InputError(error.message, field=field, file=error.file, fix=error.fix) from None
    if step.found is not None:
        write_figure(lidar_residual_figure(step.found.pose, step.found.targets.names), figure)
    print_step(step.record, (), {"pose": out, "figure": figure}, _print, fresh=step.fresh, as_json=as_json)


def _print(record: LidarRecord) -> None:
    if record.found_in_image is not None:
        console().print(
            f"targets: {record.found_in_cloud} found in the scan, {record.found_in_image} in the image, "
            f"{len(record.targets)} match"
        )
    table = plain_table("Targets: predicted − seen, px", "target", "views", "outliers", "RMSE u, v", "mean u", "mean v")
    for row in record.targets:
        shown = (f"{row.rmse_uv:.3f}", f"{row.mean_u:+z.3f}", f"{row.mean_v:+z.3f}")
        table.add_row(row.name, str(row.views), str(row.outliers), *shown)
    console().print(table, "")
    pose = plain_table("cam_from_lidar", "rotation", "", "", "translation [mm]", "σ [mm]", "σ turn [mrad]")
    found, sigma = record.cam_from_lidar, record.sigma
    for axis in range(3):
        values = (f"{value:+.7f}" for value in found.rotation[axis])
        sigmas = (f"{sigma.translation[axis]:.3f}", f"{1000 * sigma.rotation[axis]:.3f}")
        pose.add_row(*values, f"{found.translation[axis]:.3f}", *sigmas)
    console().print(pose, "")
    console().print(f"RMSE {record.rmse:.3f} px")
