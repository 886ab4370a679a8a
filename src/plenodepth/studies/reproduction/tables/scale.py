"""Tables and checks of the experiment `scale`: Γ by dataset and method beside the paper's."""

from __future__ import annotations

from plenodepth.studies.reproduction import published
from plenodepth.studies.reproduction.results import Cell, Check, ResultTable, ScaleErrors, ScaleResult
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks, check_at_most, percent

COLUMNS = (
    "dataset", "method", "order", "γ2 · 1e5", "γ1", "γ0 [mm]", "median error before [%]", "after [%]",
    "median |error| after [%]", "boards not seen by the fit [%]", "paper: γ2 · 1e5", "γ1", "γ0", "median error [%]",
)  # fmt: skip
CHECKED = ("BLADE", "aware + Γ")
NOTE = (
    "Γ is fitted to boards across the axis, as in the paper, and the median is over them; the column before last "
    "of ours leaves each board out of the fit that it is judged by."
)


def scale_tables(result: ScaleResult) -> TablesAndChecks:
    """Γ by dataset and method, and the scale errors before and after it."""
    rows, checks = [], []
    for name, methods in result.datasets.items():
        for label, found in methods.items():
            rows.append(_row(name, label, found))
            if label in CHECKED:
                checks.append(_check(name, label, found))
    return TablesAndChecks((ResultTable("Depth scale Γ", COLUMNS, tuple(rows), NOTE),), tuple(checks))


def _row(name: str, label: str, found: ScaleErrors) -> tuple[Cell, ...]:
    theirs: tuple[Cell, ...] = (None, None, None, None)
    if label == "BLADE":
        theirs = published.SCALE[name]
    elif label == "BLADE, linear Γ" and name == "r12-c":
        theirs = (None, *published.SCALE_LINEAR_C)
    zero, one, two = found.depth_scale
    held_out = found.held_out.get(found.order)
    return (
        name,
        label,
        found.order,
        1e5 * two,
        one,
        zero,
        percent(found.median_before),
        percent(found.median_after),
        percent(found.median_size_after),
        percent(None if held_out is None else held_out.median),
        *theirs,
    )


def _check(name: str, label: str, found: ScaleErrors) -> Check:
    what = f"{name}: |median scale error| after correction, {label}"
    paper = abs(published.SCALE[name][3])
    return check_at_most(what, abs(100 * found.median_after), "%", paper=paper, asked=published.ASKED_SCALE)
