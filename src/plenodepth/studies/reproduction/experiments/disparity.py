"""Corrected against uncorrected disparity (the paper's supplement): the same matches, read in two ways."""

from __future__ import annotations

from collections.abc import Mapping

from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.experiments.relative import relative_errors_job
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import BLADE_U
from plenodepth.studies.reproduction.results import DisparityResult, MethodRelativeErrors
from plenodepth.studies.reproduction.study import Study

DATASET = "r12-a"
STAGE = "disparity"


def plan_disparity(study: Study, datasets: Mapping[str, Dataset]) -> Job[DisparityResult]:
    """ε_z on R12-A, unscaled, with either formula of disparity."""
    errors = tuple(
        relative_errors_job(datasets[DATASET], BLADE_U, STAGE, corrected=corrected) for corrected in (True, False)
    )
    return Job(_collect, errors, STAGE, weight=0, in_caller=True)


def _collect(study: Study, corrected: MethodRelativeErrors, uncorrected: MethodRelativeErrors) -> DisparityResult:
    return DisparityResult(corrected, uncorrected)
