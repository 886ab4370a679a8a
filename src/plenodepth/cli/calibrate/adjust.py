"""``plenodepth calibrate adjust``: features and centres in, a camera with uncertainties out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from plenodepth.cli.calibrate.options import AdjustOptions, BoardOption, FeaturesOption, WorkOption, work_folder
from plenodepth.cli.calibrate.output import print_calibration, write_report
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.cli.shared.quantities import parse_board


@expand_groups
def adjust(
    *,
    features_file: FeaturesOption,
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
    from plenodepth.calib.pipeline import calibrate_from_features
    from plenodepth.calib.whites.libpleno_start import load_start_camera
    from plenodepth.camera import save_camera

    kind, features = parse_board(board), read_features(features_file)
    centers = None if centers_file is None else read_centers(centers_file)
    start = load_start_camera(camera, parameters=params, centers=centers)
    with work_folder(work, out) as folder, row_progress("adjustment", quiet=as_json) as bar:
        result = calibrate_from_features(
            features,
            centers,
            kind,
            start,
            settings=adjusting.settings(foreign=is_foreign(features_file)),
            hold_out=every,
            work=folder,
            inputs=[path for path in (features_file, centers_file) if path is not None],
            name=out.stem,
            progress=step_progress(bar),
        )
        write_report(result, folder)
    save_camera(replace(result.camera, name=out.stem), out)
    print_calibration(result, out, folder, as_json=as_json)
