"""``plenodepth calibrate features``: the board's corners in the micro-images of all frames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plenodepth.cli.calibrate.options import BoardOption, FreshOption, ThreadsOption, opened
from plenodepth.cli.calibrate.output import draw_step
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json, print_notes
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.io.atomic import made_folder
from plenodepth.io.claims import claimed
from plenodepth.threads import thread_count


def features(
    *,
    boards: Annotated[Path, typer.Option("--boards", help="Folder of checkerboard images.")],
    board: BoardOption,
    camera: Annotated[str, typer.Option("--camera", help="Camera, if only that of the white images (start.yaml).")],
    white_image: Annotated[
        Path | None, typer.Option("--white", help="White image at the aperture of the board images.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for features.csv and features.json.")],
    fresh: FreshOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the board's corners in the micro-images of all frames, with their uncertainties and blur radii.

    Example: [bold]plenodepth calibrate features --boards boards --board 9x5:10mm --camera work/start.yaml
    --white whites/white_f4.png --out work[/bold]
    """
    from plenodepth.calib.corners.step import features_step
    from plenodepth.calib.image_list import ImageReader, listed_images
    from plenodepth.calib.records import to_json
    from plenodepth.calib.whites.white_boards import said_of_white_boards
    from plenodepth.camera import load_plenoptic_camera

    kind, pictures, optics = parse_board(board), listed_images(boards), load_plenoptic_camera(camera)
    read = ImageReader()
    with made_folder(out), claimed(out / "features"), row_progress("features", quiet=as_json) as bar:
        with said_of_white_boards(pictures, read):
            step = features_step(
                pictures,
                kind,
                optics,
                opened(out, fresh=fresh),
                white=white_image,
                threads=thread_count(threads),
                progress=step_progress(bar),
                read=read,
            )
        draw_step(step, pictures, out, read)
    if as_json:
        print_json({**to_json(step.record), "up_to_date": not step.fresh})
        return
    table = plain_table("Features", "frame", "features")
    for frame, count in step.record.features.items():
        table.add_row(frame, str(count))
    console().print(table)
    print_notes(step.record.notes)
