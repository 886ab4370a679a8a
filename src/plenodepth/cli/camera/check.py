"""`plenodepth camera check`: how well a camera explains features and micro-image centres."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from plenodepth.camera import (
    InverseDistortionFit,
    PlenopticCamera,
    calibrate_inverse_distortion,
    load_plenoptic_camera,
)
from plenodepth.camera.check import Reprojection, check_centers, check_features, grid_agreement
from plenodepth.cli.shared.common import CameraArgument, JsonOption, ParametersOption, console, plain_table, print_json
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.errors import InputError, PlenodepthError
from plenodepth.geometry import Pose
from plenodepth.io import LibplenoBoard, Observations, read_observations, read_poses, read_scene


def check(
    camera: CameraArgument,
    features: Annotated[
        Path | None, typer.Option(help="Board corners seen in micro-images (.csv, .bin, .bin.gz).")
    ] = None,
    poses: Annotated[
        Path | None, typer.Option(help="Pose of the camera in the board's frame, per frame (.js).")
    ] = None,
    centers: Annotated[Path | None, typer.Option(help="Observed micro-image centres (.csv, .bin, .bin.gz).")] = None,
    scene: Annotated[
        Path | None, typer.Option(help="Scene file with the board; default: scene.js beside the poses or features.")
    ] = None,
    board: Annotated[
        str | None, typer.Option(metavar="CxR:SIZE", help="The board's inner corners and square instead: 9x5:10mm.")
    ] = None,
    as_json: JsonOption = False,
    params: ParametersOption = None,
) -> None:
    """Check a camera: with itself, and against observed features and centres.

    Example: [bold]plenodepth camera check intrinsics.js --features bap.csv --poses poses.js[/bold]
    """
    loaded = load_plenoptic_camera(camera, parameters=params)
    if (features is None) != (poses is None):
        missing, given = ("--poses", features) if poses is None else ("--features", poses)
        raise InputError(f"{missing} must go with it", file=given)
    observed = Observations() if features is None else read_observations(features)
    reprojection = None
    with np.errstate(all="ignore"):  # a camera may be wrong in every way; the numbers below tell
        if features is not None and poses is not None:
            reprojection = _check_features(loaded, observed, features, poses, _board(scene, board, poses, features))
        centers_error = _check_centers(loaded, observed, features, centers)
        inverse = _inverse_distortion(loaded)
    if as_json:
        print_json(_as_dict(loaded, reprojection, centers_error, inverse))
    else:
        _print(loaded, reprojection, centers_error, inverse)


def _inverse_distortion(camera: PlenopticCamera) -> InverseDistortionFit | None:
    """None when there is none, which is a finding and not the end of the check."""
    try:
        return calibrate_inverse_distortion(camera)
    except (PlenodepthError, ValueError):
        return None


def _check_features(
    camera: PlenopticCamera, observed: Observations, features: Path, poses: Path, board: LibplenoBoard
) -> Reprojection:
    if not len(observed.features):
        raise InputError("holds no features", file=features)
    try:
        # Files give the camera in the board's frame; the projection needs the opposite direction.
        cam_from_board = {pose.frame: Pose(pose.rotation, pose.translation).inverse() for pose in read_poses(poses)}
        return check_features(observed.features, cam_from_board, board.corners(), camera)
    except InputError as error:
        raise error.in_file(poses if (error.field or "").startswith("pose") else features) from None


def _check_centers(
    camera: PlenopticCamera, observed: Observations, features: Path | None, centers: Path | None
) -> float | None:
    """Of --centers, or of the centres that an archive of features holds as well."""
    file = centers or features
    table = observed.centers if centers is None else read_observations(centers).centers
    if file is None or (centers is None and not len(table)):
        return None
    try:
        return check_centers(table, camera)
    except InputError as error:
        raise error.in_file(file) from None


def _board(scene: Path | None, board: str | None, *beside: Path) -> LibplenoBoard:
    if board is not None:
        given = parse_board(board)
        return LibplenoBoard(given.columns, given.rows, given.square, np.eye(3), np.zeros(3))
    candidates = [scene] if scene is not None else [path.parent / "scene.js" for path in beside]
    found = next((path for path in candidates if path.is_file()), candidates[0] if scene else None)
    if found is None:
        raise InputError(
            "the size of the board is needed", field="--board", fix="give --board 9x5:10mm, or --scene scene.js"
        )
    boards = read_scene(found).checkerboards
    if len(boards) != 1:
        raise InputError(f"has {len(boards)} boards, needs one", file=found, field="checkerboards")
    return boards[0]


def _as_dict(
    camera: PlenopticCamera,
    reprojection: Reprojection | None,
    centers: float | None,
    inverse: InverseDistortionFit | None,
) -> dict[str, Any]:
    frames = () if reprojection is None else reprojection.frames
    return {
        "rmse_uv": None if reprojection is None else reprojection.rmse_uv,
        "rmse_rho": None if reprojection is None else reprojection.rmse_rho,
        "rmse_centers": centers,
        "frames": [{"frame": f.frame, "n": f.n, "rmse_uv": f.rmse_uv, "rmse_rho": f.rmse_rho} for f in frames],
        "frames_without_pose": [] if reprojection is None else list(reprojection.unposed),
        "rmse_grid": grid_agreement(camera),
        "rmse_inverse_distortion": None if inverse is None else inverse.rmse,
    }


def _print(
    camera: PlenopticCamera,
    reprojection: Reprojection | None,
    centers: float | None,
    inverse: InverseDistortionFit | None,
) -> None:
    out = console()
    table = plain_table(f"Camera {camera.name}", "", "RMSE")
    table.add_row("micro-image lattice against projected lens centres", f"{grid_agreement(camera):.3f} px")
    if inverse is None:
        table.add_row("inverse distortion", "cannot be computed")
    else:
        table.add_row("five-coefficient inverse distortion, middle of the field", f"{inverse.rmse:.2g} mm")
        table.add_row("Newton's inverse distortion, there", f"{inverse.exact_rmse:.2g} mm")
    if centers is not None:
        table.add_row("observed micro-image centres", f"{centers:.3f} px")
    if reprojection is not None:
        table.add_row("features (u, v)", f"{reprojection.rmse_uv:.3f} px")
        if reprojection.rmse_rho is not None:
            table.add_row("features ρ", f"{reprojection.rmse_rho:.3f} px")
    out.print(table)
    if reprojection is None:
        return
    frames = plain_table("Frames", "frame", "features", "(u, v) [px]", "ρ [px]")
    for frame in reprojection.frames:
        rho = "–" if frame.rmse_rho is None else f"{frame.rmse_rho:.3f}"
        frames.add_row(str(frame.frame), str(frame.n), f"{frame.rmse_uv:.3f}", rho)
    out.print("", frames)
    if reprojection.unposed:
        out.print(f"no pose for frames {', '.join(map(str, reprojection.unposed))}: left out", style="yellow")
