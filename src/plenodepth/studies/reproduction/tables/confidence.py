"""Confidence and σ as tables: what they are worth, and where errors come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plenodepth.studies.reproduction.tables.tables import Cell, holds, table

Values = Mapping[str, Any]
Tables = tuple[list[dict[str, Any]], list[dict[str, Any]]]
GAUSSIAN = ("68.3", "95.4", "99.7")  # % within 1, 2, 3 σ
SPLITS = {
    "lens type": ("Errors by lens type", "lens type", ""),
    "boundary": (
        "Errors by distance from occlusion boundaries",
        "micro-images",
        "A boundary is a jump of the true depth of more than 2 % from a micro-image to the next.",
    ),
    "contrast": (
        "Errors by texture",
        "contrast, quarters",
        "Standard deviation of gray in a micro-image of the clean image, noise and all; white is 1. Quarters of all "
        "micro-images with a truth.",
    ),
    "confidence": ("Errors by confidence", "confidence, fifths", "Fifths of the micro-images with a depth."),
}


def confidence_tables(values: Values) -> Tables:
    """Order, σ, and one table for each split; all errors in % of the true depth."""
    skipped = " ".join(f"{name} {why}." for name, why in values["skipped"].items())
    rows = list(_methods(values))
    if not rows:
        left_out: list[list[Cell]] = [[name, why] for name, why in values["skipped"].items()]
        return [table("Nothing to compare with", ["dataset", "skipped"], left_out)], []
    tables = [_order_table(rows, skipped), _sigma_table(rows)]
    for split, (title, column, note) in SPLITS.items():
        tables.append(_split_table(rows, split, title, column, note))
    return tables, [_orders(rows, "confidence"), _orders(rows, "sigma")]


def _methods(values: Values) -> Iterator[tuple[str, str, Values]]:
    for name, dataset in values["datasets"].items():
        for label, found in dataset["methods"].items():
            yield name, label, found


def _order_table(rows: list[tuple[str, str, Values]], note: str) -> dict[str, Any]:
    columns = [
        "dataset", "method", "micro-images", "complete [%]", "mean |error| [%]", "surest half, by confidence [%]",
        "by σ [%]", "best half (oracle) [%]", "AUSE, confidence [%]", "σ [%]", "random [%]", "gain, confidence",
        "σ",
    ]  # fmt: skip
    cells: list[list[Cell]] = []
    for name, label, found in rows:
        order = found["sparsification"]
        half = len(order["removed"]) // 2
        ause, gain = order["ause"], order["gain"]
        parts = [found["count"] / found["members"], order["random"], *(order[by][half] for by in CURVES)]
        cells.append(
            [
                name,
                label,
                found["members"],
                *(100 * part for part in (*parts, ause["confidence"], ause["sigma"], ause["random"])),
                gain["confidence"],
                gain["sigma"],
            ]
        )
    said = (
        "The least sure are taken away first. AUSE: area between this curve and that of the oracle, which knows the "
        "errors. Gain: 1 for the oracle's order, 0 for a random one."
    )
    return table("Are large errors where confidence is low?", columns, cells, f"{said} {note}".strip())


CURVES = ("confidence", "sigma", "oracle")


def _sigma_table(rows: list[tuple[str, str, Values]]) -> dict[str, Any]:
    columns = ["dataset", "method", "robust spread of error/σ", "RMS", "median"]
    columns += [f"within {limit} σ [%] (Gaussian: {share})" for limit, share in enumerate(GAUSSIAN, start=1)]
    cells: list[list[Cell]] = [
        [name, label, s["spread"], s["rms"], s["bias"], *(100 * share for share in s["within"])]
        for name, label, s in ((name, label, found["sigma"]) for name, label, found in rows)
    ]
    note = "A spread of 1 is right; 2: errors are twice as large as σ says. Outliers decide the RMS, hardly the spread."
    return table("Does σ tell the size of errors?", columns, cells, note)


def _split_table(rows: list[tuple[str, str, Values]], split: str, title: str, column: str, note: str) -> dict[str, Any]:
    judged = ["Q25 |error| [%]", "median [%]", "Q75 [%]", "mean [%]", "bias [%]"]
    complete = [] if split == "confidence" else ["complete [%]"]  # what has no depth has no confidence
    columns = ["dataset", "method", column, "with depth", *complete, *judged]
    cells: list[list[Cell]] = []
    for name, label, found in rows:
        for row in found["splits"].get(split, ()):
            keys = [*(["completeness"] if complete else []), "q25", "median", "q75", "mean", "bias"]
            cells.append([name, label, row["group"], row["count"], *(100 * row[key] for key in keys)])
    return table(title, columns, cells, note)


def _orders(rows: list[tuple[str, str, Values]], by: str) -> dict[str, Any]:
    """Whether taking away the least sure half makes the rest better, everywhere."""
    worse = []
    for name, label, found in rows:
        order = found["sparsification"]
        if not order[by][len(order["removed"]) // 2] < order["random"]:
            worse.append(f"{label} on {name}")
    word = {"confidence": "confidence", "sigma": "σ"}[by]
    return holds(f"the surest half by {word} has the smaller errors" + (f" (not: {', '.join(worse)})" if worse else ""),
                 not worse)  # fmt: skip
