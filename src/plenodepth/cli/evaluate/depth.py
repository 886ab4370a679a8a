"""`plenodepth evaluate depth`: a depth map against a true one of the same view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.evaluate.depth_frames import evaluate_frames
from plenodepth.cli.evaluate.options import FigureOption, named, parse_numbers, require_figure, save, say_notes
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json
from plenodepth.cli.shared.progress import row_progress
from plenodepth.errors import InputError
from plenodepth.evaluate.maps.comparison import differences_content, differences_of_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plenodepth.evaluate.maps.differences import DepthDifferences
    from plenodepth.io.maps.any_format import DepthValues

    Float32 = NDArray[np.float32]

STEPS = 4  # of reading and comparing, for the bar
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
    parts = parse_numbers(bad, "--bad", "1,2,5")
    require_figure(figure)
    if prediction.is_dir() and truth.is_dir():
        if mask is not None or confidence is not None or figure is not None:
            raise InputError("are for one map", field="--mask, --confidence, --figure", fix="give two files")
        evaluate_frames(prediction, truth, parts, as_json=as_json)
        return
    with row_progress("reading", quiet=as_json) as bar:
        true = _map(truth)
        bar(1, STEPS)
        found = _map(prediction, true.values.shape)
        bar(2, STEPS)
        wanted = None if mask is None else _mask(mask, truth, true.values.shape)
        result = differences_of_files(prediction, found.values, truth, true.values, parts, wanted)
        bar(3, STEPS)
    content = {"kind": "depth", "prediction": str(prediction), "truth": str(truth), **differences_content(result)}
    if confidence is not None:
        content["sparsification"] = _sparsification(result, confidence)
    content["notes"] = [*named(prediction, found.notes), *named(truth, true.notes)]
    if figure is not None:
        from plenodepth.view.figures.depth import difference_figure

        save(difference_figure(result.signed, prediction.name, truth.name), figure, content)
    if as_json:
        print_json(content)
        return
    _print(content)


def _map(path: Path, shape: tuple[int, ...] | None = None) -> DepthValues:
    """A depth map that has some depth, and the size (h, w) that it must have."""
    import numpy as np

    from plenodepth.io.maps.any_format import read_map

    size = None if shape is None else (shape[0], shape[1])
    read = read_map(path, shape=size)
    if not np.isfinite(read.values).any():
        raise InputError("has no depth at all", file=path, fix="missing depth is NaN; is this the right map?")
    _require_size(read.values, path, shape)
    return read


def _require_size(values: Float32, path: Path, shape: tuple[int, ...] | None) -> None:
    if shape is not None and values.shape != shape:
        fix = "one view, one size: lens_depth.tiff goes with coarse maps, depth.tiff with refined ones"
        message = f"is {values.shape[1]} × {values.shape[0]}, the truth {shape[1]} × {shape[0]}"
        raise InputError(message, file=path, fix=fix)


def _mask(path: Path, truth: Path, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    from plenodepth.io import read_image

    image = read_image(path)
    wanted: NDArray[np.bool_] = (image if image.ndim == 2 else image.max(axis=2)) > 0
    if wanted.shape != shape:
        message = f"is {wanted.shape[1]} × {wanted.shape[0]}, {truth} {shape[1]} × {shape[0]}"
        raise InputError(message, file=path, field="--mask", fix="give a mask of the maps' size")
    if not wanted.any():
        raise InputError("is 0 everywhere", file=path, field="--mask", fix="pixels that count are > 0")
    return wanted


def _sparsification(result: DepthDifferences, path: Path) -> dict[str, float]:
    from plenodepth.evaluate.maps.sparsification import sparsification_curves
    from plenodepth.io import read_float_map

    values = read_float_map(path)
    _require_size(values, path, result.signed.shape)
    try:
        curves = sparsification_curves(result.signed, values)
    except InputError as error:
        raise error.in_file(path) from None
    half = len(curves.removed) // 2
    return {
        "mean_mm": curves.random,
        "mean_of_surest_half_mm": float(curves.by_confidence[half]),
        "oracle_of_half_mm": float(curves.oracle[half]),
        "ause_mm": curves.ause,
        "gain": curves.gain,
    }


def _print(content: dict[str, Any]) -> None:
    table = plain_table(f"{content['prediction']} against {content['truth']}", "", "")
    table.add_row("pixels compared", str(content["pixels"]))
    table.add_row("completeness", f"{100 * content['completeness']:.2f} %")
    table.add_row("median |difference|", f"{content['median_ad_mm']:.3f} mm")
    table.add_row("quartiles", f"{content['q25_ad_mm']:.3f} … {content['q75_ad_mm']:.3f} mm")
    table.add_row("mean |difference|", f"{content['mean_ad_mm']:.3f} mm")
    table.add_row("RMSE", f"{content['rmse_mm']:.3f} mm")
    table.add_row("bias (> 0: too far)", f"{content['bias_mm']:+z.3f} mm")
    for threshold, share in content["bad_percent"].items():
        table.add_row(f"off by more than {threshold}", f"{share:.2f} %")
    console().print(table)
    if "sparsification" in content:
        curves = content["sparsification"]
        console().print()
        judged = plain_table("Confidence", "", "")
        judged.add_row("mean |difference| of all", f"{curves['mean_mm']:.3f} mm")
        judged.add_row("of the surest half", f"{curves['mean_of_surest_half_mm']:.3f} mm")
        judged.add_row("of the best half (oracle)", f"{curves['oracle_of_half_mm']:.3f} mm")
        judged.add_row("AUSE", f"{curves['ause_mm']:.3f} mm")
        judged.add_row("gain (1: perfect, 0: says nothing)", f"{curves['gain']:.3f}")
        console().print(judged)
    if "figure" in content:
        console().print(f"figure: {content['figure']}")
    say_notes(content["notes"])
