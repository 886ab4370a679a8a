"""The report of a reproduction: what was reached and what was not, experiment by experiment, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plenodepth.io import atomic_path
from plenodepth.view.figures.save import save_figure
from plenodepth.view.reports.blocks import Block, Heading, Picture, Table, Text, as_html, as_markdown
from plenodepth.view.reports.numbers import with_sigma
from plenodepth.view.reports.reproduction_pictures import pictures

HTML, MARKDOWN, FIGURES = "report.html", "report.md", "figures"
TITLE = "The paper's experiments, done again"
NONE = "–"


def write_reproduction_report(result: Mapping[str, Any], out: Path) -> list[Path]:
    """Write report.html, report.md and figures/*.png of a result into the folder `out`; their paths, HTML first."""
    blocks = list(report_blocks(result, out))
    folder = out / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for block in blocks:
        if isinstance(block, Picture):
            written.append(folder / f"{block.name}.png")
            save_figure(block.figure, written[-1], dpi=120)
    texts = {HTML: as_html(TITLE, blocks), MARKDOWN: as_markdown(TITLE, blocks, FIGURES)}
    for name, text in texts.items():
        with atomic_path(out / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [*(out / name for name in texts), *written]


def report_blocks(result: Mapping[str, Any], out: Path) -> Iterator[Block]:
    """All of the report, in order."""
    yield from _summary(result)
    for name, experiment in result["experiments"].items():
        yield Heading(experiment["title"])
        yield Text(experiment["text"])
        for table in experiment["tables"]:
            rows = [[cell_text(cell) for cell in row] for row in table["rows"]]
            yield Table(table["columns"], rows, table["title"], table.get("note") or "", _text_columns(table["rows"]))
        yield from pictures(name, experiment["values"], out)
    yield from _origin(result)
    yield from _calibrations(result.get("calibration", {}))
    yield from _times(result)


def _summary(result: Mapping[str, Any]) -> Iterator[Block]:
    source = "simulated twins of the paper's datasets" if result["data"] == "twins" else f"data in {result['data']}"
    size = ", in quick mode (small sensors: figures are coarser than at full size)" if result["quick"] else ""
    yield Text(f"Ours on {source}{size}; the paper's figures are those of its real images.")
    yield Heading("What was asked, and what was reached")
    checks = [(name, check) for name, found in result["experiments"].items() for check in found["checks"]]
    asked = [check for _, check in checks if check["met"] is not None]
    missed = [check for check in asked if not check["met"]]
    if not checks:
        yield Text("Nothing was asked of these experiments.")
        return
    if missed:
        yield Text(f"{len(asked) - len(missed)} of {len(asked)} are reached. Not reached:", "bad")
        for check in missed:
            yield Text(missed_line(check), "bad")
    else:
        yield Text(f"All {len(asked)} are reached.", "good")
    rows = [[name, *check_cells(check)] for name, check in checks]
    yield Table(("experiment", *CHECK_COLUMNS), rows, left=(1, 5))


CHECK_COLUMNS = ("figure", "ours", "paper", "asked, at most", "reached")


def check_cells(check: Mapping[str, Any]) -> list[str]:
    """A check as text: what, ours, the paper's, what was asked, whether it is met."""
    met = {True: "yes", False: "NO", None: NONE}[check["met"]]
    if is_statement(check):
        return [check["what"], "holds" if check["met"] else "does not hold", NONE, NONE, met]
    return [check["what"], *(_with_unit(check[field], check["unit"]) for field in ("ours", "paper", "asked")), met]


def missed_line(check: Mapping[str, Any]) -> str:
    """What is not reached, in a sentence."""
    if is_statement(check):
        return f"does not hold: {check['what']}"
    unit = check["unit"]
    paper = "" if check["paper"] is None else f", the paper has {_with_unit(check['paper'], unit)}"
    return f"{check['what']}: {_with_unit(check['ours'], unit)}, asked {_with_unit(check['asked'], unit)}{paper}"


def is_statement(check: Mapping[str, Any]) -> bool:
    """Whether a check is of something that holds or does not, and not of a figure."""
    return check["met"] is not None and check["asked"] is None


def _with_unit(value: float | None, unit: str) -> str:
    return NONE if value is None else f"{cell_text(value)} {unit}".rstrip()


def cell_text(cell: str | float | bool | None) -> str:
    """A cell of a table: four digits of a number, a dash for nothing."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return NONE
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.1f}" if 1000 <= abs(cell) < 1e6 else f"{cell:.4g}"
    return str(cell)


def _text_columns(rows: list[list[Any]]) -> tuple[int, ...]:
    """Columns that hold words."""
    count = max((len(row) for row in rows), default=0)
    return tuple(n for n in range(count) if any(isinstance(row[n], str) for row in rows if n < len(row)))


def _origin(result: Mapping[str, Any]) -> Iterator[Block]:
    yield Heading("How it was made")
    settings = {
        "plenodepth": result["plenodepth"],
        "mode": "quick" if result["quick"] else "full size",
        "seed": result["seed"],
        "rays per pixel": result["rays"],
        "data": result["data"],
        "threads": result["threads"],
    }
    rows = [[name, str(value)] for name, value in {**settings, **result["versions"]}.items()]
    yield Table(("setting, version", ""), rows, left=(1,))
    sums = [[name, value] for name, value in result["checksums"].items()]
    if sums:
        yield Table(("dataset", "checksum"), sums, left=(1,))


def _calibrations(calibration: Mapping[str, Any]) -> Iterator[Block]:
    if not calibration:
        return
    yield Heading("Calibrations")
    names = list(dict.fromkeys(name for found in calibration.values() for name in found["parameters"]))
    rows = [["RMSE of positions [px]", *(cell_text(found["rmse_uv"]) for found in calibration.values())]]
    for name in names:
        rows.append([name, *(_parameter(found["parameters"].get(name)) for found in calibration.values())])
    yield Table(("parameter", *calibration), rows, note="Value ± σ; six digits where a parameter was held.")


def _parameter(pair: tuple[float, float | None] | None) -> str:
    return NONE if pair is None else with_sigma(float(pair[0]), pair[1])


def _times(result: Mapping[str, Any]) -> Iterator[Block]:
    yield Heading("Time")
    planned = {row["experiment"]: row["seconds"] for row in result["plan"]}
    took = {name: found["seconds"] for name, found in result["experiments"].items()}
    rows = [
        [name, duration(planned.get(name)), duration(took.get(name))]
        for name in [*planned, *(name for name in took if name not in planned)]
    ]
    rows.append(["all", duration(sum(planned.values())), duration(result["seconds"])])
    note = (
        "An experiment's time holds that of simulations and calibrations which it was the first to need. Steps that an "
        "earlier run had left in the folder took no time again."
    )
    yield Table(("stage", "planned", "took"), rows, note=note)


def duration(seconds: float | None) -> str:
    """`95 s`, `12 min`, `3 h 05 min`."""
    if seconds is None:
        return NONE
    if seconds < 120:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
