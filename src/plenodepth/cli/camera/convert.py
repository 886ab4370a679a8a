"""`plenodepth camera convert`: a camera from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plenodepth.camera import load_camera, save_camera
from plenodepth.camera.files.any_format import FileFormat, lost_in_file
from plenodepth.cli.shared.common import (
    CameraArgument,
    ImageSizeOption,
    JsonOption,
    ParametersOption,
    console,
    parse_image_size,
    print_json,
)


def convert(
    camera: CameraArgument,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write: .yaml or .json for ours, .js for libpleno's.")
    ],
    params: ParametersOption = None,
    params_out: Annotated[
        Path | None, typer.Option("--params-out", help="Write libpleno's parameter file too (with a .js camera).")
    ] = None,
    file_format: Annotated[
        FileFormat | None, typer.Option("--format", help="Format to write, when the suffix does not tell.")
    ] = None,
    image_size: ImageSizeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Convert a camera between our files, libpleno's and (read only) the vendor's grid.

    Example: [bold]plenodepth camera convert intrinsics.js camera.yaml --params params.js[/bold]
    """
    loaded = load_camera(camera, parameters=params, image_size=parse_image_size(image_size))
    save_camera(loaded, out, file_format=file_format, parameters=params_out)
    lost = lost_in_file(loaded, out, file_format)
    if as_json:
        written = [str(path) for path in (out, params_out) if path is not None]
        print_json({"files": written, "not_in_the_file": list(lost)})
        return
    console().print(f"wrote {out}" + (f" and {params_out}" if params_out else ""), soft_wrap=True)
    for what in lost:
        console().print(f"note: the file does not hold {what}", soft_wrap=True)
