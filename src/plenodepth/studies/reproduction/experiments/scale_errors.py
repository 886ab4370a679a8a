"""Scale errors before and after correction (the paper's figure 7 and its table of coefficients)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plenodepth.studies.reproduction.datasets import prepared
from plenodepth.studies.reproduction.methods import AWARE_S, BLADE, LINEAR, Method
from plenodepth.studies.reproduction.results import BoardScaleError, HeldOutErrors, ScaleErrors, ScaleResult
from plenodepth.studies.reproduction.scale_by_boards import scale_of
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import Task

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")
METHODS = (BLADE, LINEAR, AWARE_S)


def scale_tasks(study: Study) -> list[list[Task]]:
    """What can be done ahead, in phases: Γ by dataset."""
    return [[Task(scales_of, (name, METHODS)) for name in DATASETS]]


def scales_of(study: Study, name: str, methods: Sequence[Method]) -> dict[str, ScaleErrors]:
    """Γ and the scale errors of the boards, by method."""
    dataset = prepared(study, name)
    return {method.label: _scale_errors(scale_of(study, dataset, method).record) for method in methods}


def scale_experiment(study: Study, methods: Sequence[Method] = METHODS) -> ScaleResult:
    """Γ and the scale errors of the boards, in parts, by dataset and method."""
    return ScaleResult({name: scales_of(study, name, methods) for name in DATASETS})


def _scale_errors(record: Mapping[str, Any]) -> ScaleErrors:
    """The part of a record of Γ that the experiment reports."""
    return ScaleErrors(
        order=record["order"],
        best_order=record["best_order"],
        depth_scale=tuple(record["depth_scale"]),
        standard_errors=tuple(float("nan") if error is None else error for error in record["standard_errors"]),
        median_before=record["median_before"],
        median_after=record["median_after"],
        median_size_before=record["median_size_before"],
        median_size_after=record["median_size_after"],
        frames=tuple(BoardScaleError(**row) for row in record["frames"]),
        held_out={
            order: HeldOutErrors(held["median"], tuple(float("nan") if e is None else e for e in held["errors"]))
            for order, held in record["held_out"].items()
        },
        aperture_model=record["aperture_model"],
    )
