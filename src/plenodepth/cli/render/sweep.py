"""`plenodepth render sweep`: the viewpoint moving about the pupil, as an animation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plenodepth.cli.render.frames import (
    ConvergeOption,
    RawArgument,
    RenderOptions,
    SpanOption,
    depths_of,
    parse_depth,
    rendering,
    report,
)
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.raw_options import RawOptions


@expand_groups
def sweep(
    *,
    image: RawArgument,
    raw: RawOptions,
    out: Annotated[Path, typer.Option("--out", help="File to write, .gif or .mp4.", show_default=False)],
    options: RenderOptions,
    count: Annotated[int, typer.Option("--count", help="Pictures of one turn.")] = 16,
    span: SpanOption = 0.9,
    converge: ConvergeOption = None,
    rate: Annotated[float, typer.Option("--rate", help="Pictures per second.")] = 12.0,
    as_json: JsonOption = False,
) -> None:
    """Let the viewpoint move in a circle about the pupil's middle: an animation for talks.

    By default what lies at the median depth stays where it is.

    Example: [bold]plenodepth render sweep raw.png --camera r12-e --white white.png --scale 4 --out turn.gif[/bold]
    """
    import numpy as np

    from plenodepth.render.allfocus import require_scale
    from plenodepth.render.animation import require_format, sweep_places, write_animation
    from plenodepth.render.pupil_views import views_from
    from plenodepth.render.surface import central_surface

    require_format(out)
    require_scale(options.scale)
    places, given = sweep_places(count, span), parse_depth(converge, "--converge")
    with rendering(options, quiet=as_json) as progress:
        depth = next(depths_of(image, raw, options, progress))
        assert depth.dense is not None
        surface = central_surface(depth)
        meeting = float(np.nanmedian(depth.dense.depth)) if given is None else given
        views = views_from(surface, places, meeting, options.scale, sharpen=options.sharpen)
        pictures = (view.picture for view in progress.counted(views, len(places)))
        write_animation(pictures, out, rate=rate)
    content = {"out": str(out), "pictures": len(places)}
    report(f"{out}: {len(places)} pictures", content, depth.summary.note, as_json=as_json)
