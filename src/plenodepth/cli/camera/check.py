"""`plenodepth camera check`: how well a camera explains features and micro-image centres."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from plenodepth.camera import load_plenoptic_camera
from plenodepth.camera.check import CameraCheck, check_camera
from plenodepth.cli.shared.common import CameraArgument, JsonOption, ParametersOption, console, plain_table, print_json
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.io import LibplenoBoard


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
    given = scene if board is None else _plain_board(board)
    found = check_camera(loaded, features=features, poses=poses, centers=centers, board=given)
    if as_json:
        print_json(found.content())
    else:
        _print(found)


def _plain_board(text: str) -> LibplenoBoard:
    given = parse_board(text)
    return LibplenoBoard(given.columns, given.rows, given.square, np.eye(3), np.zeros(3))


def _print(found: CameraCheck) -> None:
    out, inverse, reprojection = console(), found.inverse_distortion, found.features
    table = plain_table(f"Camera {found.camera.name}", "", "RMSE")
    table.add_row("micro-image lattice against projected lens centres", f"{found.grid:.3f} px")
    if inverse is None:
        table.add_row("inverse distortion", "cannot be computed")
    else:
        table.add_row("five-coefficient inverse distortion, middle of the field", f"{inverse.rmse:.2g} mm")
        table.add_row("Newton's inverse distortion, there", f"{inverse.exact_rmse:.2g} mm")
    if found.centers is not None:
        table.add_row("observed micro-image centres", f"{found.centers:.3f} px")
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
