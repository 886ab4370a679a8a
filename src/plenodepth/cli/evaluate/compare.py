"""`plenodepth evaluate compare`: what a change did to a result, and whether it is more than noise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.evaluate.options import errors_name_options
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json

if TYPE_CHECKING:
    from plenodepth.evaluate.compare import Change

FEW = 10  # units, below which percentiles of draws say too little


def compare(
    before: Annotated[Path, typer.Argument(metavar="A.json", help="Result of an evaluate command with --json.")],
    after: Annotated[Path, typer.Argument(metavar="B.json", help="The same after the change.")],
    level: Annotated[float, typer.Option("--level", help="Of the intervals.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Compare two results, B − A: better, worse, or within noise.

    Values of tiles, frames or scenes are compared one by one, and those units drawn anew (paired bootstrap): a
    difference whose interval holds 0 is noise. Single numbers have no interval; look at the units' lines.

    Example: [bold]plenodepth evaluate compare before.json after.json[/bold]
    """
    from plenodepth.evaluate.compare import compare_result_files

    with errors_name_options(level="--level"):
        result = compare_result_files(before, after, level=level)
    if as_json:
        print_json(result.content())
        return
    _print(result.changes, level)


def _print(changes: tuple[Change, ...], level: float) -> None:
    judged = [change for change in changes if change.units]
    single = [change for change in changes if not change.units]
    if judged:
        title = f"B − A by units, with {100 * level:g} % intervals"
        table = plain_table(title, "mean of", "", "A", "B", "B − A", "interval", "n")
        table.columns[0].overflow = "fold"
        for column in table.columns[1:]:  # in a narrow window the names fold, not the verdicts
            column.no_wrap = True
        for change in judged:
            name, *numbers = _cells(change)
            table.add_row(name, _said(change), *numbers, _interval(change), str(change.units))
        console().print(table)
    if single:
        if judged:
            console().print()
        table = plain_table("Single numbers, without intervals", "", "A", "B", "B − A")
        for change in single:
            table.add_row(*_cells(change))
        console().print(table)
    verdicts = [change.verdict for change in judged]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in ("better", "worse", "within noise"))
    if judged:
        console().print(f"\n{counted}")
    if any(change.interval is not None and change.units < FEW for change in judged):
        console().print(f"note: intervals of fewer than {FEW} units come out too narrow")
    if any(change.name.lstrip("|").split(".")[-2:-1] == ["tiles"] for change in judged):
        console().print("note: tiles are of one frame; whether this holds for others, only several frames can tell")


def _cells(change: Change) -> tuple[str, str, str, str]:
    return (
        change.name,
        _number(change.a),
        _number(change.b),
        f"{'+' if change.difference > 0 else ''}{_number(change.difference)}",
    )


def _interval(change: Change) -> str:
    return "–" if change.interval is None else f"{change.interval[0]:.3g} … {change.interval[1]:.3g}"


def _said(change: Change) -> str:
    return "too few units" if change.verdict == "unknown" else change.verdict


def _number(value: float) -> str:
    return f"{value:.4g}" if not value or abs(math.log10(abs(value))) < 5 else f"{value:.3e}"
