"""Two results of the same kind: what a change did, and whether that is more than noise.

Numbers of like units (tiles of a map, frames, scenes) are compared unit by unit and the units drawn anew (paired
bootstrap): what makes a unit hard is the same in both results and drops out. An interval of the difference that holds
0 is "within noise". A number without units has a difference, but no interval, and no verdict. Tiles are of one frame:
what they say holds for this frame, and only frames or scenes say what holds for others.

For ε_z the units are frames, but the values belong to pairs of frames: frames are drawn, and a pair counts as often as
both of its frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.bootstrap import paired_bootstrap
from plenodepth.evaluate.frames.relative import pairs_interval, relative_depth_error
from plenodepth.evaluate.result_values import result_values
from plenodepth.io.reading import read_text
from plenodepth.io.strict_text import parse_by_suffix

Float64 = NDArray[np.float64]
Verdict = Literal["better", "worse", "within noise", "unknown"]

BOTH = "A, B"  # the field of errors that concern both results
LEAST_LEVEL = 0.5
LEAST_UNITS = 4
RESAMPLES = 4000
HIGHER_IS_BETTER = ("completeness", "gain", "precision", "recall", "f_score", "valid_fraction", "psnr", "ssim")
ZERO_IS_BEST = ("bias", "mean_u", "mean_v", "mbe")
NEITHER = ("pixels", "points", "pairs", "count", "frames", "depth", "place", "truth", "distance", "displacement",
           "threshold", "quantile_z", "median_z", "q25_z", "q75_z")  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One number in both results, and B − A."""

    name: str
    a: float
    b: float
    difference: float
    interval: tuple[float, float] | None  # of the difference; None where there are no units to draw
    units: int  # that both results have; 0 for a single number
    verdict: Verdict

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "name": self.name,
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "units": self.units,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class ResultComparison:
    """All changes from the result in one file to that in another."""

    a: Path
    b: Path
    level: float  # of the intervals
    changes: tuple[Change, ...]

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        changes = [change.content() for change in self.changes]
        return {"kind": "compare", "a": str(self.a), "b": str(self.b), "level": self.level, "changes": changes}


def compare_result_files(a: Path | str, b: Path | str, *, level: float = 0.95) -> ResultComparison:
    """Compare two results of one `evaluate` command in .json files, as `compare_results` does."""
    a, b = Path(a), Path(b)
    if not LEAST_LEVEL <= level < 1:
        raise InputError(f"is {level:g}", field="level", fix="give a number from 0.5 to 1, as 0.95")
    try:
        return ResultComparison(a, b, level, compare_results(_read_result(a), _read_result(b), level=level))
    except InputError as error:
        if error.field == BOTH:
            raise InputError(error.message, file=f"{a}, {b}", fix=error.fix) from None
        raise


def _read_result(path: Path) -> dict[str, Any]:
    fix = "give what an evaluate command prints with --json"
    if path.suffix.lower() != ".json":
        raise InputError("is no .json file", file=path, fix=fix)
    content = parse_by_suffix(read_text(path), path)
    if not isinstance(content, dict):
        raise InputError("is no result", file=path, fix=fix)
    return content


def compare_results(
    a: Mapping[str, Any], b: Mapping[str, Any], *, level: float = 0.95, seed: int = 0
) -> tuple[Change, ...]:
    """Changes of all numbers that both results have, in the order of A: single numbers first, then those of units.

    A single number whose name is that of a field of units (`mean_ad_mm` and `tiles.mean_ad_mm`) has their verdict in
    their line, not its own.
    """
    kinds = [str(content.get("kind", "")) for content in (a, b)]
    if kinds[0] != kinds[1]:
        raise InputError(f"are results of {kinds[0] or 'no kind'} and of {kinds[1] or 'no kind'}", field=BOTH)
    first, second = result_values(a), result_values(b)
    changes = [
        _single(name, value, second.numbers[name]) for name, value in first.numbers.items() if name in second.numbers
    ]
    if kinds[0] == "relative":
        changes.append(_relative(a, b, level, seed))
    for name, values in first.units.items():
        shared = [unit for unit in values if unit in second.units.get(name, {})]
        if shared and _sense(name) is not None:
            pairs = np.array([(values[unit], second.units[name][unit]) for unit in shared])
            changes.append(_of_units(name, pairs, level, seed))
    if not changes:
        raise InputError("have no number in common", field=BOTH, fix="compare results of the same command")
    return tuple(changes)


def _single(name: str, a: float, b: float) -> Change:
    return Change(name, a, b, b - a, None, 0, "unknown")


def _of_units(name: str, pairs: Float64, level: float, seed: int) -> Change:
    """Pairs (n, 2) of the values of A and B."""
    cost = pairs if _sense(name) != "zero" else np.abs(pairs)
    sign = -1.0 if _sense(name) == "higher" else 1.0
    difference = cost[:, 1] - cost[:, 0]
    interval = None
    if len(pairs) >= LEAST_UNITS:
        drawn = paired_bootstrap(cost[:, 1], cost[:, 0], level=level, seed=seed).interval
        interval = (drawn.low, drawn.high)
    label = f"|{name}|" if _sense(name) == "zero" else name
    mean = cost.mean(axis=0)
    return Change(
        label, float(mean[0]), float(mean[1]), float(difference.mean()), interval, len(pairs), _verdict(interval, sign)
    )


def _relative(a: Mapping[str, Any], b: Mapping[str, Any], level: float, seed: int) -> Change:
    """ε_z over the pairs of the frames that both results have a depth of."""
    depths = [_frames(content) for content in (a, b)]
    shared = [frame for frame in depths[0] if frame in depths[1]]
    if len(shared) < 2:
        raise InputError(f"share {len(shared)} frames with a depth, need 2", field=BOTH)
    places = np.array([depths[0][frame][1] for frame in shared])
    others = np.array([depths[1][frame][1] for frame in shared])
    if np.abs(np.diff(places) - np.diff(others)).max() > 1e-6:
        raise InputError("have frames at different true places", field=BOTH, fix="compare against the same truth")
    errors = [relative_depth_error([part[frame][0] for frame in shared], places) for part in depths]
    difference = errors[1].error - errors[0].error
    frames = np.arange(len(shared))
    low, high = pairs_interval(errors[0].pairs, difference, frames, level, RESAMPLES, seed)
    interval = None if np.isnan(low) else (low, high)
    return Change(
        "ε_z of the frames in common",
        errors[0].mean,
        errors[1].mean,
        float(difference.mean()),
        interval,
        len(shared),
        _verdict(interval, 1.0),
    )


def _frames(content: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    """Depth and place of each frame that has a depth."""
    try:
        rows = [(row["frame"], row["depth_mm"], row["place_mm"]) for row in content["frames"]]
        return {int(frame): (float(depth), float(place)) for frame, depth, place in rows if depth is not None}
    except (KeyError, TypeError, ValueError):
        raise InputError("is no list of frame, depth_mm and place_mm", field="frames") from None


def _verdict(interval: tuple[float, float] | None, sign: float) -> Verdict:
    """`sign` is 1 where less is better."""
    if interval is None:
        return "unknown"
    if interval[0] <= 0 <= interval[1]:
        return "within noise"
    return "better" if sign * interval[0] < 0 else "worse"


def _sense(name: str) -> Literal["lower", "higher", "zero"] | None:
    """Whether lower, higher or nearer to zero is better, by the last part of the name; None where none of them is."""
    last = name.rsplit(".", 1)[-1]
    if last.startswith(ZERO_IS_BEST):
        return "zero"
    if last.startswith(NEITHER):
        return None
    # An accuracy or completeness in mm is a distance.
    return "higher" if last.startswith(HIGHER_IS_BETTER) and not last.endswith("_mm") else "lower"
