"""`plenodepth calibrate poses`: where boards stand, by a camera that is calibrated already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.calibrate.files import (
    ApertureAwareOption,
    CalibratedOption,
    FeaturesOption,
    StepFolderOption,
    aperture_aware_for,
    camera_and_features,
    finish_step,
    require_file_out,
    work_folder,
)
from plenodepth.cli.calibrate.options import BoardOption
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table
from plenodepth.cli.shared.progress import row_progress
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.bundle.adjust import Adjustment
    from plenodepth.calib.features import Board

SUFFIX, RECORD = ".js", "poses.json"
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
    as_json: JsonOption = False,
) -> None:
    """Find the boards' poses alone (extrinsics): the camera stays as it is.

    The file holds the camera in the board's frame, as libpleno's do. That has one board in a frame; where there are
    several, all of them go to a file beside it (poses.boards.yaml). Skipped where the result is up to date.

    Example: [bold]plenodepth calibrate poses --camera camera.yaml --features features.csv --board 9x5:10mm
    --out poses.js[/bold]
    """
    from plenodepth.cache import WorkFolder, cache_key
    from plenodepth.calib.bundle.adjust import adjust
    from plenodepth.calib.bundle.pose_files import note_on_boards, write_board_poses
    from plenodepth.calib.bundle.settings import AdjustSettings
    from plenodepth.camera import intrinsic_names
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.residuals import board_poses_figure

    if out.suffix.lower() != SUFFIX:
        raise InputError(f"is '{out}'", field="--out", fix=f"end it with {SUFFIX}")
    require_file_out(out)
    kind = parse_board(board)
    optics, features = camera_and_features(camera, params, features_file)
    settings = AdjustSettings(
        aperture=aperture_aware_for(aperture_aware, features_file, optics),
        hold=intrinsic_names(optics),
        use_rho=rho and optics.type_count > 0,
    )
    figure = out.with_suffix(".png")
    made_of = {
        "camera": optics,
        "features": features,
        "board": kind,
        "settings": settings,
        "out": out.resolve(),
    }
    kept, key = WorkFolder(work or out.with_name(f"{out.stem}-calibration")), cache_key(made_of)
    record = kept.kept(RECORD, key)
    fresh = record is None
    if record is None:
        with row_progress("poses", quiet=as_json) as bar:
            try:
                found = adjust(features, None, kind, optics, settings, report=lambda what: bar.frame(0, 1, what))
            except InputError as error:
                raise error.in_file(features_file) from None
        rows = _rows(found, kind)
        work_folder(work, out)
        write_figure(board_poses_figure(rows), figure)
        beside = write_board_poses(found.estimate.poses, out)
        content = {
            "frames": rows,
            "rmse_uv": found.rmse_uv,
            "rmse_rho": found.rmse_rho if found.rmse_rho == found.rmse_rho else None,
            "aperture_aware": settings.aperture,
            "notes": [*found.notes, *([note_on_boards(out, beside)] if beside else [])],
            **({"boards": str(beside)} if beside else {}),
        }
        results = [path.resolve() for path in (out, figure, *([beside] if beside else []))]
        record = kept.keep(RECORD, key, [str(path) for path in results], content)
    finish_step(record, {"poses": out, "figure": figure}, _print, fresh=fresh, as_json=as_json)


def _print(record: dict[str, Any]) -> None:
    table = plain_table("Boards", "frame", "distance [mm]", "tilt [°]", "features", "outliers", "u, v [px]", "ρ [px]")
    for row in record["frames"]:
        name = f"{row['frame']}" + (f" board {row['board']}" if row["board"] != FIRST_BOARD else "")
        numbers = (f"{row['distance']:.2f}", f"{row['tilt']:.2f}", str(row["features"]), str(row["outliers"]))
        table.add_row(name, *numbers, f"{row['rmse_uv']:.3f}", _or_dash(row["rmse_rho"]))
    console().print(table, "")
    console().print(f"RMSE: u, v {record['rmse_uv']:.3f} px, ρ {_or_dash(record['rmse_rho'])} px")


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _rows(found: Adjustment, board: Board) -> list[dict[str, Any]]:
    """Distance of the board's middle along the optical axis, angle of its normal to it, and residuals of all views."""
    import numpy as np

    middle = board.points(np.arange(board.corner_count)).mean(axis=0)
    rows = []
    for (frame, number), pose in found.estimate.poses.items():
        mine = (found.fit.features.frame == frame) & (found.fit.features.board == number)
        values = found.fit.residuals[mine]
        blur = values[np.isfinite(values[:, 2]), 2]
        rows.append(
            {
                "frame": int(frame),
                "board": int(number),
                "distance": float(pose(middle)[2]),
                "tilt": float(np.degrees(np.arccos(np.clip(abs(pose.rotation[2, 2]), 0, 1)))),
                "features": int(mine.sum()),
                "outliers": int((found.fit.weight[mine] == 0).sum()),
                "rmse_uv": float(np.sqrt((values[:, :2] ** 2).sum(axis=1).mean())),
                "rmse_rho": float(np.sqrt((blur**2).mean())) if len(blur) else None,
                "cam_from_board": {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()},
            }
        )
    return rows
