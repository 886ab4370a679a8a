"""Relative depth (the paper's figure 8): targets moved in known steps, the median depth of each frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from plenodepth.cache import content_hash
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.model import Provenance
from plenodepth.depth.filters import apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.evaluate.frames.relative import by_displacement, median_depth, relative_depth_error
from plenodepth.metric import metric_depth_map
from plenodepth.studies.reproduction.datasets import Dataset, prepared
from plenodepth.studies.reproduction.frames import JUDGED, virtual_map
from plenodepth.studies.reproduction.methods import QUICK_METHODS, RELATIVE_METHODS, Method, sharing_maps
from plenodepth.studies.reproduction.other_programs import depths_of_shots
from plenodepth.studies.reproduction.results import (
    DisplacementMean,
    FrameAgainstTruth,
    MeanAndSpread,
    MethodRelativeErrors,
    OtherProgram,
    RelativeErrors,
    RelativeResult,
)
from plenodepth.studies.reproduction.scale_by_boards import scaled_camera
from plenodepth.studies.reproduction.sources import Shot
from plenodepth.studies.reproduction.study import OtherResults, Study
from plenodepth.studies.reproduction.worker_pool import Task

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")
BOARDS_ALONE = ("r12-a", "r12-b", "r12-c")  # over which the paper takes its mean


def relative_experiment(study: Study, methods: Sequence[Method] | None = None) -> RelativeResult:
    """ε_z of all methods on all datasets, in parts; its mean and spread over R12-A, B and C, as the paper has them."""
    methods = _methods(study) if methods is None else methods
    datasets: dict[str, dict[str, RelativeErrors]] = {name: dict(methods_on(study, name, methods)) for name in DATASETS}
    shots = {name: prepared(study, name).shots for name in DATASETS}
    others = {other.label: add_other(datasets, other, shots) for other in study.others}
    means = {}
    for label in [*(method.label for method in methods), *others]:
        errors = [datasets[name][label].mean for name in BOARDS_ALONE if label in datasets[name]]
        if len(errors) == len(BOARDS_ALONE):
            means[label] = MeanAndSpread(float(np.mean(errors)), float(np.std(errors, ddof=1)))
    return RelativeResult(datasets, means, others)


def relative_tasks(study: Study) -> list[list[Task]]:
    """What can be done ahead, in phases: depth maps by dataset and settings, which some methods share."""
    return [[Task(methods_on, (name, group)) for name in DATASETS for group in sharing_maps(_methods(study))]]


def _methods(study: Study) -> tuple[Method, ...]:
    return QUICK_METHODS if study.quick else RELATIVE_METHODS


def methods_on(study: Study, name: str, methods: Sequence[Method]) -> dict[str, MethodRelativeErrors]:
    """ε_z of methods on a dataset, by their labels."""
    dataset = prepared(study, name)
    return {method.label: method_on(study, dataset, method) for method in methods}


Change = Callable[[PlenopticCamera, VirtualDepthMap], VirtualDepthMap]


def method_on(study: Study, dataset: Dataset, method: Method, change: Change | None = None) -> MethodRelativeErrors:
    """ε_z of a method on a dataset's shots, and the depth of each frame; `change` maps beforehand."""
    camera, shots = scaled_camera(study, dataset, method), dataset.shots
    depths = []
    for index, shot in enumerate(shots):
        study.progress(index, len(shots), f"{dataset.name}, {method.label}: frame {shot.frame}")
        found = apply_filters(virtual_map(study, dataset, shot.path, method), camera, JUDGED)
        if change is not None:
            found = change(camera, found)
        depths.append(median_depth(metric_depth_map(found, scaled_for(camera, found.aperture_model))))
    found_errors = _errors(shots, depths)
    return MethodRelativeErrors(
        **{part.name: getattr(found_errors, part.name) for part in fields(found_errors)},
        depth_scale=None if camera.depth_scale is None else tuple(float(value) for value in camera.depth_scale),
        camera=content_hash(replace(camera, provenance=Provenance())),
    )


def add_other(
    datasets: Mapping[str, dict[str, RelativeErrors]], other: OtherResults, shots: Mapping[str, Sequence[Shot]]
) -> OtherProgram:
    """Adds ε_z of another program to the datasets that it has results of; what is to be said of the others."""
    notes: list[str] = []
    for name, known in shots.items():
        depths, said = depths_of_shots(other, name, [shot.frame for shot in known])
        notes += said
        if depths is not None:
            datasets[name][other.label] = _errors(known, depths)
    return OtherProgram(str(other.folder), tuple(notes))


def _errors(shots: Sequence[Shot], depths: Sequence[float]) -> RelativeErrors:
    """ε_z of the depths (NaN: none) found for a dataset's shots."""
    result = relative_depth_error(depths, [shot.distance for shot in shots])
    return RelativeErrors(
        mean=result.mean,
        std=result.std,
        interval=result.interval,
        frames=tuple(
            FrameAgainstTruth(shot.frame, shot.distance, depth) for shot, depth in zip(shots, depths, strict=True)
        ),
        displacements=tuple(
            DisplacementMean(row.displacement, row.mean, row.std, row.pairs) for row in by_displacement(result)
        ),
    )
