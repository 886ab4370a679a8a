"""The report of a study of real lenses: tables of what each effect costs, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from plenodepth.io import atomic_path
from plenodepth.studies.optics.results import NoScale, OpticsResult, TwinErrors, WallErrors
from plenodepth.view.reports.formats import MISSING, duration
from plenodepth.view.reports.page import Table, render

MARKDOWN = "optics.md"
TITLE = "What real lenses do to depth"
SCALED = "with Γ"
WALL_NOTE = (
    "Errors of the median depth of a wall in %, by its virtual depth v: without Γ, then with a Γ of first order that "
    "was fitted to the other walls. The camera of the estimation is the true one of thin lenses; it knows the exit "
    "pupil, and no other effect, unless the row says so."
)
TWIN_NOTE = (
    "ε_z: |found − true displacement|/true displacement over all pairs of frames; z: mean of |found/true − 1| over the "
    "frames; both in %. Γ is fitted to the sizes of boards. Calibrated: by our calibration, from nominal numbers and "
    "the twin's images. True: the thin lenses, the exit pupil and the clear aperture that the images were made with. "
    "A twin without -real has thin lenses; its errors have other causes."
)


def write_optics_report(result: OpticsResult, folder: Path) -> Path:
    """Write `optics.md` into a folder; its path."""
    text = render("optics.md.j2", title=TITLE, lead=_lead(result), tables=optics_tables(result))
    with atomic_path(folder / MARKDOWN) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return folder / MARKDOWN


def optics_tables(result: OpticsResult) -> list[Table]:
    """The walls near the axis and away from it, and the twins; those that were measured."""
    near = [row for row in result.walls if row.off_axis == 0]
    away = [row for row in result.walls if row.off_axis != 0]
    tables = [
        wall_table("Walls near the axis", near, note="" if away else WALL_NOTE),
        wall_table("Walls away from the axis", away, note=WALL_NOTE),
    ]
    return [table for table in (*tables, twin_table(result.twins)) if table.rows]


def wall_table(title: str, rows: Sequence[WallErrors], note: str) -> Table:
    """One row for each effect: errors by virtual depth without Γ and with it."""
    depths = [f"{v:g}" for v in rows[0].virtual_depths] if rows else []
    names = [f"{row.name}, {row.off_axis:g} mm off" if row.off_axis else row.name for row in rows]
    cells = [
        [name, *(percent(error) for error in (*row.errors, *row.scaled_errors))]
        for name, row in zip(names, rows, strict=True)
    ]
    columns = ["effect", *(f"v = {depth}" for depth in depths), *(f"{depth}, Γ" for depth in depths)]
    return Table(columns, cells, title, note)


def twin_table(twins: Sequence[TwinErrors]) -> Table:
    """One row for each twin and camera: ε_z and the error of depth, without Γ and with it."""
    rows = [
        [
            twin.name,
            twin.camera,
            *(
                percent(error, sign="")
                for error in (twin.errors.mean, twin.scaled_mean, twin.depth_error, twin.scaled_depth_error)
            ),
        ]
        for twin in twins
    ]
    columns = ("twin", "camera", "ε_z", f"ε_z {SCALED}", "z", f"z {SCALED}")
    refused = [
        f"Γ for {twin.name}, {twin.camera} camera, could not be fitted: {twin.scaled_errors.reason}."
        for twin in twins
        if isinstance(twin.scaled_errors, NoScale)
    ]
    return Table(columns, rows, "Twins, from images to depth", " ".join([TWIN_NOTE, *refused]), left=(1,))


def percent(part: float, sign: str = "+") -> str:
    """`+0.52`: a part in %, with two places; a dash where there is none."""
    return MISSING if not math.isfinite(part) else f"{100 * part:{sign}.2f}".replace("-", "−")


def _lead(result: OpticsResult) -> str:
    size = ", in quick mode (small sensors)" if result.quick else ""
    return (
        f"Made by plenodepth {result.plenodepth}{size}, seed {result.seed}, {result.rays} rays per pixel, in "
        f"{duration(result.seconds)}. Walls: camera {result.camera} at its f-number."
    )
