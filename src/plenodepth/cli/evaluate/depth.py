"""`plenodepth evaluate depth`: a depth map against a true one of the same view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.evaluate.options import FigureOption, errors_name_options, parse_numbers, require_figure, save
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json, print_notes
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.evaluate.maps.comparison import DepthComparison, FolderComparison

MAPS = ".tiff, .npy, .exr, .csv, .bin.gz"


def depth(
    prediction: Annotated[
        Path, typer.Argument(metavar="PREDICTION", help=f"Depth map, mm ({MAPS}), or a folder of them.")
    ],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="True depth of the same view, equal in size.")],
    mask: Annotated[
        Path | None, typer.Option("--mask", help="Image of the same size (.png): pixels of 0 do not count.")
    ] = None,
    confidence: Annotated[
        Path | None, typer.Option("--confidence", help="Map of confidence: is it low where depth is wrong?")
    ] = None,
    bad: Annotated[str, typer.Option("--bad", help="A pixel is bad when off by more than these % of its depth.")] = (
        "1,2,5"
    ),
    figure: FigureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare a depth map with the truth, pixel by pixel, where both have a depth.

    Works for coarse maps (against lens_depth.tiff of a simulated frame), refined ones (depth.tiff) and central
    sub-aperture maps. Missing depth is NaN; the completeness says how much of the truth has a depth.

    Two folders are compared frame by frame, and the frames named by the last number of their files or folders.

    Example: [bold]plenodepth evaluate depth out/raw.depth.tiff frame/lens_depth.tiff --confidence
    out/raw.confidence.tiff --json > a.json[/bold]
    """
    from plenodepth.evaluate.maps.comparison import compare_map_files, compare_map_folders

    percent = parse_numbers(bad, "--bad", "1,2,5")
    require_figure(figure)
    folders = prediction.is_dir() and truth.is_dir()
    if folders and not mask is confidence is figure is None:
        raise InputError("are for one map", field="--mask, --confidence, --figure", fix="give two files")
    with row_progress("reading", quiet=as_json) as bar, errors_name_options(mask="--mask"):
        progress = step_progress(bar)
        if folders:
            frames = compare_map_folders(prediction, truth, bad_percent=percent, progress=progress)
        else:
            result = compare_map_files(
                prediction, truth, mask=mask, confidence=confidence, bad_percent=percent, progress=progress
            )
    if folders:
        if as_json:
            print_json(frames.content())
        else:
            _print_frames(frames)
        return
    content = result.content()
    if figure is not None:
        from plenodepth.view.figures.depth import difference_figure

        save(difference_figure(result.differences.signed, prediction.name, truth.name), figure, content)
    if as_json:
        print_json(content)
        return
    _print(result)
    if figure is not None:
        console().print(f"figure: {figure}")
    print_notes(result.notes)


def _print(result: DepthComparison) -> None:
    figures = result.differences
    table = plain_table(f"{result.prediction} against {result.truth}", "", "")
    table.add_row("pixels compared", str(figures.common))
    table.add_row("completeness", f"{100 * figures.completeness:.2f} %")
    table.add_row("median |difference|", f"{figures.median:.3f} mm")
    table.add_row("quartiles", f"{figures.q25:.3f} … {figures.q75:.3f} mm")
    table.add_row("mean |difference|", f"{figures.mean:.3f} mm")
    table.add_row("RMSE", f"{figures.rmse:.3f} mm")
    table.add_row("bias (> 0: too far)", f"{figures.bias:+z.3f} mm")
    for part, share in figures.bad_parts.items():
        table.add_row(f"off by more than {100 * part:g}%", f"{share:.2f} %")
    for limit, share in figures.bad_mm.items():
        table.add_row(f"off by more than {limit:g}mm", f"{share:.2f} %")
    console().print(table)
    if result.sparsification is not None:
        curves = result.sparsification.content()
        console().print()
        judged = plain_table("Confidence", "", "")
        judged.add_row("mean |difference| of all", f"{curves['mean_mm']:.3f} mm")
        judged.add_row("of the surest half", f"{curves['mean_of_surest_half_mm']:.3f} mm")
        judged.add_row("of the best half (oracle)", f"{curves['oracle_of_half_mm']:.3f} mm")
        judged.add_row("AUSE", f"{curves['ause_mm']:.3f} mm")
        judged.add_row("gain (1: perfect, 0: says nothing)", f"{curves['gain']:.3f}")
        console().print(judged)


def _print_frames(result: FolderComparison) -> None:
    columns = ("frame", "pixels", "complete", "median", "mean", "RMSE", "bias")
    table = plain_table(f"{result.prediction} against {result.truth}, |difference| [mm]", *columns)
    for row in result.frames:
        figures = row.differences
        table.add_row(
            str(row.frame),
            str(figures.common),
            f"{100 * figures.completeness:.1f} %",
            *(f"{value:.3f}" for value in (figures.median, figures.mean, figures.rmse)),
            f"{figures.bias:+z.3f}",
        )
    console().print(table, "")
    interval = (
        "" if result.interval is None else f" (95 % interval {result.interval[0]:.3f} … {result.interval[1]:.3f})"
    )
    mean = sum(row.differences.median for row in result.frames) / len(result.frames)
    console().print(f"mean of {len(result.frames)} frames: median |difference| {mean:.3f} mm{interval}")
    print_notes(result.notes)
