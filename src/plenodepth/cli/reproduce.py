"""`plenodepth reproduce`: the paper's experiments on simulated twins of its datasets, with a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.calibrate.files import make_folder
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json
from plenodepth.cli.shared.planned_progress import PlannedProgress
from plenodepth.cli.shared.progress import row_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.studies.reproduction.results import ReproductionResult
    from plenodepth.studies.reproduction.study import OtherResults, Study

MOST_PROCESSES = 4  # so many datasets are worked on at a time; each may take 3 GB


def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT]…",
            help="scale, relative, absolute, disparity, distortion, confidence, or all (the default).",
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
    seed: Annotated[int, typer.Option("--seed", help="Of the simulation.")] = 0,
    threads: Annotated[int | None, typer.Option("--threads", help="Default: all cores.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Do the paper's experiments again, on simulated twins of its datasets, and put ours beside the published figures.

    Simulates, calibrates from the images alone, estimates depth by all methods and compares. Goes on where an earlier
    run stopped. Writes OUT/report.html, report.md, figures and results.json. A figure that is not reached is said; the
    exit code is 0 all the same.

    Example: [bold]plenodepth reproduce relative scale --quick --out reproduction[/bold]
    """
    from plenodepth.studies.reproduction.run import chosen_experiments, plan
    from plenodepth.studies.reproduction.run import reproduce as run_experiments
    from plenodepth.studies.reproduction.study import Study
    from plenodepth.threads import thread_count
    from plenodepth.view.reports.reproduction import write_reproduction_report

    names = chosen_experiments(experiments or [])
    if seed < 0:
        raise InputError(f"is {seed}, needs a whole number ≥ 0", field="--seed")
    workers = thread_count(threads)
    planned = Study(out, quick, seed, workers, data, twins, processes=min(workers, MOST_PROCESSES))
    folders = _other_folders(other or [], names)
    _require_data(planned, names)
    planned = replace(planned, others=_read_others(folders, quiet=as_json))
    _require_writable(out)
    stages = plan(planned, names)
    if not as_json:
        _print_plan(stages)
    with row_progress("reproduce", quiet=as_json) as bar:

        def show(done: float, total: float, what: str) -> None:
            bar.describe(what)
            bar(round(done), max(1, round(total)))

        progress = PlannedProgress(stages, show)
        result = run_experiments(replace(planned, progress=progress), names, progress.experiment)
        bar.describe("report")
        written = write_reproduction_report(result, out)
    if as_json:
        print_json({**_without_values(result), "files": [str(path) for path in (out / "results.json", *written)]})
        return
    _print_checks(result)
    console().print(f"report: {written[0]} (also {written[1].name}, figures, results.json)")


def _other_folders(texts: Sequence[str], names: Sequence[str]) -> list[tuple[str, Path]]:
    from plenodepth.studies.reproduction.other_programs import OPTION, labelled_folders

    if texts and "relative" not in names:
        raise InputError("is for the experiment relative", field=OPTION, fix="add relative, or leave it out")
    return labelled_folders(texts)


def _read_others(folders: Sequence[tuple[str, Path]], *, quiet: bool) -> tuple[OtherResults, ...]:
    """Results of other programs, all before the work: what cannot be read is said at once."""
    from plenodepth.studies.reproduction.other_programs import read_other

    if not folders:
        return ()
    with row_progress("reading", quiet=quiet) as bar:

        def show(done: int, total: int, what: str) -> None:
            bar.describe(what)
            bar(done, total)

        return tuple(read_other(label, folder, show) for label, folder in folders)


def _require_data(study: Study, names: Sequence[str]) -> None:
    """Refuse, before the work, a folder of data that lacks something."""
    from plenodepth.studies.reproduction.run import EXPERIMENTS
    from plenodepth.studies.reproduction.sources import RECIPES, source_of

    if study.data is None:
        return
    if study.quick:
        raise InputError("makes small twins, not to be had with --data", field="--quick", fix="leave one out")
    needed = [dataset for name in names for dataset in EXPERIMENTS[name].datasets]
    needed += [RECIPES[dataset].camera_of or dataset for dataset in needed]
    for dataset in dict.fromkeys(needed):
        _ = source_of(study, dataset).white  # both say what is lacking


def _require_writable(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError("is a file", field="--out", file=out, fix="give a folder")
    make_folder(out)
    if not os.access(out, os.W_OK):
        raise InputError("cannot be written", field="--out", file=out, fix="give a writable folder")


def _print_plan(stages: Sequence[tuple[str, float]]) -> None:
    from plenodepth.view.reports.formats import duration

    table = plain_table("Plan", "stage", "about")
    for stage, seconds in [*stages, ("all", sum(seconds for _, seconds in stages))]:
        table.add_row(stage, duration(seconds))
    console().print(table, "What an earlier run has done is not done again.", "")
    sys.stdout.flush()  # it is of use now, not at the end


def _print_checks(result: ReproductionResult) -> None:
    from plenodepth.view.reports.formats import duration
    from plenodepth.view.reports.reproduction import CHECK_COLUMNS, check_cells, missed_line

    checks = result.checks
    table = plain_table(f"Figures (took {duration(result.seconds)})", "experiment", *CHECK_COLUMNS)
    table.columns[1].justify = "left"
    table.columns[1].overflow = "fold"
    for name, check in checks:
        table.add_row(name, *check_cells(check))
    if checks:
        console().print(table, "")
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
