"""`plenodepth render refocus`: pictures focused at chosen depths."""

from __future__ import annotations

from typing import Annotated

import typer

from plenodepth.cli.render.frames import (
    OutFolder,
    RawArgument,
    RenderOptions,
    depths_of,
    parse_depth,
    rendering,
    report,
)
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.io import require_writable


@expand_groups
def refocus(
    *,
    image: RawArgument,
    raw: RawOptions,
    out: OutFolder,
    at: Annotated[
        list[str],
        typer.Option(
            "--at", metavar="DEPTH", help="Where to focus, as 900mm; several make a stack.", show_default=False
        ),
    ],
    options: RenderOptions,
    aperture: Annotated[float, typer.Option("--aperture", help="Times the diameter of the camera's own.")] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Focus anew: pictures with the blur of the camera's aperture, or of a larger one, focused at chosen depths.

    Example: [bold]plenodepth render refocus raw.png --camera r12-e --white white.png --at 700mm --at 900mm --out
    focused[/bold]
    """
    from plenodepth.render import all_in_focus, refocused, save_rendered
    from plenodepth.render.allfocus import require_scale

    depths = [parse_depth(text, "--at") or 0.0 for text in at]
    require_scale(options.scale)
    require_writable(out)
    with rendering(options, quiet=as_json) as progress:
        depth = next(depths_of(image, raw, options, progress))
        sharp = all_in_focus(depth, scale=options.scale, sharpen=options.sharpen)
        pictures = refocused(sharp, depth.camera, depths, aperture=aperture)
        save_rendered(progress.counted(pictures, len(depths)), out)
    line = f"{out}: focused at {', '.join(f'{value:g}' for value in depths)}"
    content = {"depths": depths, "aperture": aperture, "out": str(out)}
    report(line, content, depth.summary.note, as_json=as_json)
