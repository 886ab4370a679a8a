"""`plenodepth calibrate lidar`: where a laser scanner stands, by targets that it and the camera see."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.calibrate.files import (
    ApertureAwareOption,
    CalibratedOption,
    StepFolderOption,
    WhiteOption,
    aperture_aware_for,
    camera_and_features,
    finish_step,
    require_file_out,
    work_folder,
)
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table
from plenodepth.cli.shared.progress import FrameProgress, row_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plenodepth.calib.features import Features
    from plenodepth.calib.lidar.files import Targets
    from plenodepth.calib.lidar.pose import LidarPose
    from plenodepth.camera import PlenopticCamera
    from plenodepth.camera.model import Array

    Flags = NDArray[np.bool_]

RECORD, TARGETS, FEATURES = "lidar.json", "targets.csv", "targets-seen.csv"
OPTIONS = {"targets": "--targets", "target_sigma": "--target-sigma"}


@dataclass(frozen=True)
class _Files:
    """What the user gave: targets or a cloud, and features or an image."""

    targets: Path | None
    cloud: Path | None
    features: Path | None
    image: Path | None
    white: Path | None

    def __post_init__(self) -> None:
        for one, other, names in (
            (self.targets, self.cloud, "--cloud or --targets"),
            (self.features, self.image, "--image or --features"),
        ):
            if (one is None) == (other is None):
                raise InputError("needs one of them", field=names, fix="give --cloud and --image to have targets found")
        if self.features is not None and self.targets is None:
            raise InputError("number their targets", field="--features", fix="give --targets, or --image instead")

    @property
    def given(self) -> list[Path]:
        files = (self.targets, self.cloud, self.features, self.image, self.white)
        for path in files:
            if path is not None and not path.is_file():
                raise InputError("is no file", file=path)
        return [path for path in files if path is not None]


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
    as_json: JsonOption = False,
) -> None:
    """Find where a laser scanner stands (cam_from_lidar), with uncertainty, by targets that it and the camera see.

    Targets are crossings of dark and bright, as of four squares of a checkerboard, on flat plates. They are found in
    the scan and in the image, and matched by their distances: three or more must be seen by both, unevenly placed.
    The scanner may be turned any way. Skipped where the result is up to date.

    Example: [bold]plenodepth calibrate lidar --camera camera.yaml --image raw.png --white white.png --cloud lidar.pts
    --out pose.yaml[/bold]
    """
    from plenodepth.cache import WorkFolder, cache_key
    from plenodepth.calib.lidar.files import (
        POSE_SUFFIXES,
        lidar_pose_content,
        write_libpleno_lidar_pose,
        write_lidar_pose,
    )
    from plenodepth.camera import load_plenoptic_camera
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.residuals import lidar_residual_figure

    if out.suffix.lower() not in POSE_SUFFIXES:
        raise InputError(f"is '{out}'", field="--out", fix=f"end it with {' or '.join(POSE_SUFFIXES)}")
    for path in (out, *([js] if js else [])):
        require_file_out(path)
    files = _Files(targets_file, cloud, features_file, image, white)
    inputs = files.given
    optics = load_plenoptic_camera(camera, parameters=params)
    aware = aperture_aware_for(aperture_aware, features_file, optics)
    figure = out.with_suffix(".png")
    results = [path.resolve() for path in (out, figure, *([js] if js else []))]
    settings = {
        "camera": optics,
        "inputs": [name for name, path in vars(files).items() if path is not None],
        "frame": frame,
        "target_sigma": target_sigma,
        "aperture": aware,
        "results": results,
    }
    folder = work_folder(work, out)
    kept, key = WorkFolder(folder), cache_key(settings, inputs)
    record = kept.kept(RECORD, key)
    fresh = record is None
    if record is None:
        with row_progress("lidar", quiet=as_json) as bar:
            found = _found(files, camera, params, optics, frame, target_sigma, aware, folder, bar)
        facts = {
            "camera": optics.name,
            "aperture_aware": aware,
            "frame": found.frame,
            "targets": _rows(found.pose, found.targets.names),
            **found.facts,
        }
        write_figure(lidar_residual_figure(found.pose, found.targets.names), figure)
        if js is not None:
            write_libpleno_lidar_pose(found.pose.cam_from_lidar, js, found.frame)
        write_lidar_pose(found.pose, out, facts)
        content = {**lidar_pose_content(found.pose), **facts}
        record = kept.keep(RECORD, key, [str(path) for path in results], content)
    finish_step(record, {"pose": out, "figure": figure}, _print, fresh=fresh, as_json=as_json)


@dataclass(frozen=True, eq=False)
class _Found:
    pose: LidarPose
    targets: Targets
    frame: int
    facts: dict[str, Any]


def _found(
    files: _Files,
    camera: str,
    params: Path | None,
    optics: PlenopticCamera,
    frame: int | None,
    target_sigma: float | None,
    aware: bool,
    folder: Path,
    bar: FrameProgress,
) -> _Found:
    import numpy as np

    from plenodepth.calib.feature_files import write_features
    from plenodepth.calib.lidar.files import read_targets, write_targets
    from plenodepth.calib.lidar.pose import find_lidar_pose
    from plenodepth.calib.lidar.scanner import find_scanner
    from plenodepth.raw import load_raw

    if files.targets is not None:
        targets = read_targets(files.targets)
        sigma, sure = np.full(len(targets.points), target_sigma or 0.0), None
    else:
        assert files.cloud is not None
        targets, sigma, sure = _in_cloud(files.cloud, target_sigma, bar)
    try:
        if files.features is not None:
            _, features = camera_and_features(camera, params, files.features)
            shown, number = _of_frame(features, frame, files.features)
            pose = find_lidar_pose(
                targets.points,
                shown,
                optics,
                aperture=aware,
                target_sigma=0.0 if target_sigma is None else target_sigma,
            )
            return _Found(pose, targets, number, {})
        assert files.image is not None
        clean = load_raw(files.image, optics, white=files.white)
        scanner = find_scanner(
            clean.gray,
            targets,
            sigma,
            optics,
            aperture=aware,
            sure=sure,
            frame=frame or 0,
            report=lambda what: bar.frame(0, 1, what),
        )
    except InputError as error:
        field = OPTIONS.get(error.field or "", error.field) if files.targets is not None else error.field
        raise InputError(error.message, field=field, file=error.file, fix=error.fix) from None
    write_targets(scanner.targets, folder / TARGETS)
    write_features(scanner.features, folder / FEATURES)
    facts = {
        "found_in_image": scanner.in_image,
        "found_in_cloud": scanner.in_cloud,
        "target_places": scanner.targets.points.tolist(),
        "target_sigma": scanner.sigma.tolist(),
    }
    return _Found(scanner.pose, scanner.targets, frame or 0, facts)


def _in_cloud(cloud: Path, target_sigma: float | None, bar: FrameProgress) -> tuple[Targets, Array, Flags]:
    """Targets of a scan, the standard deviations of their coordinates, mm, and whether they are sure."""
    import numpy as np

    from plenodepth.calib.lidar.files import Targets, read_scan
    from plenodepth.calib.lidar.scan_targets import find_lidar_targets

    bar.frame(0, 1, "targets in the scan")
    found = find_lidar_targets(*read_scan(cloud), report=bar)
    names = tuple(f"target {number}" for number in range(len(found)))
    sigma = found.sigma if target_sigma is None else np.full(len(found), target_sigma)
    return Targets(found.points, names), sigma, found.sure


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


def _print(record: dict[str, Any]) -> None:
    if "found_in_image" in record:
        console().print(
            f"targets: {record['found_in_cloud']} found in the scan, {record['found_in_image']} in the image, "
            f"{len(record['targets'])} match"
        )
    table = plain_table("Targets: predicted − seen, px", "target", "views", "outliers", "RMSE u, v", "mean u", "mean v")
    for row in record["targets"]:
        shown = (f"{row['rmse_uv']:.3f}", f"{row['mean_u']:+z.3f}", f"{row['mean_v']:+z.3f}")
        table.add_row(row["name"], str(row["views"]), str(row["outliers"]), *shown)
    console().print(table, "")
    pose = plain_table("cam_from_lidar", "rotation", "", "", "translation [mm]", "σ [mm]", "σ turn [mrad]")
    found, sigma = record["cam_from_lidar"], record["sigma"]
    for axis in range(3):
        values = (f"{value:+.7f}" for value in found["rotation"][axis])
        sigmas = (f"{sigma['translation'][axis]:.3f}", f"{1000 * sigma['rotation'][axis]:.3f}")
        pose.add_row(*values, f"{found['translation'][axis]:.3f}", *sigmas)
    console().print(pose, "")
    console().print(f"RMSE {record['rmse']:.3f} px")
