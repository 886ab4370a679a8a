"""`plenodepth calibrate lidar`: where a laser scanner stands, by targets that it and the camera see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.calibration_files import (
    ApertureAwareOption,
    CalibratedOption,
    aperture_aware_for,
    camera_and_features,
    require_file_out,
)
from plenodepth.cli.common import JsonOption, ParametersOption, console, plain_table, print_json
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.features import Features
    from plenodepth.calib.lidar_pose import LidarPose


def lidar(
    *,
    camera: CalibratedOption,
    targets_file: Annotated[
        Path, typer.Option("--targets", help="Targets, one a line: x,y,z (mm, lidar frame) and a name if you like.")
    ],
    features_file: Annotated[
        Path,
        typer.Option("--features", help="Features of the targets; their cluster is the target's number, from 0."),
    ],
    frame: Annotated[
        int | None, typer.Option("--frame", help="Frame that shows the targets; needed where there are several.")
    ] = None,
    target_sigma: Annotated[
        float, typer.Option("--target-sigma", help="Standard deviation of the targets' coordinates, mm.")
    ] = 0.0,
    aperture_aware: ApertureAwareOption = None,
    out: Annotated[Path, typer.Option("--out", help="Pose to write (.yaml, .json); a figure goes beside it.")],
    js: Annotated[
        Path | None, typer.Option("--js", help="Also write libpleno's pose file: the camera in the lidar frame.")
    ] = None,
    params: ParametersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find where a laser scanner stands (cam_from_lidar), with uncertainty, by four targets or more.

    The scanner may be turned any way. Targets are numbered from 0 as in their file, and features name theirs as their
    cluster.

    Example: [bold]plenodepth calibrate lidar --camera camera.yaml --targets targets.csv --features features.csv
    --target-sigma 1 --out pose.yaml --js lidar.js[/bold]
    """
    from plenodepth.calib.lidar_files import (
        POSE_SUFFIXES,
        read_targets,
        write_libpleno_lidar_pose,
        write_lidar_pose,
    )
    from plenodepth.calib.lidar_pose import find_lidar_pose
    from plenodepth.view.pose_figures import lidar_figure
    from plenodepth.view.save import save_figure

    if out.suffix.lower() not in POSE_SUFFIXES:
        raise InputError(f"is '{out}'", field="--out", fix=f"end it with {' or '.join(POSE_SUFFIXES)}")
    for path in (out, *([js] if js else [])):
        require_file_out(path)
    targets = read_targets(targets_file)
    optics, features = camera_and_features(camera, params, features_file)
    shown, number = _of_frame(features, frame, features_file)
    aware = aperture_aware_for(aperture_aware, features_file, optics)
    try:
        found = find_lidar_pose(optics, targets.points, shown, aperture=aware, target_sigma=target_sigma)
    except InputError as error:
        option = {"targets": "--targets", "target_sigma": "--target-sigma"}.get(error.field or "", error.field)
        raise InputError(error.message, field=option, fix=error.fix) from None
    rows = _rows(found, targets.names)
    facts = {"camera": optics.name, "aperture_aware": aware, "frame": number, "targets": rows}
    figure = out.with_suffix(".png")
    save_figure(lidar_figure(found, targets.names), figure)
    if js is not None:
        write_libpleno_lidar_pose(js, found.cam_from_lidar, number)
    write_lidar_pose(out, found, facts)
    _print(found, facts, {"out": str(out), "figure": str(figure)}, as_json)


def _of_frame(features: Features, frame: int | None, path: Path) -> tuple[Features, int]:
    """The features of one frame, and its number."""
    frames = features.frames.tolist()
    if frame is None:
        if len(frames) > 1:
            raise InputError(f"has {len(frames)} frames ({frames[0]} … {frames[-1]})", file=path, fix="give --frame")
        frame = frames[0]
    if frame not in frames:
        raise InputError(
            f"is {frame}, the features are of {', '.join(map(str, frames[:8]))}" + (", …" if len(frames) > 8 else ""),
            field="--frame",
        )
    return features.where(features.frame == frame), int(frame)


def _rows(found: LidarPose, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """What the views of each target tell; residuals of those that count."""
    import numpy as np

    rows = []
    for target in np.unique(found.target).tolist():
        mine = found.target == target
        counts = mine & (found.weights > 0)
        values = found.residuals[counts]
        mean = values.mean(axis=0) if len(values) else np.full(3, np.nan)
        square = (values**2).mean(axis=0) if len(values) else np.full(3, np.nan)
        rows.append(
            {
                "number": target,
                "name": names[target],
                "views": int(mine.sum()),
                "outliers": int(mine.sum() - counts.sum()),
                "rmse_uv": float(np.sqrt(square[0] + square[1])),
                "mean_u": float(mean[0]),
                "mean_v": float(mean[1]),
                "rmse_rho": float(np.sqrt(square[2])),
            }
        )
    return rows


def _print(found: LidarPose, facts: dict[str, Any], files: dict[str, str], as_json: bool) -> None:
    from plenodepth.calib.lidar_files import lidar_pose_content

    if as_json:
        print_json({**lidar_pose_content(found), **facts, **files})
        return
    table = plain_table("Targets: predicted − seen, px", "target", "views", "outliers", "RMSE u, v", "mean u", "mean v")
    for row in facts["targets"]:
        shown = (f"{row['rmse_uv']:.3f}", f"{row['mean_u']:+z.3f}", f"{row['mean_v']:+z.3f}")
        table.add_row(row["name"], str(row["views"]), str(row["outliers"]), *shown)
    console().print(table, "")
    pose = plain_table("cam_from_lidar", "rotation", "", "", "translation [mm]", "σ [mm]", "σ turn [mrad]")
    rotation, translation = found.cam_from_lidar.rotation, found.cam_from_lidar.translation
    for axis in range(3):
        values = (f"{value:+.7f}" for value in rotation[axis])
        sigmas = (f"{found.translation_sigma[axis]:.3f}", f"{1000 * found.rotation_sigma[axis]:.3f}")
        pose.add_row(*values, f"{translation[axis]:.3f}", *sigmas)
    console().print(pose, "")
    console().print(f"RMSE {found.rmse:.3f} px; pose: {files['out']}; figure: {files['figure']}")
