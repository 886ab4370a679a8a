"""``plenodepth cost``: the cost curve of one micro-image."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from plenodepth.cli.shared.common import JsonOption, console, print_json
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.errors import InputError


@expand_groups
def cost(
    *,
    image: Annotated[Path, typer.Argument(help="Raw image (.png, .tiff).", show_default=False)],
    raw: RawOptions,
    at: Annotated[
        str, typer.Option("--at", metavar="K,L", help="Column and row of the micro-image, from the top left.")
    ],
    figure: Annotated[Path, typer.Option("--figure", help="Picture to write (.png, .pdf, .svg).")] = Path("cost.png"),
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
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.depth import cost_figure

    k, l = int(match[1]), int(match[2])
    camera, _ = raw.load_camera(image)
    clean = raw.load_image(image, camera)
    curves = {name: cost_curve(clean, camera, k, l, DepthSettings(blur=name == "B")) for name in ("B", "D")}
    write_figure(cost_figure(curves, f"{clean.name}, micro-image ({k}, {l})"), figure)
    if as_json:
        print_json(
            {
                name: {
                    "virtual_depth": curve.virtual_depth.tolist(),
                    "cost": [None if np.isnan(value) else float(value) for value in curve.cost],
                    "estimate": None if np.isnan(curve.estimate) else curve.estimate,
                    "sigma": None if np.isnan(curve.sigma) else curve.sigma,
                    "aperture_model": curve.aperture_model,
                }
                for name, curve in curves.items()
            }
        )
    else:
        for name, curve in curves.items():
            console().print(f"{name}: virtual depth {curve.estimate:.3f} ± {curve.sigma:.3f}")
        console().print(f"wrote {figure}")
