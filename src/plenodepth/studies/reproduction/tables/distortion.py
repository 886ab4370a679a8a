"""Table of the experiment `distortion`: coefficients of either direction beside the paper's."""

from __future__ import annotations

from plenodepth.studies.reproduction import published
from plenodepth.studies.reproduction.results import Cell, DistortionResult, ResultTable
from plenodepth.studies.reproduction.tables.parts import TablesAndChecks

COEFFICIENTS = ("Q1 · 1e5", "Q2 · 1e6", "Q3 · 1e8", "P1 · 1e5", "P2 · 1e5")
NOTE = "The twins have the paper's direct coefficients, ours come from their images. The paper has 1e-5 mm left."


def distortion_tables(result: DistortionResult) -> TablesAndChecks:
    """Coefficients in the paper's units, and what is left after both directions. Nothing is asked of them."""
    columns = ("dataset", "", *(part for name in COEFFICIENTS for part in (name, "paper")), "left after both [mm]")
    rows: list[tuple[Cell, ...]] = []
    for dataset, found in result.datasets.items():
        ours = {"direct": found.direct, "inverse": found.inverse}
        for direction, theirs in zip(ours, published.DISTORTION[dataset], strict=True):
            row: list[Cell] = [dataset, direction]
            for value, unit, paper in zip(ours[direction], published.DISTORTION_UNITS, theirs, strict=True):
                row += [value / unit, paper]
            rows.append((*row, found.rmse_mm if direction == "inverse" else None))
    return TablesAndChecks((ResultTable("Distortion", columns, tuple(rows), NOTE),), ())
