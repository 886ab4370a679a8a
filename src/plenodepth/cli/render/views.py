"""`plenodepth render views`: views from a grid of places in the pupil, as pictures or as video."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.render.frames import (
    ConvergeOption,
    OutFolder,
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
from plenodepth.cli.shared.quantities import parse_counts
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.errors import InputError
from plenodepth.io import require_writable

if TYPE_CHECKING:
    from plenodepth.metric.result import DepthResult


@expand_groups
def views(
    *,
    image: RawArgument,
    raw: RawOptions,
    out: OutFolder,
    options: RenderOptions,
    grid: Annotated[str, typer.Option("--grid", metavar="CxR", help="Columns and rows of views.")] = "5x5",
    span: SpanOption = 0.6,
    converge: ConvergeOption = None,
    yuv: Annotated[
        bool, typer.Option("--yuv", help="One planar YUV 4:2:0 file per view, v000-WxH.yuv, of all frames.")
    ] = False,
    view_depth: Annotated[
        bool, typer.Option("--view-depth", help="With --yuv: the depth of each view, too, 16 bits, linear in 1/z.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make views from places in the main lens' pupil, with their depth, or from a video one YUV file per view.

    Views are called view-ROW-COLUMN, from the top left; the middle one of an odd grid is that of `render allfocus`.

    Example: [bold]plenodepth render views raw.png --camera r12-e --white white.png --grid 5x5 --out views[/bold]
    """
    from plenodepth.render import save_rendered, viewpoints
    from plenodepth.render.allfocus import require_scale
    from plenodepth.render.pupil_views import grid_places
    from plenodepth.render.view_video import write_view_video

    columns, rows = parse_counts(grid, "--grid")
    assert columns is not None
    assert rows is not None
    places, meeting = grid_places(columns, rows, span), parse_depth(converge, "--converge")
    if view_depth and not yuv:
        raise InputError("is for --yuv", field="--view-depth", fix="leave it out: every view has its depth already")
    require_scale(options.scale)
    require_writable(out)
    scale, sharpen = options.scale, options.sharpen
    with rendering(options, quiet=as_json) as progress:
        depths = depths_of(image, raw, options, progress, all_frames=yuv)
        if yuv:
            notes = list[str]()
            noted = _noting(depths, notes)
            video = write_view_video(
                noted, out, places, converge=meeting, with_depth=view_depth, scale=scale, sharpen=sharpen
            )
            names, frames, note = [*video.files, *video.depth_files], video.frames, "; ".join(dict.fromkeys(notes))
        else:
            depth = next(depths)
            made = viewpoints(depth, columns, rows, span=span, converge=meeting, scale=scale, sharpen=sharpen)
            save_rendered(progress.counted(made, columns * rows), out)
            names, frames, note = list(places), 1, depth.summary.note
    line = f"{out}: {columns} × {rows} views of {frames} frame{'s' if frames > 1 else ''}"
    report(line, {"views": names, "out": str(out), "frames": frames}, note, as_json=as_json)


def _noting(depths: Iterator[DepthResult], notes: list[str]) -> Iterator[DepthResult]:
    """The results, whose notes are collected."""
    for depth in depths:
        notes += [depth.summary.note] if depth.summary.note else []
        yield depth
