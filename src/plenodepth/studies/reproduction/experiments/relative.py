"""Relative depth (the paper's figure 8): targets moved in known steps, the median depth of each frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from plenodepth.cache import content_hash
from plenodepth.camera import PlenopticCamera, lens_distances, pitch_ratio
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.model import Provenance
from plenodepth.depth.filters import apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.evaluate.frames.relative import by_displacement, median_depth, relative_depth_error
from plenodepth.metric import metric_depth_map
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.depth_scale import ScaleFit, camera_with_scale, scale_job
from plenodepth.studies.reproduction.frames import JUDGED, load_map, map_job
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import QUICK_METHODS, RELATIVE_METHODS, Method
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
from plenodepth.studies.reproduction.sources import Shot
from plenodepth.studies.reproduction.study import OtherProgramDepths, Study

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")
BOARDS_ALONE = ("r12-a", "r12-b", "r12-c")  # over which the paper takes its mean
STAGE = "relative"


def plan_relative(study: Study, datasets: Mapping[str, Dataset]) -> Job[RelativeResult]:
    """ε_z of all methods on all datasets; its mean and spread over R12-A, B and C, as the paper has them."""
    methods = QUICK_METHODS if study.quick else RELATIVE_METHODS
    errors = tuple(
        (name, method.label, relative_errors_job(datasets[name], method, STAGE))
        for name in DATASETS
        for method in methods
    )
    shots = tuple((name, datasets[name].shots) for name in DATASETS)
    return Job(_collect, (errors, shots), STAGE, weight=0, in_caller=True)


def relative_errors_job(
    dataset: Dataset, method: Method, stage: str, *, corrected: bool = True
) -> Job[MethodRelativeErrors]:
    """ε_z of a method on a dataset's shots; `corrected` False: with the usual formula of disparity."""
    maps = tuple(
        map_job(dataset, shot.path, method.settings, stage, camera=method.camera, dense=method.dense)
        for shot in dataset.shots
    )
    arguments = (dataset, method, scale_job(dataset, method, stage), maps, corrected)
    return Job(relative_errors, arguments, stage, f"{dataset.name}, {method.label}")


def relative_errors(
    study: Study, dataset: Dataset, method: Method, fit: ScaleFit | None, maps: tuple[Path, ...], corrected: bool
) -> MethodRelativeErrors:
    """ε_z of a method, from the maps of a dataset's shots."""
    camera, depths = camera_with_scale(dataset, method, fit), []
    for index, path in enumerate(maps):
        study.progress(index, len(maps), "depth of frames")
        found = apply_filters(load_map(path), camera, JUDGED)
        if not corrected:
            found = with_usual_disparity(found, camera)
        depths.append(median_depth(metric_depth_map(found, scaled_for(camera, found.aperture_model))))
    errors = errors_of_depths(depths, dataset.shots)
    return MethodRelativeErrors(
        **{part.name: getattr(errors, part.name) for part in fields(errors)},
        depth_scale=None if camera.depth_scale is None else tuple(float(value) for value in camera.depth_scale),
        camera=content_hash(replace(camera, provenance=Provenance())),
    )


def with_usual_disparity(found: VirtualDepthMap, camera: PlenopticCamera) -> VirtualDepthMap:
    """The coarse map that the usual, uncorrected formula of disparity gives for the same matches.

    A match tells how fast views move against each other, g = λ/v + 1 − λ. The usual formula takes micro-image centres
    to stand right behind their lenses and reads 1/g as the virtual depth.
    """
    ratio = pitch_ratio(camera, lens_distances(camera, *camera.micro_images.lattice.indices()))
    v = found.virtual_depth.astype(np.float64)
    slope = (ratio / v**2) / (ratio / v + 1 - ratio) ** 2
    depth, sigma = 1 / (ratio / v + 1 - ratio), slope * found.sigma
    return replace(found, virtual_depth=depth.astype(np.float32), sigma=sigma.astype(np.float32))


def errors_of_depths(depths: Sequence[float], shots: Sequence[Shot]) -> RelativeErrors:
    """ε_z of the depths (n,), mm, NaN where there is none, found for n shots."""
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


def _collect(
    study: Study,
    errors: tuple[tuple[str, str, MethodRelativeErrors], ...],
    shots: tuple[tuple[str, tuple[Shot, ...]], ...],
) -> RelativeResult:
    datasets: dict[str, dict[str, RelativeErrors]] = {}
    for name, label, found in errors:
        datasets.setdefault(name, {})[label] = found
    labels = list(dict.fromkeys(label for _, label, _ in errors))
    others = {other.label: add_other_program(datasets, other, dict(shots)) for other in study.other_programs}
    means = {}
    for label in [*labels, *others]:
        found_means = [datasets[name][label].mean for name in BOARDS_ALONE if label in datasets[name]]
        if len(found_means) == len(BOARDS_ALONE):
            means[label] = MeanAndSpread(float(np.mean(found_means)), float(np.std(found_means, ddof=1)))
    return RelativeResult(datasets, means, others)


def add_other_program(
    datasets: Mapping[str, dict[str, RelativeErrors]],
    other: OtherProgramDepths,
    shots: Mapping[str, Sequence[Shot]],
) -> OtherProgram:
    """Add ε_z of another program to the datasets that it has results of; notes say what was left out."""
    notes: list[str] = []
    for name, known in shots.items():
        depths, said = depths_of_shots(other, name, [shot.frame for shot in known])
        notes += said
        if depths is not None:
            datasets[name][other.label] = errors_of_depths(depths, known)
    return OtherProgram(str(other.folder), tuple(notes))
