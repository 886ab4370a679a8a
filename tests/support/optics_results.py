"""A result of `plenodepth reproduce --optics` made by hand, with invented figures."""

from __future__ import annotations

import math

from plenodepth.studies.optics.results import OpticsResult, TwinErrors, WallErrors
from plenodepth.studies.reproduction.results import FrameAgainstTruth, MethodRelativeErrors, Stage


def relative_errors(mean: float, depths: tuple[float, ...]) -> MethodRelativeErrors:
    frames = tuple(FrameAgainstTruth(index, 500.0 + 100 * index, depth) for index, depth in enumerate(depths))
    return MethodRelativeErrors(mean, 0.001, (0.0, 0.02), frames, (), None, "hash")


def optics_result() -> OpticsResult:
    depths, distances = (3.5, 12.0), (1500.0, 600.0)
    return OpticsResult(
        plenodepth="1.0",
        quick=True,
        seed=0,
        rays=32,
        threads=2,
        camera="r12-es-mini",
        walls=(
            WallErrors("none", 0.0, depths, distances, (0.001, -0.002), (0.0, 0.001)),
            WallErrors("rim | cat's eye", 13.0, depths, distances, (-0.0123, math.nan), (math.nan, math.nan)),
        ),
        twins=(
            TwinErrors(
                "r12-a-real",
                "true",
                relative_errors(0.0114, (505.0, math.nan)),
                relative_errors(0.0042, (500.0, 594.0)),
            ),
        ),
        calibration={},
        plan=(Stage("walls", 70.0),),
        seconds=12.3,
    )
