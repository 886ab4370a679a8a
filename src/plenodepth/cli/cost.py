"""``plenodepth cost``: the cost curve of one micro-image."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from plenodepth.camera import load_camera
from plenodepth.cli.common import ImageSizeOption, JsonOption, ParametersOption, console, parse_image_size, print_json
from plenodepth.errors import InputError


def cost(
    image: Annotated[Path, typer.Argument(help="Raw image (.png, .tiff).", show_default=False)],
    camera: Annotated[str, typer.Option("--camera", help="A preset, a camera file, or a vendor's grid (.xml).")],
    at: Annotated[
        str, typer.Option("--at", metavar="K,L", help="Column and row of the micro-image, from the top left.")
    ],
    white: Annotated[Path | None, typer.Option("--white", help="White image at the same aperture.")] = None,
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None,
    figure: Annotated[Path, typer.Option("--figure", help="Picture to write (.png, .pdf, .svg).")] = Path("cost.png"),
    params: ParametersOption = None,
    image_size: ImageSizeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the cost of all depths for one micro-image, blur aware (B) and by disparity only (D).

    Example: [bold]plenodepth cost raw.png --camera r12-e --white white.png --at 88,76 --figure cost.png[/bold]
    """
    match = re.fullmatch(r"\s*(\d+)\s*,\s*(\d+)\s*", at)
    if match is None:
        raise InputError(f"is '{at}'", field="--at", fix="give column and row, as in 88,76")
    from plenodepth.depth.curves import cost_curve
    from plenodepth.depth.settings import DepthSettings
    from plenodepth.raw import load_raw
    from plenodepth.view.cost_figure import cost_figure
    from plenodepth.view.save import save_figure

    k, l = int(match[1]), int(match[2])
    loaded = load_camera(camera, parameters=params, image_size=parse_image_size(image_size))
    clean = load_raw(image, loaded, white=white, bayer=bayer)
    curves = {name: cost_curve(clean, loaded, k, l, DepthSettings(blur=name == "B")) for name in ("B", "D")}
    save_figure(cost_figure(curves, f"{clean.name}, micro-image ({k}, {l})"), figure)
    if as_json:
        print_json(
            {
                name: {
                    "virtual_depth": curve.virtual_depth.tolist(),
                    "cost": [None if np.isnan(value) else float(value) for value in curve.cost],
                    "estimate": None if np.isnan(curve.estimate) else curve.estimate,
                    "sigma": None if np.isnan(curve.sigma) else curve.sigma,
                }
                for name, curve in curves.items()
            }
        )
    else:
        for name, curve in curves.items():
            console().print(f"{name}: virtual depth {curve.estimate:.3f} ± {curve.sigma:.3f}")
        console().print(f"wrote {figure}")
