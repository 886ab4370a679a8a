"""Is the confidence worth anything? Confidence and σ of coarse maps against dense truth, and where errors come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plenodepth.evaluate.maps.sigma_calibration import compare_sigma
from plenodepth.evaluate.maps.sparsification import sparsification_curves
from plenodepth.evaluate.maps.splits import (
    ErrorGroup,
    bin_labels,
    binned_errors,
    errors_by_confidence,
    grouped_errors,
    quantile_edges,
)
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.depth_scale import ScaleFit, camera_with_scale, scale_job
from plenodepth.studies.reproduction.frames import map_job
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.lens_errors import (
    TRUTH,
    LensErrors,
    frame_lens_errors,
    frames_with_truth,
    join_lens_errors,
    measure_contrast,
)
from plenodepth.studies.reproduction.methods import AWARE_U, BLADE, Method
from plenodepth.studies.reproduction.results import (
    AreasToOracle,
    ConfidenceResult,
    DatasetConfidence,
    Gains,
    GroupErrors,
    MethodConfidence,
    RemainingErrors,
    SigmaAgreement,
    SigmaGroup,
)
from plenodepth.studies.reproduction.study import Study

STAGE = "confidence"
DATASETS = ("r12-es", "r12-elp20")  # walls, and scenes with occlusions
METHODS = (BLADE, AWARE_U)
STEPS = 50  # of a sparsification curve
BOUNDARY_EDGES = (0, 1, 3, 8, np.inf)  # micro-images; less than 1: depth jumps to the next one
BOUNDARY_NAMES = ("at a boundary", "next 2", "3 to 7 away", "8 or more away")
CONTRAST_BINS, CONFIDENCE_BINS = 4, 5


def plan_confidence(study: Study, datasets: Mapping[str, Dataset]) -> Job[ConfidenceResult]:
    """What confidence and σ are worth, by dataset and method; datasets without a dense truth are skipped and named."""
    judged: list[tuple[str, int, str, Job[MethodConfidence | None]]] = []
    skipped = []
    for name in DATASETS:
        dataset = datasets[name]
        images = tuple(frames_with_truth(dataset.source))
        if not images:
            skipped.append((name, f"has no {TRUTH} beside its images: only simulated frames have a dense truth"))
        else:
            judged += [(name, len(images), method.label, _judge_job(dataset, images, method)) for method in METHODS]
    return Job(_collect, (tuple(judged), tuple(skipped)), STAGE, weight=0, in_caller=True)


def _judge_job(dataset: Dataset, images: tuple[Path, ...], method: Method) -> Job[MethodConfidence | None]:
    maps = tuple(map_job(dataset, image, method.settings, STAGE, camera=method.camera) for image in images)
    contrasts = tuple(
        Job(measure_contrast, (dataset.name, image, dataset.white, dataset.camera), STAGE, f"{dataset.name}, contrast")
        for image in images
    )
    arguments = (dataset, method, scale_job(dataset, method, STAGE), images, maps, contrasts)
    return Job(judge_method, arguments, STAGE, f"{dataset.name}, {method.label}")


def judge_method(
    study: Study,
    dataset: Dataset,
    method: Method,
    fit: ScaleFit | None,
    images: tuple[Path, ...],
    maps: tuple[Path, ...],
    contrasts: tuple[Path, ...],
) -> MethodConfidence | None:
    """What confidence and σ of a method are worth on all images of a dataset; None where it found no depth."""
    camera = camera_with_scale(dataset, method, fit)
    parts = []
    for index, files in enumerate(zip(images, maps, contrasts, strict=True)):
        study.progress(index, len(images), files[0].parent.name)
        parts.append(frame_lens_errors(*files, camera))
    errors = join_lens_errors(parts)
    return judge(errors) if np.isfinite(errors.error).any() else None


def _collect(
    study: Study,
    judged: tuple[tuple[str, int, str, MethodConfidence | None], ...],
    skipped: tuple[tuple[str, str], ...],
) -> ConfidenceResult:
    frames, methods = dict[str, int](), dict[str, dict[str, MethodConfidence]]()
    for name, count, label, found in judged:
        frames[name] = count
        known = methods.setdefault(name, {})
        if found is not None:
            known[label] = found
    datasets = {name: DatasetConfidence(frames[name], found) for name, found in methods.items()}
    return ConfidenceResult(datasets, dict(skipped))


def judge(found: LensErrors) -> MethodConfidence:
    """Errors of one method on one dataset, in parts: all of them, ordered, against σ, and split."""
    size = np.abs(found.error[np.isfinite(found.error)])
    return MethodConfidence(
        members=len(found.error),
        count=len(size),
        median=float(np.median(size)),
        mean=float(size.mean(dtype=np.float64)),
        sparsification=_remaining_errors(found),
        sigma=_sigma_agreement(found),
        splits=_splits(found),
    )


def _remaining_errors(found: LensErrors) -> RemainingErrors:
    """Sparsification by confidence and by −σ, with the oracle's and the random order."""
    by_confidence = sparsification_curves(found.error, found.confidence, steps=STEPS)
    surest = np.where(np.isfinite(found.sigma), -found.sigma, -np.inf)
    by_sigma = sparsification_curves(found.error, surest, steps=STEPS)
    return RemainingErrors(
        removed=tuple(by_confidence.removed.tolist()),
        confidence=tuple(by_confidence.by_confidence.tolist()),
        sigma=tuple(by_sigma.by_confidence.tolist()),
        oracle=tuple(by_confidence.oracle.tolist()),
        random=by_confidence.random,
        ause=AreasToOracle(by_confidence.ause, by_sigma.ause, by_confidence.ause_random),
        gain=Gains(by_confidence.gain, by_sigma.gain),
    )


def _sigma_agreement(found: LensErrors) -> SigmaAgreement:
    result = compare_sigma(found.error, found.sigma)
    return SigmaAgreement(
        spread=result.spread,
        rms=result.rms,
        bias=result.bias,
        within=tuple(result.within.tolist()),
        expected=tuple(result.expected.tolist()),
        bins=tuple(SigmaGroup(row.predicted, row.observed, row.observed_robust, row.count) for row in result.bins),
    )


def _splits(found: LensErrors) -> dict[str, tuple[GroupErrors, ...]]:
    """Errors by lens type, boundary, confidence and contrast. Quarters of the contrast are of all micro-images."""
    types = [f"type {number}" for number in range(int(found.lens_type.max()) + 1)]
    boundary = bin_labels(found.boundary, BOUNDARY_EDGES)
    groups = {
        "lens type": grouped_errors(found.error, found.lens_type, types),
        "boundary": grouped_errors(found.error, boundary, BOUNDARY_NAMES),
        "confidence": errors_by_confidence(found.error, found.confidence, CONFIDENCE_BINS),
    }
    if np.isfinite(found.contrast).any():
        edges = quantile_edges(found.contrast, CONTRAST_BINS)
        groups["contrast"] = binned_errors(found.error, found.contrast, edges)
    return {split: tuple(_group_errors(group) for group in rows if group.members) for split, rows in groups.items()}


def _group_errors(group: ErrorGroup) -> GroupErrors:
    return GroupErrors(
        group=group.name,
        count=group.count,
        completeness=group.completeness,
        q25=group.q25,
        median=group.median,
        q75=group.q75,
        mean=group.mean,
        bias=group.bias,
    )
