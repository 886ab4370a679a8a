"""Tables and checks of the experiment `absolute`: differences of central depth maps beside the paper's table 2."""

from __future__ import annotations

from collections.abc import Callable

from plenodepth.studies.reproduction import published
from plenodepth.studies.reproduction.results import AbsoluteResult, Cell, Check, ResultTable
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks, check_at_most, check_holds

BAD = ("1 %", "2 %", "5 %")
MORE_COLUMNS = (
    "method", "scene", "bias [mm]", "mean |difference| [mm]", "complete [%]", "off by > 1 % [%]", "> 2 %", "> 5 %",
)  # fmt: skip


def absolute_tables(result: AbsoluteResult) -> TablesAndChecks:
    """Quartiles of the absolute difference by method and scene, and other figures of the same maps."""
    more: tuple[tuple[Cell, ...], ...] = tuple(
        (label, scene, found.bias, found.mean, found.completeness, *(found.bad[part] for part in BAD))
        for scene, methods in result.scenes.items()
        for label, found in methods.items()
    )
    best = min(result.means, key=result.means.__getitem__)
    checks = (
        check_at_most(
            f"mean over the scenes of the median difference, best variant ({best})",
            result.means[best],
            "mm",
            paper=published.ABSOLUTE["B/C/S"][-1],
            asked=published.ASKED_ABSOLUTE,
        ),
        _check_order(result, "B is better than D", lambda label: "D" + label[1:] if label[0] == "B" else None),
        _check_order(result, "S is better than U", _unscaled),
    )
    return TablesAndChecks((_medians(result), ResultTable("The same in other words", MORE_COLUMNS, more)), checks)


def _medians(result: AbsoluteResult) -> ResultTable:
    columns = ["method"]
    for scene in result.scenes:
        columns += [f"{scene}: Q25", "median", "Q75", "paper"]
    columns += ["mean of medians", "paper", "difference"]
    rows: list[tuple[Cell, ...]] = []
    for label, mean in result.means.items():
        theirs = published.ABSOLUTE.get(label)
        row: list[Cell] = [label]
        for scene, methods in result.scenes.items():
            found = methods[label]
            paper = theirs[published.SCENES.index(scene)] if theirs else None
            row += [found.q25, found.median, found.q75, paper]
        row += [mean, theirs[-1] if theirs else None, mean - theirs[-1] if theirs else None]
        rows.append(tuple(row))
    return ResultTable("Absolute difference of central sub-aperture depth maps, mm", tuple(columns), tuple(rows))


def _unscaled(label: str) -> str | None:
    return label[:-1] + "U" if label[-1] == "S" and label[0] in "BD" else None


def _check_order(result: AbsoluteResult, what: str, worse_of: Callable[[str], str | None]) -> Check:
    """Whether every variant has a smaller median than the one that should be worse, in every scene.

    `worse_of` a label is the variant that it is compared with, or None.
    """
    failed, total = [], 0
    for scene, found in result.scenes.items():
        for label in found:
            other = worse_of(label)
            if other is not None and other in found:
                total += 1
                if found[label].median >= found[other].median:
                    failed.append(f"{label} in {scene}")
    text = f"{what} in every scene" + (f" (not: {', '.join(failed)})" if failed else f" ({total} comparisons)")
    return check_holds(text, not failed)
