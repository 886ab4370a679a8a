"""Depth maps in files against true ones: one map, or two folders of maps frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.bootstrap import bootstrap_interval
from plenodepth.evaluate.frames.depths import frame_files, listed_frames
from plenodepth.evaluate.maps.differences import DepthDifferences, depth_differences
from plenodepth.evaluate.maps.sparsification import Sparsification, sparsification_curves
from plenodepth.io.images import read_float_map, read_image
from plenodepth.io.maps.any_format import DepthValues, read_map
from plenodepth.progress import Progress, no_progress

BAD_PERCENT = (1.0, 2.0, 5.0)  # of the true depth
# A simulated frame has two truths, one for coarse and one for refined maps. The size of a map tells which is meant.
COARSE_TRUTHS = ("*/lens_depth.tiff",)
LEAST_FRAMES_FOR_INTERVAL = 4
FRAME_MEANS = ("completeness", "median_ad_mm", "mean_ad_mm", "rmse_mm", "bias_mm")  # figures that are averaged
READING = "reading"  # what `progress` is told is being done


@dataclass(frozen=True, eq=False)
class DepthComparison:
    """A depth map against the true one."""

    prediction: Path
    truth: Path
    differences: DepthDifferences
    sparsification: Sparsification | None  # where a map of confidence was given
    notes: tuple[str, ...]  # on how the files were read

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        figures: dict[str, Any] = {"kind": "depth", "prediction": str(self.prediction), "truth": str(self.truth)}
        figures |= self.differences.content()
        if self.sparsification is not None:
            figures["sparsification"] = self.sparsification.content()
        return {**figures, "notes": list(self.notes)}


@dataclass(frozen=True, eq=False)
class FrameComparison:
    """One frame of a folder of depth maps."""

    frame: int
    prediction: Path
    truth: Path
    differences: DepthDifferences

    def content(self) -> dict[str, Any]:
        """The figures for JSON, without tiles: here the frames are the units."""
        figures = self.differences.content(tiles=False)
        return {"frame": self.frame, "prediction": str(self.prediction), "truth": str(self.truth), **figures}


@dataclass(frozen=True, eq=False)
class FolderComparison:
    """A folder of depth maps against a folder of true ones, frame by frame."""

    prediction: Path
    truth: Path
    frames: tuple[FrameComparison, ...]
    interval: tuple[float, float] | None  # 95 % interval of the mean of the medians, mm; None for few frames
    notes: tuple[str, ...]

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        rows = [frame.content() for frame in self.frames]
        return {
            "kind": "depth",
            "prediction": str(self.prediction),
            "truth": str(self.truth),
            "frames": rows,
            **{f"mean_of_frames_{name}": sum(row[name] for row in rows) / len(rows) for name in FRAME_MEANS},
            "interval_median_ad_mm": None if self.interval is None else list(self.interval),
            "notes": list(self.notes),
        }


def compare_map_files(
    prediction: Path | str,
    truth: Path | str,
    *,
    mask: Path | str | None = None,
    confidence: Path | str | None = None,
    bad_percent: Sequence[float] = BAD_PERCENT,
    progress: Progress = no_progress,
) -> DepthComparison:
    """Compare a depth map with the true one of the same view and size, where both have a depth.

    `mask` is an image of that size: pixels of 0 do not count. `confidence` is a map (TIFF) that is judged by how well
    it orders the errors. A pixel is bad where it is off by more than `bad_percent` of its true depth.
    """
    prediction, truth = Path(prediction), Path(truth)
    true = _read_depths(truth)
    progress(1, 4, READING)
    found = _read_depths(prediction, true.values.shape)
    progress(2, 4, READING)
    wanted = None if mask is None else _read_mask(Path(mask), truth, true.values.shape)
    differences = _differences(prediction, found, truth, true, bad_percent, wanted)
    progress(3, 4, READING)
    curves = None if confidence is None else _judge_confidence(differences, Path(confidence))
    notes = (*notes_on(prediction, found.notes), *notes_on(truth, true.notes))
    return DepthComparison(prediction, truth, differences, curves, notes)


def compare_map_folders(
    prediction: Path | str,
    truth: Path | str,
    *,
    bad_percent: Sequence[float] = BAD_PERCENT,
    progress: Progress = no_progress,
) -> FolderComparison:
    """Compare the frames that two folders of depth maps have in common.

    A frame's number is the last one in the name of its file or folder. Maps without any depth are left out, and the
    notes say so.
    """
    prediction, truth = Path(prediction), Path(truth)
    found, true = frame_files(prediction), frame_files(truth)
    coarse = frame_files(truth, COARSE_TRUTHS) if any(truth.glob(COARSE_TRUTHS[0])) else {}
    shared = sorted(set(found) & set(true))
    if not shared:
        names = [listed_frames(sorted(frames)) for frames in (found, true)]
        message = f"has frames {names[0]}, {truth} {names[1]}: none in common"
        raise InputError(message, file=prediction, fix="frames are named by the last number of a file or its folder")
    rows, notes = list[FrameComparison](), _notes_on_unmatched(found, true)
    for index, frame in enumerate(shared):
        depths = read_map(found[frame])
        if np.isfinite(depths.values).any():
            truths = [true[frame], *([coarse[frame]] if frame in coarse else [])]
            path, true_depths = _truth_of_size(depths, found[frame], truths)
            differences = _differences(found[frame], depths, path, true_depths, bad_percent)
            rows.append(FrameComparison(frame, found[frame], path, differences))
            notes += [*notes_on(found[frame], depths.notes), *notes_on(path, true_depths.notes)]
        else:
            notes += notes_on(found[frame], ["has no depth at all, left out"])
        progress(index + 1, len(shared), "frames")
    if not rows:
        fix = "missing depth is NaN; are these the right maps?"
        raise InputError("no frame has any depth", file=prediction, fix=fix)
    interval = None
    if len(rows) >= LEAST_FRAMES_FOR_INTERVAL:
        drawn = bootstrap_interval([row.differences.median for row in rows])
        interval = (drawn.low, drawn.high)
    return FolderComparison(prediction, truth, tuple(rows), interval, tuple(notes))


def notes_on(path: Path, notes: Sequence[str]) -> list[str]:
    """Notes on how a file was read, with its name."""
    return [f"{path}: {note}" for note in notes]


def _read_depths(path: Path, shape: tuple[int, ...] | None = None) -> DepthValues:
    """A depth map that has some depth and, where it is given, the size (h, w)."""
    depths = read_map(path, shape=None if shape is None else (shape[0], shape[1]))
    if not np.isfinite(depths.values).any():
        raise InputError("has no depth at all", file=path, fix="missing depth is NaN; is this the right map?")
    if shape is not None:
        _require_size(depths.values, path, shape)
    return depths


def _require_size(values: NDArray[Any], path: Path, shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        fix = "one view, one size: lens_depth.tiff goes with coarse maps, depth.tiff with refined ones"
        message = f"is {values.shape[1]} × {values.shape[0]}, the truth {shape[1]} × {shape[0]}"
        raise InputError(message, file=path, fix=fix)


def _read_mask(path: Path, truth: Path, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    image = read_image(path)
    wanted: NDArray[np.bool_] = (image if image.ndim == 2 else image.max(axis=2)) > 0
    if wanted.shape != shape:
        message = f"is {wanted.shape[1]} × {wanted.shape[0]}, {truth} {shape[1]} × {shape[0]}"
        raise InputError(message, file=path, field="mask", fix="give a mask of the maps' size")
    if not wanted.any():
        raise InputError("is 0 everywhere", file=path, field="mask", fix="pixels that count are > 0")
    return wanted


def _differences(
    prediction: Path,
    found: DepthValues,
    truth: Path,
    true: DepthValues,
    bad_percent: Sequence[float],
    mask: NDArray[np.bool_] | None = None,
) -> DepthDifferences:
    """The differences of two maps; an error names the file of the map that it is about."""
    try:
        return depth_differences(
            found.values, true.values, mask=mask, bad_parts=[percent / 100 for percent in bad_percent]
        )
    except InputError as error:
        file = {"reading": prediction, "reference": truth}.get(error.field or "")
        raise InputError(error.message, file=file, field=None if file else error.field, fix=error.fix) from None


def _judge_confidence(differences: DepthDifferences, path: Path) -> Sparsification:
    confidence = read_float_map(path)
    _require_size(confidence, path, differences.signed.shape)
    try:
        return sparsification_curves(differences.signed, confidence)
    except InputError as error:
        raise error.in_file(path) from None


def _truth_of_size(found: DepthValues, prediction: Path, truths: Sequence[Path]) -> tuple[Path, DepthValues]:
    """The one of a frame's truths that has the size of the map."""
    sizes = []
    for truth in truths:
        true = read_map(truth)
        if true.values.shape == found.values.shape:
            return truth, true
        sizes.append(f"{truth} {true.values.shape[1]} × {true.values.shape[0]}")
    height, width = found.values.shape
    raise InputError(f"is {width} × {height}, {', '.join(sizes)}", file=prediction, fix="one view, one size")


def _notes_on_unmatched(found: dict[int, Path], true: dict[int, Path]) -> list[str]:
    unmatched = {
        "frames without a truth, left out": sorted(set(found) - set(true)),
        "truths without a frame": sorted(set(true) - set(found)),
    }
    return [f"{what}: {listed_frames(frames)}" for what, frames in unmatched.items() if frames]
