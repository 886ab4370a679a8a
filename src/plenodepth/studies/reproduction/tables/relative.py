"""Tables and checks of the experiments `relative` and `disparity`: ε_z beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plenodepth.studies.reproduction import published
from plenodepth.studies.reproduction.results import (
    Cell,
    Check,
    DisparityResult,
    RelativeErrors,
    RelativeResult,
    ResultTable,
)
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks, check_at_most, check_holds, percent

VENDOR = "RTRX"  # the vendor's program
TITLE = "Relative depth error ε_z, mean over all pairs of frames"
CHECKED = ("BLADE", "aware", "aware + Γ")


def relative_tables(result: RelativeResult) -> TablesAndChecks:
    """ε_z by dataset and method, beside the paper's means; other programs stand below our methods."""
    labels = [label for label in result.over_a_b_c if label not in result.others]
    tables, checks = [_means_table(result, labels)], list[Check]()
    if "BLADE" in labels and "r12-es" in result.datasets:
        tables.append(_es_table(result, labels))
        checks += _es_checks(result, labels)
    for label in CHECKED:
        if label in labels:
            checks += _mean_checks(result, label)
    return TablesAndChecks(tuple(tables), tuple(checks))


def _means_table(result: RelativeResult, labels: Sequence[str]) -> ResultTable:
    names = list(result.datasets)
    rows: list[tuple[Cell, ...]] = []
    for label in [*labels, *result.others]:
        paper, paper_spread = published.RELATIVE.get(label, (None, None))
        ours = (percent(_mean_of(result, name, label)) for name in names)
        over = result.over_a_b_c.get(label)
        mean, spread = (None, None) if over is None else (100 * over.mean, 100 * over.spread)
        difference = None if paper is None or mean is None else mean - paper
        rows.append((label, *ours, mean, spread, paper, paper_spread, difference))
    if VENDOR not in result.others:
        rows.append((f"{VENDOR} (vendor)", *[None] * (len(names) + 2), *published.RELATIVE[VENDOR], None))
    columns = (
        "method", *(f"{name} [%]" for name in names), "mean a, b, c [%]", "± [%]", "paper [%]", "± [%]", "difference",
    )  # fmt: skip
    notes = [f"{label}: {note}." for label, other in result.others.items() for note in other.notes]
    return ResultTable(TITLE, columns, tuple(rows), " ".join(notes))


def _mean_of(result: RelativeResult, name: str, label: str) -> float | None:
    found = result.datasets[name].get(label)
    return None if found is None else found.mean


def _es_table(result: RelativeResult, labels: Sequence[str]) -> ResultTable:
    found = result.datasets["r12-es"]
    shown = [*labels, *(label for label in result.others if label in found)]
    rows = [
        (label, 100 * found[label].mean, _interval(found[label]), published.RELATIVE_ES.get(label)) for label in shown
    ]
    return ResultTable("R12-ES", ("method", "ours [%]", "95 % interval", "paper [%]"), tuple(rows))


def _es_checks(result: RelativeResult, labels: Sequence[str]) -> Iterator[Check]:
    """ε_z on R12-ES of BLADE and of the best method that undoes the aperture's effect, and the size without Γ."""
    mean = {label: 100 * result.datasets["r12-es"][label].mean for label in labels}
    paper, asked = published.RELATIVE_ES["BLADE"], published.ASKED_ES
    yield check_at_most("r12-es: ε_z, BLADE", mean["BLADE"], "%", paper=paper, asked=asked)
    best = min((label for label in labels if label.startswith("aware")), key=mean.__getitem__, default=None)
    if best is not None:
        yield check_at_most(f"r12-es: ε_z, {best}", mean[best], "%", paper=paper, asked=asked)
    yield check_holds("r12-es: unscaled errors are of the paper's size (5 to 25 %)", 5 <= mean["BLADEu"] <= 25)


def _mean_checks(result: RelativeResult, label: str) -> Iterator[Check]:
    over, (paper, spread) = result.over_a_b_c[label], published.RELATIVE["BLADE"]
    what = f"r12-a, b, c: mean ε_z, {label}"
    yield check_at_most(what, 100 * over.mean, "%", paper=paper, asked=published.ASKED_ABC)
    what = f"r12-a, b, c: its spread, {label}"
    yield check_at_most(what, 100 * over.spread, "%", paper=spread, asked=published.ASKED_SPREAD)


def _interval(found: RelativeErrors) -> str:
    low, high = found.interval
    return f"{100 * low:.2f} … {100 * high:.2f}"


def disparity_tables(result: DisparityResult) -> TablesAndChecks:
    """ε_z with either formula of disparity."""
    ours = {"corrected": result.corrected.mean, "uncorrected": result.uncorrected.mean}
    rows = tuple((which, 100 * mean, published.DISPARITY[which]) for which, mean in ours.items())
    title = "R12-A, unscaled: ε_z by the formula of disparity"
    better = check_holds("corrected disparity is the better one", ours["corrected"] < ours["uncorrected"])
    return TablesAndChecks((ResultTable(title, ("formula", "ours [%]", "paper [%]"), rows),), (better,))
