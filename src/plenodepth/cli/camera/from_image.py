"""`plenodepth camera from-image`: the grid of a camera from ordinary raw images."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from plenodepth.camera import GridCamera, save_camera
from plenodepth.camera.files.native import content_of_camera
from plenodepth.cli.shared.common import (
    FramesOption,
    JsonOption,
    console,
    parse_frames,
    plain_table,
    print_json,
    print_notes,
)
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.errors import InputError

MOST_FRAMES = 4  # of a sequence, unless others are asked for
FAR_APART = 25  # frames, in a video that does not tell how many it has


def from_image(
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="RAW…",
            help="Raw images of one camera, or videos: some frames of each.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Grid file to write (.yaml, .json).")],
    name: Annotated[
        str | None, typer.Option(help="Name of the camera; default: that of the file to write.", show_default=False)
    ] = None,
    frames: FramesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find a camera's grid in ordinary raw images: no white image, no hint.

    Several images of different scenes tell more than one. Of a video four frames are taken: spread over it where its
    length is known, else every 25th; --frames chooses others.

    Example: [bold]plenodepth camera from-image raw1.png raw2.png --out grid.yaml[/bold]
    """
    from plenodepth.calib.whites.from_images import grid_from_images
    from plenodepth.threads import thread_count

    if out.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise InputError("is no name for a grid file", file=out, fix="end it in .yaml or .json")
    with row_progress("grid", quiet=as_json) as bar:
        pixels = [frame for path in images for frame in _pixels(path, parse_frames(frames))]
        files = ", ".join(map(str, images))
        found = grid_from_images(pixels, name=files, threads=thread_count(), progress=step_progress(bar))
        found = replace(found, name=name or out.stem)
        save_camera(found, out)
    if as_json:
        print_json({"camera": content_of_camera(found), "file": str(out)})
    else:
        _print(found, out)


def _pixels(path: Path, wanted: slice | None) -> list[np.ndarray[Any, Any]]:
    """The image of a file, or the frames of a sequence that are wanted, by default some that are far apart."""
    from plenodepth.io.image_formats import frame_count, is_sequence, read_images

    if not is_sequence(path):
        wanted = None
    elif wanted is None:
        count = frame_count(path)
        step = FAR_APART if count is None else max(1, count // MOST_FRAMES)
        wanted = slice(0, MOST_FRAMES * step, step)
    return [stored.pixels for stored in read_images(path, frames=wanted)]


def _print(camera: GridCamera, out: Path) -> None:
    grid, lattice = camera.micro_images, camera.micro_images.lattice
    first, types = grid.center(0, 0), grid.type_count
    table = plain_table(f"Camera {camera.name} (grid only, no optics)", "", "")
    table.add_row("image", f"{camera.width} × {camera.height} px")
    table.add_row("micro-images", f"{lattice.columns} × {lattice.rows}, {lattice.arrangement.replace('_', ' ')}")
    table.add_row("micro-image pitch", f"{lattice.diameter:.4f} px")
    table.add_row("rotation", f"{1e6 * grid.image_from_lattice.angle:z.0f} µrad")
    table.add_row("first micro-image", f"({first[0]:.2f}, {first[1]:.2f}) px")
    table.add_row("lens types", str(types))
    table.add_row("configuration", str(camera.configuration or "unknown"))
    console().print(table, "")
    print_notes(camera.provenance.notes)
    console().print(f"wrote {out}", soft_wrap=True)
