"""`plenodepth evaluate compare`: what a change did to a result, and whether it is more than noise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json
from plenodepth.errors import InputError

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
    from plenodepth.evaluate.compare import compare_results

    if not 0.5 <= level < 1:
        raise InputError(f"is {level:g}", field="--level", fix="give a number from 0.5 to 1, as 0.95")
    try:
        changes = compare_results(_result(before), _result(after), level=level)
    except InputError as error:
        if error.field == "A, B":
            raise InputError(f"{error.message}", file=f"{before}, {after}", fix=error.fix) from None
        raise
    if as_json:
        print_json({"kind": "compare", "a": str(before), "b": str(after), "level": level, "changes": _rows(changes)})
        return
    _print(changes, level)


def _result(path: Path) -> dict[str, Any]:
    from plenodepth.io import parse_by_suffix, read_text

    if path.suffix.lower() != ".json":
        raise InputError("is no .json file", file=path, fix="give what an evaluate command prints with --json")
    content = parse_by_suffix(read_text(path), path)
    if not isinstance(content, dict):
        raise InputError("is no result", file=path, fix="give what an evaluate command prints with --json")
    return content


def _rows(changes: tuple[Change, ...]) -> list[dict[str, Any]]:
    return [
        {
            "name": change.name,
            "a": change.a,
            "b": change.b,
            "difference": change.difference,
            "interval": None if change.interval is None else list(change.interval),
            "units": change.units,
            "verdict": change.verdict,
        }
        for change in changes
    ]


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
