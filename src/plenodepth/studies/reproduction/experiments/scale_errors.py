"""Scale errors before and after correction (the paper's figure 7 and its table of coefficients)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plenodepth.studies.reproduction.datasets import prepared
from plenodepth.studies.reproduction.methods import AWARE_S, BLADE, LINEAR, Method
from plenodepth.studies.reproduction.scale_by_boards import scale_of
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import Task

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")
METHODS = (BLADE, LINEAR, AWARE_S)
KEPT = (
    "order", "best_order", "depth_scale", "standard_errors", "median_before", "median_after", "median_size_before",
    "median_size_after", "frames", "held_out", "aperture_model",
)  # fmt: skip


def scale_tasks(study: Study) -> list[list[Task]]:
    """What can be done ahead, in phases: Γ by dataset."""
    return [[Task(scales_of, (name, METHODS)) for name in DATASETS]]


def scales_of(study: Study, name: str, methods: Sequence[Method]) -> dict[str, Any]:
    """The record of Γ by method."""
    dataset = prepared(study, name)
    return {method.label: scale_of(study, dataset, method).record for method in methods}


def scale_experiment(study: Study, methods: Sequence[Method] = METHODS) -> dict[str, Any]:
    """Γ and the scale errors of the boards, in parts, by dataset and method."""
    datasets: dict[str, Any] = {}
    for name in DATASETS:
        records = scales_of(study, name, methods)
        datasets[name] = {label: {key: record[key] for key in KEPT} for label, record in records.items()}
    return {"datasets": datasets}
