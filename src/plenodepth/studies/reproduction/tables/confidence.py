"""Tables and checks of the experiment `confidence`: what confidence and σ are worth, and where errors come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from plenodepth.studies.reproduction.results import (
    Cell,
    Check,
    ConfidenceResult,
    MethodConfidence,
    RemainingErrors,
    ResultTable,
)
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks, check_holds

GAUSSIAN = ("68.3", "95.4", "99.7")  # % within 1, 2, 3 σ


class _Split(NamedTuple):
    """A way to split errors: title of its table, name of the column of groups, note."""

    title: str
    column: str
    note: str = ""


SPLITS = {
    "lens type": _Split("Errors by lens type", "lens type"),
    "boundary": _Split(
        "Errors by distance from occlusion boundaries",
        "micro-images",
        "A boundary is a jump of the true depth of more than 2 % from a micro-image to the next.",
    ),
    "contrast": _Split(
        "Errors by texture",
        "contrast, quarters",
        "Standard deviation of gray in a micro-image of the clean image, noise and all; white is 1. Quarters of all "
        "micro-images with a truth.",
    ),
    "confidence": _Split("Errors by confidence", "confidence, fifths", "Fifths of the micro-images with a depth."),
}
ORDER_COLUMNS = (
    "dataset", "method", "micro-images", "complete [%]", "mean |error| [%]", "surest half, by confidence [%]",
    "by σ [%]", "best half (oracle) [%]", "AUSE, confidence [%]", "σ [%]", "random [%]", "gain, confidence", "σ",
)  # fmt: skip
ORDER_NOTE = (
    "The least sure are taken away first. AUSE: area between this curve and that of the oracle, which knows the "
    "errors. Gain: 1 for the oracle's order, 0 for a random one."
)
SIGMA_NOTE = (
    "A spread of 1 is right; 2: errors are twice as large as σ says. Outliers decide the RMS, hardly the spread."
)


class _Row(NamedTuple):
    """One method on one dataset."""

    dataset: str
    label: str
    found: MethodConfidence


def confidence_tables(result: ConfidenceResult) -> TablesAndChecks:
    """Order, σ, and one table for each split; all errors in % of the true depth."""
    rows = [
        _Row(name, label, found)
        for name, dataset in result.datasets.items()
        for label, found in dataset.methods.items()
    ]
    if not rows:
        skipped = tuple(result.skipped.items())
        return TablesAndChecks((ResultTable("Nothing to compare with", ("dataset", "skipped"), skipped),), ())
    splits = (_split_table(rows, name, split) for name, split in SPLITS.items())
    checks = (_check_surest_half(rows, "confidence"), _check_surest_half(rows, "σ"))
    return TablesAndChecks((_order_table(rows, result.skipped), _sigma_table(rows), *splits), checks)


def _order_table(rows: Sequence[_Row], skipped: Mapping[str, str]) -> ResultTable:
    cells: list[tuple[Cell, ...]] = []
    for name, label, found in rows:
        order = found.sparsification
        half = _half(order)
        parts = (
            found.count / found.members, order.random,
            order.confidence[half], order.sigma[half], order.oracle[half],
            order.ause.confidence, order.ause.sigma, order.ause.random,
        )  # fmt: skip
        gains = order.gain.confidence, order.gain.sigma
        cells.append((name, label, found.members, *(100 * part for part in parts), *gains))
    note = " ".join([ORDER_NOTE, *(f"{name} {why}." for name, why in skipped.items())])
    return ResultTable("Are large errors where confidence is low?", ORDER_COLUMNS, tuple(cells), note)


def _sigma_table(rows: Sequence[_Row]) -> ResultTable:
    within = (f"within {limit} σ [%] (Gaussian: {share})" for limit, share in enumerate(GAUSSIAN, start=1))
    columns = ("dataset", "method", "robust spread of error/σ", "RMS", "median", *within)
    cells: list[tuple[Cell, ...]] = []
    for name, label, found in rows:
        sigma = found.sigma
        cells.append((name, label, sigma.spread, sigma.rms, sigma.bias, *(100 * share for share in sigma.within)))
    return ResultTable("Does σ tell the size of errors?", columns, tuple(cells), SIGMA_NOTE)


def _split_table(rows: Sequence[_Row], name: str, split: _Split) -> ResultTable:
    complete = name != "confidence"  # a micro-image without a depth has no confidence
    judged = ("Q25 |error| [%]", "median [%]", "Q75 [%]", "mean [%]", "bias [%]")
    columns = ("dataset", "method", split.column, "with depth", *(("complete [%]",) if complete else ()), *judged)
    cells: list[tuple[Cell, ...]] = []
    for dataset, label, found in rows:
        for row in found.splits.get(name, ()):
            parts = ((row.completeness,) if complete else ()) + (row.q25, row.median, row.q75, row.mean, row.bias)
            cells.append((dataset, label, row.group, row.count, *(100 * part for part in parts)))
    return ResultTable(split.title, columns, tuple(cells), split.note)


def _check_surest_half(rows: Sequence[_Row], by: str) -> Check:
    """Whether the surest half has smaller errors than all together, for every method on every dataset."""
    worse = []
    for name, label, found in rows:
        order = found.sparsification
        curve = order.confidence if by == "confidence" else order.sigma
        if not curve[_half(order)] < order.random:
            worse.append(f"{label} on {name}")
    what = f"the surest half by {by} has the smaller errors" + (f" (not: {', '.join(worse)})" if worse else "")
    return check_holds(what, not worse)


def _half(order: RemainingErrors) -> int:
    return len(order.removed) // 2
