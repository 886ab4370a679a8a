"""`plenodepth evaluate relative`: does depth follow a target that moves in known steps?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.evaluate.options import FigureOption, require_figure, save
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json, print_notes
from plenodepth.cli.shared.progress import row_progress, step_progress

if TYPE_CHECKING:
    from plenodepth.evaluate.frames.comparison import RelativeComparison


def relative(
    depths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DEPTHS…",
            help="Depth maps or clouds, one a frame; a folder of them (steps/03/depth.tiff); a table frame,depth "
            "(.csv); libpleno's poses or list of results (.js).",
            show_default=False,
        ),
    ],
    truth: Annotated[
        Path, typer.Option("--truth", help="Known places: lines `frame distance`, or manifest.json of a dataset.")
    ],
    figure: FigureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Relative depth error ε_z of the paper: errors of displacements between all pairs of frames.

    A frame's depth is the median of its map. Only displacements count, so the truth may have any zero; it grows away
    from the camera. The interval of the mean comes from frames drawn anew (bootstrap, 95 %).

    Example: [bold]plenodepth evaluate relative out/steps --truth distances.txt --figure relative.png[/bold]
    """
    from plenodepth.evaluate.frames.comparison import compare_frame_depths

    require_figure(figure)
    with row_progress("reading", quiet=as_json) as bar:
        result = compare_frame_depths(depths, truth, progress=step_progress(bar))
    content = result.content()
    if figure is not None:
        from plenodepth.view.figures.depth import relative_error_figure

        save(relative_error_figure(result.error), figure, content)
    if as_json:
        print_json(content)
        return
    _print(result)
    if figure is not None:
        console().print(f"figure: {figure}")
    print_notes(result.match.notes)


def _print(result: RelativeComparison) -> None:
    table = plain_table("Relative depth error", "displacement [mm]", "mean ε_z", "± std", "pairs")
    for row in result.displacements:
        spread = "–" if math.isnan(row.std) else f"{100 * row.std:.2f} %"
        table.add_row(f"{row.displacement:g}", f"{100 * row.mean:.2f} %", spread, str(row.pairs))
    console().print(table, "")
    low, high = result.error.interval
    interval = (
        "no interval of less than 4 frames"
        if math.isnan(low)
        else f"{100 * result.error.level:g} % interval {100 * low:.2f} … {100 * high:.2f} %"
    )
    console().print(f"mean ε_z {100 * result.error.mean:.3f} % of {result.error.frames} frames; {interval}")
