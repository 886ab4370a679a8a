"""A guard of the figures that a reproduction reaches: each has a stated interval, and leaving it is a violation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from plenodepth.errors import InputError
from plenodepth.io import atomic_path
from plenodepth.studies.reproduction.results import (
    AbsoluteResult,
    ConfidenceResult,
    DisparityResult,
    DistortionResult,
    RelativeResult,
    ReproductionResult,
    ScaleResult,
    Values,
    ViewsResult,
)

MARGIN = 0.25  # part of a figure that it may move by: other machines round differently, and minima flip
FLOORS = {  # least room on either side, in the unit of the figures
    "relative": 0.001, "scale": 0.001, "absolute": 0.5, "disparity": 0.001, "distortion": 1e-5, "confidence": 0.001,
    "views": 0.001,
}  # fmt: skip


@dataclass(frozen=True)
class ExpectedFigure:
    """A figure and the interval that it must stay in; an end that is None is open."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Expectations:
    """The settings of a run, and the figures expected of it by name."""

    quick: bool
    seed: int
    rays: int
    figures: Mapping[str, ExpectedFigure]


def figures(result: ReproductionResult) -> dict[str, float]:
    """The figures of all experiments by name, as `relative/r12-a/BLADE`; parts (0.01 = 1 %) or mm, small is good."""
    return {
        f"{name}/{path}": value
        for name, experiment in result.experiments.items()
        for path, value in _figures(experiment.values)
    }


def _figures(values: Values) -> Iterator[tuple[str, float]]:
    match values:
        case RelativeResult():
            for dataset, methods in values.datasets.items():
                yield from ((f"{dataset}/{label}", found.mean) for label, found in methods.items())
            yield from ((f"a, b, c/{label}", found.mean) for label, found in values.over_a_b_c.items())
        case ScaleResult():
            for dataset, scales in values.datasets.items():
                yield from ((f"{dataset}/{label}", found.median_size_after) for label, found in scales.items())
        case AbsoluteResult():
            for scene, differences in values.scenes.items():
                yield from ((f"{scene}/{label}", found.median) for label, found in differences.items())
            yield from ((f"all scenes/{label}", mean) for label, mean in values.means.items())
        case DisparityResult():
            yield "corrected", values.corrected.mean
            yield "uncorrected", values.uncorrected.mean
        case DistortionResult():
            yield from ((dataset, found.rmse_mm) for dataset, found in values.datasets.items())
        case ConfidenceResult():
            for dataset, judged in values.datasets.items():
                for label, method in judged.methods.items():
                    yield f"{dataset}/{label}/AUSE by confidence", method.sparsification.ause.confidence
                    yield f"{dataset}/{label}/AUSE by sigma", method.sparsification.ause.sigma
        case ViewsResult():
            for scene, view in values.scenes.items():
                ours, tiled = (10 ** (-found.psnr / 20) for found in (view.all_in_focus, view.tiled))
                yield f"{scene}/RMS of sRGB", ours
                yield f"{scene}/RMS of sRGB over that of tiling", ours / tiled
                if view.all_in_focus.mtf50 is not None:
                    yield f"{scene}/px per cycle at half contrast", 1 / view.all_in_focus.mtf50


def check_expectations(result: ReproductionResult, expectations: Expectations) -> list[str]:
    """Violations in words; none if all expected figures are there and within their intervals.

    Experiments that are not in the result are left out, since one may run some of them alone.
    """
    violations = [
        f"{name} is {ours}, expectations are for {theirs}"
        for name in ("quick", "seed", "rays")
        if (ours := getattr(result, name)) != (theirs := getattr(expectations, name))
    ]
    found = figures(result)
    for name, expected in expectations.figures.items():
        if name.split("/")[0] not in result.experiments:
            continue
        value = found.get(name, float("nan"))
        if not math.isfinite(value):
            violations.append(f"{name}: no figure, expected {expected.value:.4g}")
        elif expected.high is not None and value > expected.high:
            violations.append(f"{name}: {value:.4g} is above {expected.high:.4g} (expected {expected.value:.4g})")
        elif expected.low is not None and value < expected.low:
            better = f"expected {expected.value:.4g}; smaller than ever: if that is right, write new expectations"
            violations.append(f"{name}: {value:.4g} is below {expected.low:.4g} ({better})")
    return violations


def expectations_of(result: ReproductionResult, margin: float = MARGIN) -> Expectations:
    """Expectations that a result meets: intervals of ± `margin` of each figure, and a little more for tiny ones."""
    expected = {}
    for name, value in figures(result).items():
        if not math.isfinite(value):
            raise InputError("has no value", field=name, fix="expectations need a run in which all went well")
        room = margin * abs(value) + FLOORS[name.split("/")[0]]
        expected[name] = ExpectedFigure(_rounded(value), _rounded(max(0, value - room)), _rounded(value + room))
    return Expectations(result.quick, result.seed, result.rays, expected)


def save_expectations(expectations: Expectations, path: Path) -> None:
    """Write expectations as a JSON file to be committed."""
    text = json.dumps(asdict(expectations), indent=1, ensure_ascii=False, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def load_expectations(path: Path) -> Expectations:
    """Read what `save_expectations` wrote."""
    try:
        return TypeAdapter(Expectations).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", file=path) from None


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
