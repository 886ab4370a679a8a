"""The report of a reproduction: what was reached and what was not, experiment by experiment, and how it was made.

The same content is written twice: as one HTML page, and as Markdown with the figures in files beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenodepth.io import atomic_path
from plenodepth.studies.reproduction import results
from plenodepth.studies.reproduction.results import CalibratedParameters, Check, ReproductionResult
from plenodepth.view.reports.formats import MISSING, cell_text, duration, with_sigma, with_unit
from plenodepth.view.reports.page import Picture, Table, render
from plenodepth.view.reports.reproduction_pictures import experiment_pictures

HTML, MARKDOWN, FIGURES = "report.html", "report.md", "figures"
TITLE = "The paper's experiments, done again"
QUICK = "A quick run is compared with nothing: what is asked, and the paper's figures, are for the full run"
CHECK_COLUMNS = ("figure", "ours", "paper", "asked, at most", "reached")


@dataclass(frozen=True)
class Goals:
    """What was asked of the experiments: the verdict, what is not reached, and all checks."""

    verdict: str
    kind: str = ""  # of the verdict: "good", "bad" or neither
    missed: Sequence[str] = ()
    table: Table | None = None


@dataclass(frozen=True)
class Section:
    """A part of the report under a heading of its own."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()


def write_reproduction_report(result: ReproductionResult, out: Path) -> list[Path]:
    """Write report.html, report.md and figures/*.png into the folder `out`. Return their paths, HTML first."""
    context = report_context(result, out)
    folder = out / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{picture.name}.png": picture.png for part in context["sections"] for picture in part.pictures}
    texts = {
        out / HTML: render("reproduction.html.j2", **context).encode(),
        out / MARKDOWN: render("reproduction.md.j2", **context, figures=FIGURES).encode(),
    }
    for path, content in {**files, **texts}.items():
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    return [*texts, *files]


def report_context(result: ReproductionResult, out: Path) -> dict[str, Any]:
    """All that the templates show. `out` is the folder that paths in the result refer to."""
    experiments = [
        Section(
            experiment.title,
            experiment.text,
            [_experiment_table(table) for table in experiment.tables],
            list(experiment_pictures(experiment.values, out)),
        )
        for experiment in result.experiments.values()
    ]
    return {
        "title": TITLE,
        "lead": _lead(result),
        "goals": _goals(result),
        "sections": [
            *experiments,
            Section("How it was made", tables=_origin_tables(result)),
            *([Section("Calibrations", tables=[_calibration_table(result.calibration)])] if result.calibration else []),
            Section("Time", tables=[_time_table(result)]),
        ],
    }


def _lead(result: ReproductionResult) -> str:
    source = "simulated twins of the paper's datasets" if result.data == "twins" else f"data in {result.data}"
    size = ", in quick mode (small sensors: figures are coarser than at full size)" if result.quick else ""
    return f"Ours on {source}{size}; the paper's figures are those of its real images."


def _goals(result: ReproductionResult) -> Goals:
    checks = result.checks
    if not checks:
        return Goals("Nothing was asked of these experiments.")
    if result.quick and all(check.met is None for _, check in checks):
        return Goals(f"{QUICK}.", table=_check_table(checks))
    asked = [check for _, check in checks if check.met is not None]
    missed = [missed_line(check) for check in asked if not check.met]
    table = _check_table(checks)
    if missed:
        verdict = f"{len(asked) - len(missed)} of {len(asked)} are reached. Not reached:"
        return Goals(verdict, "bad", missed, table)
    return Goals(f"All {len(asked)} are reached.", "good", table=table)


def _check_table(checks: Sequence[tuple[str, Check]]) -> Table:
    return Table(("experiment", *CHECK_COLUMNS), [[name, *check_cells(check)] for name, check in checks], left=(1, 5))


def check_cells(check: Check) -> list[str]:
    """The cells of a check below CHECK_COLUMNS."""
    met = {True: "yes", False: "NO", None: MISSING}[check.met]
    if check.is_statement:
        return [check.what, "holds" if check.ours else "does not hold", MISSING, MISSING, met]
    return [check.what, *(with_unit(figure, check.unit) for figure in (check.ours, check.paper, check.asked)), met]


def missed_line(check: Check) -> str:
    """A sentence about a check that is not met."""
    if check.is_statement:
        return f"does not hold: {check.what}"
    unit = check.unit
    paper = "" if check.paper is None else f", the paper has {with_unit(check.paper, unit)}"
    return f"{check.what}: {with_unit(check.ours, unit)}, asked {with_unit(check.asked, unit)}{paper}"


def _experiment_table(table: results.ResultTable) -> Table:
    """A table of an experiment as text; columns with words align left."""
    words = {place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, str)}
    rows = [[cell_text(cell) for cell in row] for row in table.rows]
    return Table(table.columns, rows, table.title, table.note, sorted(words))


def _origin_tables(result: ReproductionResult) -> list[Table]:
    settings = {
        "plenodepth": result.plenodepth,
        "mode": "quick" if result.quick else "full size",
        "seed": result.seed,
        "rays per pixel": result.rays,
        "data": result.data,
        "threads": result.threads,
        **result.versions,
    }
    tables = [Table(("setting, version", ""), [[name, str(value)] for name, value in settings.items()], left=(1,))]
    if result.checksums:
        tables.append(Table(("dataset", "checksum"), list(result.checksums.items()), left=(1,)))
    return tables


def _calibration_table(calibrations: Mapping[str, CalibratedParameters]) -> Table:
    names = dict.fromkeys(name for found in calibrations.values() for name in found.parameters)
    rows = [["RMSE of positions [px]", *(cell_text(found.rmse_uv) for found in calibrations.values())]]
    for name in names:
        pairs = (found.parameters.get(name) for found in calibrations.values())
        rows.append([name, *(MISSING if pair is None else with_sigma(float(pair[0]), pair[1]) for pair in pairs)])
    note = "Value ± σ; six digits where a parameter was held."
    return Table(("parameter", *calibrations), rows, note=note)


def _time_table(result: ReproductionResult) -> Table:
    planned = {stage.experiment: stage.seconds for stage in result.plan}
    took = {name: found.seconds for name, found in result.experiments.items()}
    rows = [[name, duration(planned.get(name)), duration(took.get(name))] for name in dict.fromkeys([*planned, *took])]
    rows.append(["all", duration(sum(planned.values())), duration(result.seconds)])
    note = (
        "Simulations and calibrations are done before the first experiment; only the last row holds their time. "
        "Results that an earlier run had left in the folder took no time again."
    )
    return Table(("stage", "planned", "took"), rows, note=note)
