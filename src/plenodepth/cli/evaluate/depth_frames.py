"""Many frames of `plenodepth evaluate depth`: a folder of maps against a folder of true ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plenodepth.cli.evaluate.options import named, say_notes
from plenodepth.cli.shared.common import console, plain_table, print_json
from plenodepth.cli.shared.progress import row_progress
from plenodepth.errors import InputError
from plenodepth.evaluate.maps.comparison import differences_content, differences_of_files

if TYPE_CHECKING:
    from plenodepth.io.maps.any_format import DepthValues

# Of a simulated frame there are two truths, one for coarse and one for refined maps: the size tells.
COARSE_TRUTHS = ("*/lens_depth.tiff",)
LEAST_TO_DRAW = 4  # frames, for an interval of their mean
MEAN = ("completeness", "median_ad_mm", "mean_ad_mm", "rmse_mm", "bias_mm")


def evaluate_frames(prediction: Path, truth: Path, bad_percent: tuple[float, ...], *, as_json: bool) -> None:
    """Compare the frames that both folders have, and print figures of each and their means."""
    from plenodepth.evaluate.frames.frame_depths import frame_files

    found, true = frame_files(prediction), frame_files(truth)
    coarse = frame_files(truth, COARSE_TRUTHS) if any(truth.glob(COARSE_TRUTHS[0])) else {}
    shared = sorted(set(found) & set(true))
    if not shared:
        message = f"has frames {_listed(found)}, {truth} {_listed(true)}: none in common"
        raise InputError(message, file=prediction, fix="frames are named by the last number of a file or its folder")
    rows, notes = list[dict[str, Any]](), _unmatched(found, true)
    with row_progress("frames", quiet=as_json) as bar:
        for index, frame in enumerate(shared):
            row, more = _frame(
                frame, found[frame], [true[frame], *([coarse[frame]] if frame in coarse else [])], bad_percent
            )
            notes += more
            rows += [row] if row else []
            bar(index + 1, len(shared))
    if not rows:
        raise InputError(
            "no frame has any depth", file=prediction, fix="missing depth is NaN; are these the right maps?"
        )
    content: dict[str, Any] = {"kind": "depth", "prediction": str(prediction), "truth": str(truth), "frames": rows}
    content |= {f"mean_of_frames_{name}": sum(row[name] for row in rows) / len(rows) for name in MEAN}
    content["interval_median_ad_mm"] = _interval([row["median_ad_mm"] for row in rows])
    content["notes"] = notes
    if as_json:
        print_json(content)
        return
    _print(content)


def _frame(
    frame: int, prediction: Path, truths: list[Path], bad_percent: tuple[float, ...]
) -> tuple[dict[str, Any] | None, list[str]]:
    """The figures of one frame, and notes; None for a map without depth."""
    import numpy as np

    from plenodepth.io.maps.any_format import read_map

    found = read_map(prediction)
    if not np.isfinite(found.values).any():
        return None, named(prediction, ["has no depth at all, left out"])
    truth, true = _of_size(found, prediction, truths)
    result = differences_of_files(prediction, found.values, truth, true.values, bad_percent)
    figures = differences_content(result)
    del figures["tiles"]  # frames are the units
    notes = [*named(prediction, found.notes), *named(truth, true.notes)]
    return {"frame": frame, "prediction": str(prediction), "truth": str(truth), **figures}, notes


def _of_size(found: DepthValues, prediction: Path, truths: list[Path]) -> tuple[Path, DepthValues]:
    """The truth that has the size of a map, of those that a frame has."""
    from plenodepth.io.maps.any_format import read_map

    sizes = []
    for truth in truths:
        true = read_map(truth)
        if true.values.shape == found.values.shape:
            return truth, true
        sizes.append(f"{truth} {true.values.shape[1]} × {true.values.shape[0]}")
    height, width = found.values.shape
    raise InputError(f"is {width} × {height}, {', '.join(sizes)}", file=prediction, fix="one view, one size")


def _unmatched(found: dict[int, Path], true: dict[int, Path]) -> list[str]:
    notes = []
    if lost := sorted(set(found) - set(true)):
        notes.append(f"frames without a truth, left out: {_listed(lost)}")
    if unseen := sorted(set(true) - set(found)):
        notes.append(f"truths without a frame: {_listed(unseen)}")
    return notes


def _listed(frames: Any, most: int = 12) -> str:
    numbers = sorted(frames)
    return ", ".join(map(str, numbers[:most])) + (", …" if len(numbers) > most else "")


def _interval(values: list[float]) -> list[float] | None:
    """The 95 % interval of the mean, frames drawn anew."""
    from plenodepth.evaluate.bootstrap import bootstrap_interval

    if len(values) < LEAST_TO_DRAW:
        return None
    drawn = bootstrap_interval(values)
    return [drawn.low, drawn.high]


def _print(content: dict[str, Any]) -> None:
    columns = ("frame", "pixels", "complete", "median", "mean", "RMSE", "bias")
    table = plain_table(f"{content['prediction']} against {content['truth']}, |difference| [mm]", *columns)
    for row in content["frames"]:
        figures = [f"{row[name]:.3f}" for name in MEAN[1:4]]
        table.add_row(
            str(row["frame"]),
            str(row["pixels"]),
            f"{100 * row['completeness']:.1f} %",
            *figures,
            f"{row['bias_mm']:+z.3f}",
        )
    console().print(table, "")
    interval = content["interval_median_ad_mm"]
    said = "" if interval is None else f" (95 % interval {interval[0]:.3f} … {interval[1]:.3f})"
    mean = content["mean_of_frames_median_ad_mm"]
    console().print(f"mean of {len(content['frames'])} frames: median |difference| {mean:.3f} mm{said}")
    say_notes(content["notes"])
