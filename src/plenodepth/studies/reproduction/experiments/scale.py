"""Scale errors before and after correction (the paper's figure 7 and its table of coefficients)."""

from __future__ import annotations

from collections.abc import Mapping

from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.depth_scale import ScaleFit, scale_job
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import AWARE_S, BLADE, LINEAR
from plenodepth.studies.reproduction.results import ScaleErrors, ScaleResult
from plenodepth.studies.reproduction.study import Study

DATASETS = ("r12-a", "r12-b", "r12-c", "r12-es")
METHODS = (BLADE, LINEAR, AWARE_S)
STAGE = "scale"


def plan_scale(study: Study, datasets: Mapping[str, Dataset]) -> Job[ScaleResult]:
    """Fit Γ of all methods on all datasets."""
    fits = tuple(
        (name, method.label, scale_job(datasets[name], method, STAGE)) for name in DATASETS for method in METHODS
    )
    return Job(_collect, (fits,), STAGE, weight=0, in_caller=True)


def _collect(study: Study, fits: tuple[tuple[str, str, ScaleFit], ...]) -> ScaleResult:
    result: dict[str, dict[str, ScaleErrors]] = {}
    for name, label, fit in fits:
        result.setdefault(name, {})[label] = fit.errors
    return ScaleResult(result)
