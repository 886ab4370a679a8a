"""`plenodepth calibrate kappa`: the blur coefficient from board images and their features."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plenodepth.cli.calibrate.options import (
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
from plenodepth.cli.calibrate.output import print_step
from plenodepth.cli.shared.common import JsonOption, ParametersOption, console, plain_table
from plenodepth.cli.shared.progress import row_progress, step_progress

if TYPE_CHECKING:
    from plenodepth.calib.blur.step import KappaRecord

FIGURE = "kappa.png"


def kappa(
    *,
    camera: CalibratedOption,
    boards: BoardsOption,
    features_file: FeaturesOption,
    white: WhiteOption = None,
    out: CameraOutOption,
    params: ParametersOption = None,
    work: StepFolderOption = None,
    fresh: FreshOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find κ, the spread of blur over its radius, with its standard error: views of a corner through unlike lenses.

    Writes the camera with κ and, in the work folder, a record and a figure of κ by each frame.

    Example: [bold]plenodepth calibrate kappa --camera camera.yaml --boards boards --features work/features.csv
    --white whites/white_f4.png --out camera.yaml[/bold]
    """
    from plenodepth.calib.blur.step import kappa_step
    from plenodepth.calib.image_list import listed_images
    from plenodepth.camera import save_camera
    from plenodepth.io.figures import write_figure
    from plenodepth.threads import thread_count
    from plenodepth.view.figures.calibration import kappa_figure

    require_camera_out(out)
    workers = thread_count(threads)
    optics, features = camera_and_features(camera, params, features_file)
    images = listed_images(boards)
    with work_folder(work, out) as folder, row_progress("κ", quiet=as_json) as bar:
        step = kappa_step(
            images,
            features,
            optics,
            opened(folder, fresh=fresh),
            white=white,
            threads=workers,
            progress=step_progress(bar),
        )
        write_figure(kappa_figure(step.record), folder / FIGURE)
    save_camera(replace(step.camera, name=out.stem), out)
    files = {"camera": out, "figure": folder / FIGURE}
    print_step(step.record, step.record.notes, files, _print, fresh=step.fresh, as_json=as_json)


def _print(record: KappaRecord) -> None:
    table = plain_table("κ by each frame alone", "frame", "κ", "σ", "pairs")
    for row in record.frames:
        numbers = ("–" if value is None else f"{value:.4f}" for value in (row.kappa, row.standard_error))
        table.add_row(str(row.frame), *numbers, str(row.pairs))
    console().print(table)
    console().print(
        f"κ = {record.kappa:.4f} ± {record.standard_error:.4f}: {record.pairs} pairs of views, "
        f"{100 * record.outliers:.1f} % outliers"
    )
