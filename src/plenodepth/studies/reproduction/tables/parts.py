"""What all tables and checks of a reproduction are made of."""

from __future__ import annotations

from typing import NamedTuple

from plenodepth.studies.reproduction.results import Check, ResultTable


class TablesAndChecks(NamedTuple):
    """What the report shows of one experiment, beside its figures."""

    tables: tuple[ResultTable, ...]
    checks: tuple[Check, ...]


def check_at_most(what: str, ours: float, unit: str, *, paper: float | None, asked: float) -> Check:
    """A check that our figure is at most `asked`."""
    return Check(what, ours, paper, asked, unit, bool(ours <= asked))


def check_holds(what: str, true: bool) -> Check:
    """A check that a statement holds."""
    return Check(what, float(true), None, None, "", bool(true))


def percent(part: float | None) -> float | None:
    """A part in per cent; None stays None."""
    return None if part is None else 100 * part
