"""The options that say where the frames of a batch are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.batch import Slurm
    from plenodepth.batch.engines.engine import Engine


@dataclass(frozen=True)
class EngineOptions:
    """This machine, a scheduler of Dask's, or Slurm."""

    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Processes on this machine; 1: this one alone. Default: by cores and memory."
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Use the workers of a running dask scheduler."),
    ] = None
    slurm: Annotated[
        int | None, typer.Option("--slurm", metavar="JOBS", min=1, help="Start so many workers through Slurm.")
    ] = None
    slurm_option: Annotated[
        list[str] | None,
        typer.Option(
            "--slurm-option",
            metavar="NAME=VALUE",
            help="An option of dask-jobqueue's SLURMCluster: queue=short, walltime=04:00:00, cores=16 … Repeatable.",
        ),
    ] = None
    slurm_script: Annotated[bool, typer.Option("--slurm-script", help="Print the script of a Slurm job and stop.")] = (
        False
    )
    ship: Annotated[
        bool, typer.Option("--ship", help="Send images to the workers, and results back: they share no file system.")
    ] = False
    resource: Annotated[
        str | None,
        typer.Option("--resource", metavar="NAME", help="Use only workers that were started with this resource: GPU."),
    ] = None
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Of one frame. Default: a worker's share of the cores.")
    ] = None

    def chosen(self) -> Engine:
        """What makes the frames."""
        from plenodepth.batch import Existing, Local

        given = [name for name in ("workers", "scheduler", "slurm") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError(f"cannot go with --{given[0]}", field=f"--{given[1]}", fix="give one of them")
        if self.scheduler is None and self.slurm is None:
            if self.resource is not None:
                raise InputError("needs --scheduler or --slurm", field="--resource")
            return Local(self.workers, self.threads, self.ship)
        from plenodepth.batch.engines.clients import missing
        from plenodepth.batch.engines.local import is_installed

        if not is_installed():
            raise missing(f"--{given[0]}")
        from plenodepth.batch import Cluster

        if self.scheduler is not None:
            return Cluster(Existing(self.scheduler), ship=self.ship, resource=self.resource, threads=self.threads)
        forever = float("inf")  # a queue may be long
        return Cluster(self.slurm_cluster(), self.ship, self.resource, self.threads, patience=forever)

    def slurm_cluster(self) -> Slurm:
        """The jobs that Slurm is to be asked for."""
        from plenodepth.batch import Slurm
        from plenodepth.batch.engines.clients import slurm_options

        return Slurm(self.slurm or 1, slurm_options(self.slurm_option or []))
