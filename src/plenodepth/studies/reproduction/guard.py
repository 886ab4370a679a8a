"""A guard of the figures that a reproduction reaches: each has a stated interval, and leaving it is a violation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plenodepth.errors import InputError
from plenodepth.io import atomic_path

Values = Mapping[str, Any]
MARGIN = 0.25  # part of a figure that it may move by: other machines round differently, and minima flip
SETTINGS = ("quick", "seed", "rays")
FLOORS = {  # in the unit of the figures
    "relative": 0.001, "scale": 0.001, "absolute": 0.5, "disparity": 0.001, "distortion": 1e-5, "confidence": 0.001,
}  # fmt: skip


def figures(results: Values) -> dict[str, float]:
    """The figures of all experiments by name, as `relative/r12-a/BLADE`; parts (0.01 = 1 %) or mm, small is good."""
    found: dict[str, float] = {}
    for name, experiment in results["experiments"].items():
        for path, value in _figures(name, experiment["values"]):
            found[f"{name}/{path}"] = float("nan") if value is None else float(value)
    return found


def _figures(name: str, values: Values) -> Iterator[tuple[str, float | None]]:
    if name == "relative":
        for dataset, methods in values["datasets"].items():
            yield from ((f"{dataset}/{label}", found["mean"]) for label, found in methods.items())
        yield from ((f"a, b, c/{label}", found["mean"]) for label, found in values["over_a_b_c"].items())
    elif name == "scale":
        for dataset, methods in values["datasets"].items():
            yield from ((f"{dataset}/{label}", found["median_size_after"]) for label, found in methods.items())
    elif name == "absolute":
        for scene, methods in values["scenes"].items():
            yield from ((f"{scene}/{label}", found["median"]) for label, found in methods.items())
        yield from ((f"all scenes/{label}", mean) for label, mean in values["means"].items())
    elif name == "disparity":
        yield from ((which, values[which]["mean"]) for which in ("corrected", "uncorrected"))
    elif name == "distortion":
        yield from ((dataset, found["rmse_mm"]) for dataset, found in values["datasets"].items())
    elif name == "confidence":
        for dataset, found in values["datasets"].items():
            for label, judged in found["methods"].items():
                ause = judged["sparsification"]["ause"]
                yield from ((f"{dataset}/{label}/AUSE by {by}", ause[by]) for by in ("confidence", "sigma"))


def compare(results: Values, expectations: Values) -> list[str]:
    """Violations in words; none if all expected figures are there and within their intervals.

    `expectations` has the settings they hold for, and `figures`: by name `{"value", "low", "high"}`, an end that is
    null being open. Experiments that are not in the results are left out, since one may run some of them alone.
    """
    violations = [
        f"{name} is {results[name]}, expectations are for {expectations[name]}"
        for name in SETTINGS
        if results[name] != expectations[name]
    ]
    found = figures(results)
    for name, expected in expectations["figures"].items():
        if name.split("/")[0] not in results["experiments"]:
            continue
        value = found.get(name, float("nan"))
        low, high = (expected[end] for end in ("low", "high"))
        if not math.isfinite(value):
            violations.append(f"{name}: no figure, expected {expected['value']:.4g}")
        elif high is not None and value > high:
            violations.append(f"{name}: {value:.4g} is above {high:.4g} (expected {expected['value']:.4g})")
        elif low is not None and value < low:
            better = "smaller than ever: if that is right, write new expectations"
            violations.append(f"{name}: {value:.4g} is below {low:.4g} (expected {expected['value']:.4g}; {better})")
    return violations


def expectations_of(results: Values, margin: float = MARGIN) -> dict[str, Any]:
    """Expectations that results meet: intervals of ± `margin` of each figure, and a little more for tiny ones."""
    expected = {}
    for name, value in figures(results).items():
        if not math.isfinite(value):
            raise InputError("has no value", field=name, fix="expectations need a run in which all went well")
        room = margin * abs(value) + FLOORS[name.split("/")[0]]
        expected[name] = {
            "value": _rounded(value),
            "low": _rounded(max(0, value - room)),
            "high": _rounded(value + room),
        }
    return {**{name: results[name] for name in SETTINGS}, "figures": expected}


def write_expectations(results: Values, path: Path, margin: float = MARGIN) -> None:
    """Write `expectations_of` as a JSON file to be committed."""
    text = json.dumps(expectations_of(results, margin), indent=1, ensure_ascii=False, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_expectations(path: Path) -> dict[str, Any]:
    """Of a file that `write_expectations` wrote."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", file=path) from None
    return content


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
