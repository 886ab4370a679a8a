"""`plenodepth simulate dataset`: the twin of one of the paper's datasets."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from plenodepth.cli.shared.common import JsonOption, console, print_json
from plenodepth.cli.shared.progress import ray_progress
from plenodepth.cli.simulate.options import (
    OpticsOption,
    OutOption,
    RaysOption,
    SeedOption,
    ThreadsOption,
    chosen_optics,
)


def dataset(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="r12-a, r12-b, r12-c, r12-es, r12-elp20 or upc-s; with real lenses: r12-a-real, r12-es-real.",
            show_default=False,
        ),
    ],
    out: OutOption,
    quick: Annotated[bool, typer.Option("--quick", help="A small sensor: seconds instead of minutes.")] = False,
    rays: RaysOption = 64,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    optics: OpticsOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make all frames anew, also those that are there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the twin of one of the paper's datasets; goes on where an earlier run stopped.

    Example: [bold]plenodepth simulate dataset r12-a --quick --out twins/r12-a[/bold]
    """
    from plenodepth.sim import simulate_dataset

    with ray_progress(name, quiet=as_json) as progress:
        report = simulate_dataset(
            name,
            out,
            quick=quick,
            rays=rays,
            seed=seed,
            threads=threads,
            optics=chosen_optics(optics),
            fresh=fresh,
            on_frame=progress.frame,
            progress=progress,
        )
    if as_json:
        print_json(asdict(report))
    else:
        console().print(
            f"{out}: {report.frames} frames, {report.made} made now, {report.rays / 1e6:.0f} million rays in "
            f"{report.cpu_seconds:.1f} CPU-seconds ({report.seconds:.1f} s)"
        )
