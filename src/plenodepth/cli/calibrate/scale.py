"""`plenodepth calibrate scale`: the depth scale Γ from the depth of board images."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plenodepth.cli.calibrate.options import (
    BoardOption,
    BoardsOption,
    CalibratedOption,
    CameraOutOption,
    FeaturesOption,
    FreshOption,
    StepFolderOption,
    ThreadsOption,
    WhiteOption,
    camera_and_features,
    opened,
    require_camera_out,
    work_folder,
)
from plenodepth.cli.calibrate.output import percent, print_step
from plenodepth.cli.depth import SettingsOptions
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.cli.shared.quantities import parse_board

if TYPE_CHECKING:
    from plenodepth.calib.scale.step import ScaleRecord

FIGURE = "scale.png"


@expand_groups
def scale(
    *,
    camera: CalibratedOption,
    boards: BoardsOption,
    features_file: FeaturesOption,
    board: BoardOption,
    white: WhiteOption = None,
    order: Annotated[
        Literal["constant", "linear", "quadratic"] | None,
        typer.Option("--order", help="Of Γ; default: what cross-validation names.", show_default=False),
    ] = None,
    settings: SettingsOptions,
    out: CameraOutOption,
    params: ParametersOption = None,
    work: StepFolderOption = None,
    fresh: FreshOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the depth scale Γ by the paper's scale error: distances between board corners, found against true.

    The depth of every board image is estimated as [bold]plenodepth depth[/bold] does with the same options. Γ is for
    depths of that aperture model alone, and the camera file says which. Writes the camera with Γ and, in the work
    folder, a record and a figure.

    Example: [bold]plenodepth calibrate scale --camera camera.yaml --boards boards --features work/features.csv
    --board 9x5:10mm --white whites/white_f4.png --out camera.yaml[/bold]
    """
    from plenodepth.calib.image_list import listed_images
    from plenodepth.calib.scale.step import scale_step
    from plenodepth.camera import save_camera
    from plenodepth.io.figures import write_figure
    from plenodepth.threads import thread_count
    from plenodepth.view.figures.board_scale import board_scale_figure

    require_camera_out(out)
    chosen, kind, workers = settings.chosen(), parse_board(board), thread_count(threads)
    optics, features = camera_and_features(camera, params, features_file)
    images = listed_images(boards)
    with work_folder(work, out) as folder, row_progress("scale", quiet=as_json) as bar:
        step = scale_step(
            images,
            features,
            kind,
            optics,
            opened(folder, fresh=fresh),
            white=white,
            order=order,
            settings=chosen.depth,
            filters=chosen.filters,
            threads=workers,
            progress=step_progress(bar),
        )
        write_figure(board_scale_figure(step.record), folder / FIGURE)
    save_camera(replace(step.camera, name=out.stem), out)
    files = {"camera": out, "figure": folder / FIGURE}
    print_step(step.record, step.record.notes, files, _print, fresh=step.fresh, as_json=as_json)


def _print(record: ScaleRecord) -> None:
    table = plain_table("Scale errors (positive: found too small)", "frame", "distance [mm]", "before", "after")
    for row in record.frames:
        table.add_row(str(row.frame), f"{row.distance:.1f}", percent(row.before), percent(row.after))
    console().print(table, "")
    tested = plain_table("Boards that the fit has not seen", "order", "median |scale error|")
    tested.add_row("no Γ", percent(record.median_size_before))
    for order, result in record.held_out.items():
        named = f"{order} (best)" if order == record.best_order else order
        tested.add_row(named, "–" if result.median is None else percent(result.median))
    console().print(tested, "")
    fitted = zip(record.depth_scale, record.standard_errors, strict=True)
    values = ", ".join(
        f"γ{power} = {value:.6g} ± {'?' if error is None else format(error, '.2g')}"
        for power, (value, error) in enumerate(fitted)
        if (value, error) != (0, 0)  # not of this order
    )
    console().print(f"Γ, {record.order}: {values}; for aperture model {record.aperture_model}")
    console().print(
        f"median scale error: {percent(record.median_before)} before, {percent(record.median_after)} after; its "
        f"size: {percent(record.median_size_before)} before, {percent(record.median_size_after)} after"
    )
