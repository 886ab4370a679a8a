"""``plenodepth calibrate white``: grid, centres, radii and the camera to start from, from white images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plenodepth.cli.calibrate.options import FreshOption, OpticsOptions, opened
from plenodepth.cli.calibrate.output import draw_step
from plenodepth.cli.shared.common import JsonOption, console, print_json, print_notes
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.io.atomic import made_folder
from plenodepth.io.claims import claimed


@expand_groups
def white(
    *,
    whites: Annotated[Path, typer.Option("--whites", help="Folder of white images, at several apertures.")],
    optics: OpticsOptions,
    out: Annotated[Path, typer.Option("--out", help="Folder for start.yaml, centers.csv and white.json.")],
    fresh: FreshOption = False,
    as_json: JsonOption = False,
) -> None:
    """Pre-calibrate: grid, centres, radii and the camera to start from, from white images.

    Example: [bold]plenodepth calibrate white --whites whites --sensor 5.5um --focal 50 --aperture 4 --focus 450
    --out work[/bold]
    """
    from plenodepth.calib.image_list import ImageReader, listed_images
    from plenodepth.calib.records import to_json
    from plenodepth.calib.whites.step import white_step
    from plenodepth.threads import thread_count

    images, read = listed_images(whites), ImageReader()
    with made_folder(out), claimed(out / "white"), row_progress("white images", quiet=as_json) as bar:
        step = white_step(
            images,
            optics.optics(read(images[0].path)),
            opened(out, fresh=fresh),
            grid=optics.grid(),
            threads=thread_count(),
            progress=step_progress(bar),
            read=read,
        )
        draw_step(step, images, out, read)
    record = step.record
    if as_json:
        print_json({**to_json(record), "up_to_date": not step.fresh})
        return
    console().print(
        f"{out}: {record.lenses[0]} × {record.lenses[1]} lenses, pitch {record.pitch_px[0]:.4f} × "
        f"{record.pitch_px[1]:.4f} px, {len(step.centers)} centres" + ("" if step.fresh else " (up to date)")
    )
    print_notes(record.notes)
