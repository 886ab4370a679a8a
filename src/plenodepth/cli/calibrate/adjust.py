"""``plenodepth calibrate adjust``: features and centres in, a camera with uncertainties out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cache import WorkFolder
from plenodepth.cli.calibrate.files import named_progress, saved, work_folder
from plenodepth.cli.calibrate.options import AdjustOptions, BoardOption, WorkOption
from plenodepth.cli.calibrate.results import finished, print_summary
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.advice.summary import HoldOut
    from plenodepth.calib.bundle.settings import AdjustSettings
    from plenodepth.calib.features import Centers, Features
    from plenodepth.calib.steps import AdjustStep
    from plenodepth.camera import PlenopticCamera


@expand_groups
def adjust(
    *,
    features_file: Annotated[
        Path, typer.Option("--features", help="Features: ours (.csv) or libpleno's (.csv, .bin.gz).")
    ],
    centers_file: Annotated[
        Path | None, typer.Option("--centers", help="Micro-image centres: ours (.csv) or libpleno's (.csv, .bin.gz).")
    ] = None,
    camera: Annotated[
        str,
        typer.Option("--camera", help="Camera to start from; libpleno's camera.js may hold bare numbers."),
    ],
    params: Annotated[Path | None, typer.Option("--params", help="libpleno's parameter file.")] = None,
    board: BoardOption,
    adjusting: AdjustOptions,
    every: Annotated[
        int | None, typer.Option("--hold-out", metavar="N", help="Leave out every Nth frame and test with it.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Camera file to write (.yaml, .json).")],
    work: WorkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Adjust a camera and the boards' poses to features and centres, with uncertainties.

    Example: [bold]plenodepth calibrate adjust --features bap.csv --centers centers.csv --camera camera.js
    --params params.js --board 9x5:10mm --out camera.yaml[/bold]
    """
    from plenodepth.calib.feature_files import is_foreign, read_centers, read_features
    from plenodepth.calib.steps import adjust_step

    kind, found = parse_board(board), read_features(features_file)
    centers = None if centers_file is None else read_centers(centers_file)
    start = _start(camera, params, centers)
    settings = adjusting.settings(foreign=is_foreign(features_file), types=start.type_count)
    folder = work_folder(work, out)
    used, held_out = _split(found, every)
    with row_progress("adjustment", quiet=as_json) as bar:
        result = adjust_step(used, centers, kind, start, WorkFolder(folder), settings, named_progress(bar), out.stem)
        inputs = [str(path) for path in (features_file, centers_file) if path is not None]
        tested = None if held_out is None else _tested(result, held_out, kind, settings)
        summary = finished(folder, result, start, kind, settings, [], inputs, hold_out=tested)
    saved(result.camera, out)
    print_summary(summary, out, folder, as_json, [])


def _start(camera: str, params: Path | None, centers: Centers | None) -> PlenopticCamera:
    """A calibrated camera to go on from, or the nominal one of libpleno's minimal files."""
    from plenodepth.calib.whites.libpleno_start import initial_camera_from_libpleno
    from plenodepth.camera import load_plenoptic_camera
    from plenodepth.io.libpleno.property_tree import read_tree

    if Path(camera).suffix.lower() == ".js" and not read_tree(camera).has("mla"):
        if centers is None:
            raise InputError("are needed with a camera file that has no lens array", field="--centers")
        return initial_camera_from_libpleno(camera, params, centers)
    return load_plenoptic_camera(camera, parameters=params)


def _split(found: Features, every: int | None) -> tuple[Features, Features | None]:
    import numpy as np

    if every is None:
        return found, None
    if every < 2:
        raise InputError(f"is {every}, needs 2 or more", field="--hold-out")
    out = np.isin(found.frame, found.frames[every - 1 :: every])
    return found.where(~out), found.where(out)


def _tested(result: AdjustStep, held_out: Features, board: Any, settings: AdjustSettings) -> HoldOut:
    """Residuals of frames that took no part, after finding their poses alone."""
    from plenodepth.calib.advice.summary import HoldOut
    from plenodepth.calib.bundle.adjust import adjust as adjusted
    from plenodepth.camera.parameters import intrinsic_names

    poses_only = replace(settings, hold=intrinsic_names(result.camera), priors={})
    tested = adjusted(held_out, None, board, result.adjustment.camera, poses_only)
    return HoldOut(len(tested.estimate.poses), tested.rmse_uv, tested.rmse_rho)
