"""`plenodepth evaluate views`: rendered views against the true ones of the same pixels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json, print_notes
from plenodepth.cli.shared.progress import row_progress, step_progress

if TYPE_CHECKING:
    from plenodepth.evaluate.views.comparison import ViewsComparison


def views(
    rendered: Annotated[Path, typer.Argument(metavar="RENDERED", help="Folder of rendered views, with views.json.")],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="Folder of true views: `simulate views --like`.")],
    gain: Annotated[
        Literal["none", "fit"],
        typer.Option("--gain", help="Compare light as it is stored, or fit one factor for all views and print it."),
    ] = "none",
    as_json: JsonOption = False,
) -> None:
    """Compare rendered views with the truth: PSNR and SSIM, and MTF50 on the straight edges that the truth has.

    Light is compared as it is stored: no gain is fitted unless asked for. PSNR and SSIM are of sRGB, sharpness of
    linear light. Views are matched by their names; those of other pixels are refused.

    Example: [bold]plenodepth evaluate views rendered truth --json > views.json[/bold]
    """
    from plenodepth.evaluate.views.comparison import compare_view_folders

    with row_progress("reading", quiet=as_json) as bar:
        result = compare_view_folders(rendered, truth, gain=gain, progress=step_progress(bar))
    if as_json:
        print_json(result.content())
    else:
        _print(result)


def _print(result: ViewsComparison) -> None:
    columns = ("view", "PSNR [dB]", "linear [dB]", "SSIM", "complete", "MTF50", "truth", "edges")
    table = plain_table(f"{result.rendered} against {result.truth}", *columns)
    for view in result.views:
        best = [edge.true_mtf50 for edge in view.edges if math.isfinite(edge.mtf50)]
        table.add_row(
            view.name,
            f"{view.psnr:.2f}",
            f"{view.psnr_linear:.2f}",
            f"{view.ssim:.4f}",
            f"{100 * view.completeness:.2f} %",
            *(("–", "–") if not best else (f"{view.mtf50:.3f}", f"{sorted(best)[len(best) // 2]:.3f}")),
            str(len(best)),
        )
    console().print(table)
    console().print(f"mean PSNR {result.mean_psnr:.2f} dB of {len(result.views)} views; MTF50 in cycles per px")
    console().print("light as stored, no gain" if result.gain == 1 else f"light times {result.gain:.5f}, fitted")
    print_notes(result.notes)
