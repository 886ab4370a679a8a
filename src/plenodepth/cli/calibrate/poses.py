"""`plenodepth calibrate poses`: where boards stand, by a camera that is calibrated already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.calibrate.options import (
    ApertureAwareOption,
    BoardOption,
    CalibratedOption,
    FeaturesOption,
    FreshOption,
    StepFolderOption,
    aperture_aware_for,
    camera_and_features,
    default_work,
    opened,
    require_file_out,
)
from plenodepth.cli.calibrate.output import print_step
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.errors import InputError
from plenodepth.io.claims import claimed

if TYPE_CHECKING:
    from plenodepth.calib.bundle.poses import BoardPoses

SUFFIX = ".js"
FIRST_BOARD = 0


def poses(
    *,
    camera: CalibratedOption,
    features_file: FeaturesOption,
    board: BoardOption,
    aperture_aware: ApertureAwareOption = None,
    rho: Annotated[bool, typer.Option("--rho/--no-rho", help="Use the blur radii of the features.")] = True,
    out: Annotated[Path, typer.Option("--out", help="Poses to write (.js, libpleno's); a figure goes beside it.")],
    params: ParametersOption = None,
    work: StepFolderOption = None,
    fresh: FreshOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the boards' poses alone (extrinsics): the camera stays as it is.

    The file holds the camera in the board's frame, as libpleno's do. That has one board in a frame; where there are
    several, all of them go to a file beside it (poses.boards.yaml). Skipped where the result is up to date.

    Example: [bold]plenodepth calibrate poses --camera camera.yaml --features features.csv --board 9x5:10mm
    --out poses.js[/bold]
    """
    from plenodepth.calib.bundle.poses import poses_step
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.residuals import board_poses_figure

    if out.suffix.lower() != SUFFIX:
        raise InputError(f"is '{out}'", field="--out", fix=f"end it with {SUFFIX}")
    require_file_out(out)
    kind = parse_board(board)
    optics, features = camera_and_features(camera, params, features_file)
    aware = aperture_aware_for(aperture_aware, features_file, optics)
    figure = out.with_suffix(".png")
    folder = opened(work or default_work(out), fresh=fresh)
    with claimed(out), row_progress("poses", quiet=as_json) as bar:
        try:
            step = poses_step(
                features, kind, optics, out, folder, aperture=aware, use_rho=rho, progress=step_progress(bar)
            )
        except InputError as error:
            raise error.in_file(features_file) from None
    if step.fresh or not figure.is_file():
        write_figure(board_poses_figure(step.record.frames), figure)
    files = {"poses": out, "figure": figure}
    print_step(step.record, step.record.notes, files, _print, fresh=step.fresh, as_json=as_json)


def _print(record: BoardPoses) -> None:
    table = plain_table("Boards", "frame", "distance [mm]", "tilt [°]", "features", "outliers", "u, v [px]", "ρ [px]")
    for row in record.frames:
        name = f"{row.frame}" + (f" board {row.board}" if row.board != FIRST_BOARD else "")
        numbers = (f"{row.distance:.2f}", f"{row.tilt:.2f}", str(row.features), str(row.outliers))
        table.add_row(name, *numbers, f"{row.rmse_uv:.3f}", _or_dash(row.rmse_rho))
    console().print(table, "")
    console().print(f"RMSE: u, v {record.rmse_uv:.3f} px, ρ {_or_dash(record.rmse_rho)} px")


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
