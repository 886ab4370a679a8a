"""A job is a piece of work of a reproduction. Jobs that need each other's results make a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Job(Generic[T]):
    """A call of `work(study, *arguments)` that gives a result of type T.

    An argument may be a job, or a tuple with jobs in it: `work` gets their results in their places. So the last job of
    an experiment holds its whole plan. Two jobs with the same work and arguments are one job, which is done once.
    `work` must be a function of a module, and arguments and result must be picklable: a worker process may do the job.
    """

    work: Callable[..., T]
    arguments: tuple[Any, ...]
    stage: str = field(compare=False)  # of the plan of times
    what: str = field(default="", compare=False)  # what it does, for the progress bar
    weight: float = field(default=1.0, compare=False)  # its part of the stage's time; 0: too quick to count
    in_caller: bool = field(default=False, compare=False)  # so quick that no other process is asked to do it

    def __post_init__(self) -> None:
        # Computed once: jobs are looked up often, and the arguments hold whole plans.
        object.__setattr__(self, "_hash", hash((self.work, self.arguments)))

    def __hash__(self) -> int:
        return int(getattr(self, "_hash"))  # noqa: B009


class JobWatcher(Protocol):
    """Is told what happens to jobs."""

    def planned(self, jobs: list[Job[Any]]) -> None:
        """These jobs will be done now."""

    def started(self, job: Job[Any]) -> None:
        """A job has begun."""

    def progressed(self, job: Job[Any], done: int, total: int, what: str) -> None:
        """A job says what it does, and which of how many steps that is."""

    def finished(self, job: Job[Any]) -> None:
        """A job is done."""


def jobs_in_order(job: Job[Any]) -> list[Job[Any]]:
    """All jobs of a plan, each once, each after those that it needs. The order is the same in every run."""
    order: dict[Job[Any], None] = {}

    def visit(one: Job[Any]) -> None:
        if one not in order:
            for needed in needed_jobs(one):
                visit(needed)
            order[one] = None

    visit(job)
    return list(order)


def needed_jobs(job: Job[Any]) -> Iterator[Job[Any]]:
    """The jobs among the arguments of a job."""

    def within(value: Any) -> Iterator[Job[Any]]:
        if isinstance(value, Job):
            yield value
        elif type(value) is tuple:
            for part in value:
                yield from within(part)

    return within(job.arguments)


def arguments_of(job: Job[Any], results: Mapping[Job[Any], Any]) -> tuple[Any, ...]:
    """The arguments of a job with results in place of jobs."""

    def filled(value: Any) -> Any:
        if isinstance(value, Job):
            return results[value]
        return tuple(filled(part) for part in value) if type(value) is tuple else value

    return tuple(filled(argument) for argument in job.arguments)
