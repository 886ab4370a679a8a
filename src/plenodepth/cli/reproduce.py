"""`plenodepth reproduce`: the paper's experiments on simulated twins of its datasets, with a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json
from plenodepth.cli.shared.progress import row_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.cli.shared.progress import FrameProgress
    from plenodepth.studies.reproduction import ReproductionResult, Stage, Study
    from plenodepth.studies.reproduction.planned_progress import ShowProgress
    from plenodepth.studies.reproduction.study import OtherProgramDepths

MOST_PROCESSES = 4  # so many datasets are worked on at a time; each may take 3 GB
WIDTH = 48  # of what the bar says, so that it stays where it is


def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT]…",
            help="scale, relative, absolute, disparity, distortion, confidence, views, or all (the default).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for report, results and what can be gone on from.")] = Path(
        "reproduction"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Small sensors: minutes instead of an hour.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with photographed datasets, in place of twins.")
    ] = None,
    twins: Annotated[
        Path | None, typer.Option("--twins", help="Folder that keeps simulated datasets; default: OUT/work/twins.")
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            "--other",
            metavar="LABEL=FOLDER",
            help="Results of another program for `relative`: FOLDER/r12-a holds a depth map, cloud or pose for each "
            "frame, or a table. May be given several times.",
            show_default=False,
        ),
    ] = None,
    optics: Annotated[
        bool,
        typer.Option(
            "--optics",
            help="In place of the experiments: what real lenses do to depth, one effect at a time, and on the twins "
            "r12-a-real and r12-es-real; writes OUT/optics.md, .json and .csv.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of the simulation.")] = 0,
    threads: Annotated[int | None, typer.Option("--threads", help="Default: all cores.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make everything anew, whatever an earlier run left.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Do the paper's experiments again, on simulated twins of its datasets, and put ours beside the published figures.

    Simulates, calibrates from the images alone, estimates depth by all methods and compares. Goes on where an earlier
    run stopped. Writes OUT/report.html, report.md, figures and results.json. A figure that is not reached is said; the
    exit code is 0 all the same. A quick run is compared with nothing: the figures asked for are those of the full run.

    With --optics it is a study of real lenses instead: the error of walls through each effect, and the relative depth
    error of twins with real and with thin lenses, calibrated from their images, all without and with Γ.

    Example: [bold]plenodepth reproduce relative scale --quick --out reproduction[/bold]

    Example: [bold]plenodepth reproduce --optics --quick --out optics[/bold]
    """
    from plenodepth.cache import WorkFolder
    from plenodepth.studies import reproduction
    from plenodepth.threads import thread_count
    from plenodepth.view.reports.reproduction import write_reproduction_report

    if optics:
        _require_twins_alone(experiments or [], data, other or [])
    names = reproduction.chosen_experiments(experiments or [])
    workers = thread_count(threads)
    study = reproduction.Study(
        out,
        quick,
        seed,
        workers,
        data,
        twins,
        since=WorkFolder.fresh(out).since if fresh else 0.0,
        processes=min(workers, MOST_PROCESSES),
    )
    if optics:
        _study_optics(study, as_json=as_json)
        return
    folders = _labelled_folders(other or [], names)
    reproduction.check_inputs(study, names)
    study = replace(study, other_programs=_read_other_programs(folders, quiet=as_json))
    if not as_json:
        _print_plan(reproduction.plan_stages(study, names))
    with row_progress("reproduce", quiet=as_json) as bar:
        result = reproduction.reproduce(study, names, _shown_by(bar))
        bar.describe("report")
        written = write_reproduction_report(result, out)
    if as_json:
        print_json({**_without_values(result), "files": [str(path) for path in (out / "results.json", *written)]})
        return
    _print_checks(result)
    console().print(f"report: {written[0]} (also {written[1].name}, figures, results.json)")


def _shown_by(bar: FrameProgress) -> ShowProgress:
    """Planned seconds on a bar, whose description keeps its width."""

    def show(done: float, total: float, what: str) -> None:
        bar.describe((what if len(what) <= WIDTH else f"{what[: WIDTH - 1]}…").ljust(WIDTH))
        bar(round(done), max(1, round(total)))

    return show


def _require_twins_alone(experiments: Sequence[str], data: Path | None, other: Sequence[str]) -> None:
    """Refuse what a study of real lenses, all of it simulated, has no use for."""
    for given, what in ((experiments, "an experiment"), (data, "--data"), (other, "--other")):
        if given:
            raise InputError(f"is a study of its own, not to be had with {what}", field="--optics", fix="leave one out")


def _study_optics(study: Study, *, as_json: bool) -> None:
    from plenodepth.studies.optics.results import CSV, JSON, as_content
    from plenodepth.studies.optics.run import plan_optics, study_optics
    from plenodepth.studies.reproduction import check_inputs
    from plenodepth.view.reports.formats import duration
    from plenodepth.view.reports.optics import optics_tables, write_optics_report

    check_inputs(study)
    if not as_json:
        _print_plan(plan_optics(study))
    with row_progress("optics", quiet=as_json) as bar:
        result = study_optics(study, _shown_by(bar))
    written = [write_optics_report(result, study.out), study.out / JSON, study.out / CSV]
    if as_json:
        print_json({**as_content(result), "files": [str(path) for path in written]})
        return
    for content in optics_tables(result):
        table = plain_table(content.title, *content.columns)
        for place, column in enumerate(table.columns):
            column.justify = "left" if place == 0 or place in content.left else "right"
            column.no_wrap = place > 0
        for row in content.rows:
            table.add_row(*row)
        console().print(table, *([content.note] if content.note else []), "", sep="\n")
    console().print(f"report: {written[0]} (also {JSON}, {CSV}); took {duration(result.seconds)}")


def _labelled_folders(texts: Sequence[str], names: Sequence[str]) -> list[tuple[str, Path]]:
    from plenodepth.studies.reproduction.other_programs import OPTION, labelled_folders

    if texts and "relative" not in names:
        raise InputError("is for the experiment relative", field=OPTION, fix="add relative, or leave it out")
    return labelled_folders(texts)


def _read_other_programs(folders: Sequence[tuple[str, Path]], *, quiet: bool) -> tuple[OtherProgramDepths, ...]:
    """Results of other programs, all before the work: a file that cannot be read is reported at once."""
    from plenodepth.studies.reproduction.other_programs import read_other_program

    if not folders:
        return ()
    with row_progress("reading", quiet=quiet) as bar:

        def show(done: int, total: int, what: str) -> None:
            bar.describe(what)
            bar(done, total)

        return tuple(read_other_program(label, folder, show) for label, folder in folders)


def _print_plan(stages: Sequence[Stage]) -> None:
    from plenodepth.view.reports.formats import duration

    table = plain_table("Plan", "stage", "about")
    for stage in stages:
        table.add_row(stage.experiment, duration(stage.seconds))
    table.add_row("all", duration(sum(stage.seconds for stage in stages)))
    console().print(table, "What an earlier run has done is not done again.", "")
    sys.stdout.flush()  # it is of use now, not at the end


def _print_checks(result: ReproductionResult) -> None:
    from plenodepth.view.reports.formats import duration
    from plenodepth.view.reports.reproduction import CHECK_COLUMNS, QUICK, check_cells, missed_line

    checks = result.checks
    table = plain_table(f"Figures (took {duration(result.seconds)})", "experiment", *CHECK_COLUMNS)
    table.columns[1].justify = "left"
    table.columns[1].overflow = "fold"
    for name, check in checks:
        table.add_row(name, *check_cells(check))
    if checks:
        console().print(table, "")
    if result.quick:
        console().print(f"note: {QUICK[:1].lower()}{QUICK[1:]}")
    for _, check in checks:
        if check.met is False:
            console().print(f"not reached: {missed_line(check)}")


def _without_values(result: ReproductionResult) -> dict[str, Any]:
    """All but the values of single frames and scenes, which are in results.json."""
    from plenodepth.studies.reproduction.results import as_content

    content = as_content(result)
    for found in content["experiments"].values():
        del found["values"]
    return content
