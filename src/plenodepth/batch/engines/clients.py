"""Connections to clusters: to one that runs already, and to one whose workers Slurm starts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plenodepth.batch.engines.engine import Say
from plenodepth.batch.engines.sizing import bytes_of_frame
from plenodepth.batch.recipe import Recipe
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

CONNECTING = 20.0  # s
CORES = 8  # of a Slurm job, unless told
# Texts that dask-jobqueue takes; `directives` and `prologue` are several, with a semicolon between them.
OPTIONS = {"account", "death_timeout", "host", "interface", "job_cpu", "job_mem", "job_name", "local_directory"}
OPTIONS |= {"log_directory", "protocol", "python", "queue", "shebang", "walltime"}
SEVERAL = {"directives": "job_extra_directives", "prologue": "job_script_prologue"}
SPARE = 1.2  # of a job's memory over what its frames need


@contextmanager
def quiet_client(address: Any, say: Say | None = None) -> Iterator[Client]:
    """A client that says nothing by itself. `say` is told where the dashboard is, if there is one."""
    from distributed import Client

    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with Client(address, timeout=CONNECTING, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            if say is not None and has_dashboard():
                say(f"dashboard: {client.dashboard_link}")
            yield client
    finally:
        logger.setLevel(before)


def has_dashboard() -> bool:
    """Whether the package is there that Dask's dashboard needs."""
    from importlib.util import find_spec

    return find_spec("bokeh") is not None


@dataclass(frozen=True)
class Existing:
    """The workers of a scheduler that runs: tcp://10.0.0.1:8786."""

    address: str

    @contextmanager
    def __call__(self, recipe: Recipe, unfinished: Path, frames: int, say: Say) -> Iterator[Client]:
        """A client of it."""
        try:
            client = quiet_client(self.address, say)
            connected = client.__enter__()
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            fix = "give the address that dask scheduler prints, as tcp://10.0.0.1:8786"
            raise InputError(f"cannot be reached: {reason}", field=f"scheduler {self.address}", fix=fix) from None
        try:
            yield connected
        finally:
            client.__exit__(None, None, None)


@dataclass(frozen=True)
class Slurm:
    """So many jobs of Slurm's, each a worker. `options` are dask-jobqueue's: queue, account, walltime, cores …"""

    jobs: int
    options: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def __call__(self, recipe: Recipe, unfinished: Path, frames: int, say: Say) -> Iterator[Client]:
        """A client of the scheduler that this process is to the jobs."""
        with self._cluster(recipe) as cluster, quiet_client(cluster, say) as client:
            cluster.scale(jobs=min(self.jobs, frames))
            yield client

    def script(self, recipe: Recipe) -> str:
        """The script of a job, as sbatch gets it."""
        with self._cluster(recipe) as cluster:
            return str(cluster.job_script())

    def _cluster(self, recipe: Recipe) -> Any:
        try:
            from dask_jobqueue.slurm import SLURMCluster
        except ImportError:
            raise missing("--slurm", "dask-jobqueue") from None
        options: dict[str, Any] = {"job_name": "plenodepth", **self.options}
        cores = _whole_number(options.pop("cores", CORES), "cores")
        memory = options.pop("memory", f"{int(SPARE * cores * bytes_of_frame(recipe)) >> 20}MiB")
        for name, theirs in SEVERAL.items():
            options[theirs] = [one.strip() for one in options.pop(name, "").split(";") if one.strip()]
        for name in options:
            if name not in {*OPTIONS, *SEVERAL.values()}:
                fix = f"give one of {', '.join(('cores', 'memory', *SEVERAL, *sorted(OPTIONS)))}"
                raise InputError("is none", field=f"--slurm-option {name}", fix=fix)
        return SLURMCluster(
            cores=cores,
            memory=memory,
            processes=1,
            silence_logs="error",
            scheduler_options={"dashboard_address": ":0"},
            **options,
        )


def slurm_options(texts: Sequence[str]) -> dict[str, str]:
    """`["queue=short"]` → {"queue": "short"}."""
    options = dict[str, str]()
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip().isidentifier() and equals):
            raise InputError(f"is '{text}'", field="--slurm-option", fix="give NAME=VALUE, as queue=short")
        options[name.strip()] = value.strip()
    return options


def missing(field: str, package: str = "distributed") -> InputError:
    """The error that the extra is not installed."""
    return InputError(f"needs the package {package}", field=field, fix='pip install "plenodepth[cluster]"')


def _whole_number(text: Any, option: str) -> int:
    if not str(text).isdecimal() or int(text) < 1:
        raise InputError(f"is {text}", field=f"--slurm-option {option}", fix="give a whole number ≥ 1")
    return int(text)
