"""`plenodepth calibrate poses`: where boards stand, by a camera that is calibrated already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.calibration_files import (
    ApertureAwareOption,
    CalibratedOption,
    FeaturesOption,
    aperture_aware_for,
    camera_and_features,
    require_file_out,
    say_notes,
)
from plenodepth.cli.calibration_options import BoardOption
from plenodepth.cli.common import JsonOption, ParametersOption, console, plain_table, print_json
from plenodepth.cli.progress import row_progress
from plenodepth.cli.quantities import parse_board
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.adjustment import Adjustment
    from plenodepth.calib.features import Board
    from plenodepth.geometry import Pose

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
    as_json: JsonOption = False,
) -> None:
    """Find the boards' poses alone (extrinsics): the camera stays as it is.

    The file holds the camera in the board's frame, as libpleno's do.

    Example: [bold]plenodepth calibrate poses --camera camera.yaml --features features.csv --board 9x5:10mm
    --out poses.js[/bold]
    """
    from plenodepth.calib.adjust_settings import AdjustSettings
    from plenodepth.calib.adjustment import adjust
    from plenodepth.camera import intrinsic_names
    from plenodepth.io.libpleno import FramePose, write_poses
    from plenodepth.view.pose_figures import board_poses_figure
    from plenodepth.view.save import save_figure

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
    with row_progress("poses", quiet=as_json) as bar:
        try:
            found = adjust(optics, features, None, kind, settings, report=lambda what: bar.frame(0, 1, what))
        except InputError as error:
            raise error.in_file(features_file) from None
        rows = _rows(found, kind)
        written: dict[int, Pose] = {}
        for (frame, _), pose in found.estimate.poses.items():
            written.setdefault(frame, pose.inverse())
        figure = out.with_suffix(".png")
        save_figure(board_poses_figure(rows), figure)
    write_poses(out, [FramePose(frame, pose.rotation, pose.translation) for frame, pose in written.items()])
    notes = list(found.notes)
    if len(written) < len(rows):
        notes.append("several boards in a frame: the file holds the pose by the first of each frame")
    whole = {"rmse_uv": found.rmse_uv, "rmse_rho": found.rmse_rho, "aperture_aware": settings.aperture}
    if as_json:
        print_json({"frames": rows, **whole, "notes": notes, "poses": str(out), "figure": str(figure)})
        return
    table = plain_table("Boards", "frame", "distance [mm]", "tilt [°]", "features", "outliers", "u, v [px]", "ρ [px]")
    for row in rows:
        name = f"{row['frame']}" + (f" board {row['board']}" if row["board"] != FIRST_BOARD else "")
        numbers = (f"{row['distance']:.2f}", f"{row['tilt']:.2f}", str(row["features"]), str(row["outliers"]))
        table.add_row(name, *numbers, f"{row['rmse_uv']:.3f}", f"{row['rmse_rho']:.3f}")
    console().print(table, "")
    say_notes(notes)
    console().print(f"RMSE: u, v {found.rmse_uv:.3f} px, ρ {found.rmse_rho:.3f} px; poses: {out}; figure: {figure}")


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
                "rmse_rho": float(np.sqrt((blur**2).mean())) if len(blur) else float("nan"),
                "cam_from_board": {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()},
            }
        )
    return rows
