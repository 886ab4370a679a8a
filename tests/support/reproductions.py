"""A result of `plenodepth reproduce` made by hand, with the structure of the real one and invented figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.studies.reproduction.experiments.confidence import judge
from plenodepth.studies.reproduction.lens_errors import LensErrors
from plenodepth.studies.reproduction.results import (
    AbsoluteResult,
    BoardScaleError,
    CalibratedParameters,
    Check,
    ConfidenceResult,
    DatasetConfidence,
    DisparityResult,
    DisplacementMean,
    DistortionResult,
    ExperimentResult,
    FrameAgainstTruth,
    HeldOutBoards,
    MeanAndSpread,
    MethodRelativeErrors,
    RelativeErrors,
    RelativeResult,
    ReproductionResult,
    ResultTable,
    ScaleErrors,
    ScaleResult,
    ScannerPoseError,
    SceneDifferences,
    SceneView,
    Stage,
    Values,
    ViewFigures,
    ViewsResult,
)

METHODS = ("BLADE", "BLADEu", "DISP", "aware", "aware + Γ", "BLADE, linear Γ", "golden section", "same-type blocks")
ERRORS = (0.021, 0.11, 0.095, 0.008, 0.006, 0.027, 0.034, 0.052)  # about these
PLACES = {"r12-a": (265, 385, 10), "r12-b": (450, 900, 50), "r12-c": (500, 1000, 50), "r12-es": (500, 1900, 100)}
SCENES = ("calib", "plane-1", "plane-2", "figurines-1", "figurines-2")
TABLE = (
    "B/C/S",
    "D/C/S",
    "B/R/S",
    "D/R/S",
    "B/C/U",
    "D/C/U",
    "B/R/U",
    "D/R/U",
    "A/C/U",
    "A/C/S",
    "A/R/U",
    "A/R/S",
    "A/V/U",
    "A/V/S",
)
STATEMENT = Check("B is better than D", ours=0.0, paper=None, asked=None, unit="", met=False)


def reproduction(out: Path, size: tuple[int, int] = (24, 32)) -> ReproductionResult:
    """As `reproduce` returns it; its depth maps (height, width) are in the folder `out/pictures`."""
    parameters = {"main_lens.focal_length": (49.8853, 0.0021), "kappa": (0.8134, None)}
    return ReproductionResult(
        plenodepth="0.1.0",
        quick=True,
        seed=0,
        rays=32,
        data="twins",
        threads=2,
        versions={"python": "3.11.9", "numpy": "2.2.0", "numba": "0.61.0"},
        checksums={name: f"{index:016x}" for index, name in enumerate((*PLACES, "r12-elp20"), start=1)},
        calibration={name: CalibratedParameters(0.123, parameters) for name in PLACES},
        plan=tuple(Stage(name, 300.0) for name in ("scale", "relative", "absolute")),
        seconds=1234.5,
        experiments={
            "scale": _experiment("Depth scale", scale_values(), _check("median scale error, r12-a", 0.0135, 0.05)),
            "relative": _experiment(
                "Relative depth",
                relative_values(),
                _check("BLADE, mean over A, B, C", 2.1, 4.09),
                _check("same-type blocks < x & y", 5.2, 4.09),
            ),
            "absolute": _experiment(
                "Absolute depth", absolute_values(out, size), _check("B/C/S", 12.3, 18.999, "mm"), STATEMENT
            ),
            "disparity": _experiment("Corrected disparity", disparity_values()),
            "distortion": _experiment("Inverse distortion", DistortionResult({})),
            "confidence": _experiment("Confidence", confidence_values()),
            "views": _experiment("All-in-focus views", views_values()),
        },
    )


def _experiment(title: str, values: Values, *checks: Check) -> ExperimentResult:
    return ExperimentResult(
        title=title,
        text=f"{title}: what was done, in one paragraph.",
        seconds=321.0,
        tables=(
            ResultTable(
                "ours beside the paper's",
                ("method", "ours [%]", "paper [%]", "difference [%]"),
                (("BLADE | coarse", 2.1034, 4.09, -1.9866), ("golden section", 3.4, None, None)),
                "of simulated twins",
            ),
        ),
        checks=checks,
        values=values,
    )


def _check(what: str, ours: float, paper: float, unit: str = "%") -> Check:
    return Check(what, ours, paper, asked=paper, unit=unit, met=ours <= paper)


def relative_values() -> RelativeResult:
    """Of experiment `relative`, with one mean beyond the figures' end and one missing depth."""
    datasets: dict[str, dict[str, RelativeErrors]] = {}
    for number, name in enumerate(PLACES):
        methods = enumerate(zip(METHODS, ERRORS, strict=True))
        datasets[name] = {label: moved(name, error, 10 * number + index) for index, (label, error) in methods}
    means = {}
    for label in METHODS:
        found = [datasets[name][label].mean for name in ("r12-a", "r12-b", "r12-c")]
        means[label] = MeanAndSpread(float(np.mean(found)), float(np.std(found, ddof=1)))
    datasets["r12-es"]["DISP"] = with_depth(datasets["r12-es"]["DISP"], 3, float("nan"))
    return RelativeResult(datasets, means)


def with_depth(found: RelativeErrors, index: int, depth: float) -> RelativeErrors:
    """The same with another depth of one frame."""
    frames = list(found.frames)
    frames[index] = replace(frames[index], depth=depth)
    return replace(found, frames=tuple(frames))


def moved(name: str, error: float, seed: int) -> MethodRelativeErrors:
    """Of one method on one dataset."""
    random = np.random.default_rng(seed)
    near, far, step = PLACES[name]
    truth = np.arange(near, far + step, step)
    mean = error * random.uniform(0.6, 1.4)
    depth = truth * (1 + mean) + random.normal(0, 0.003 * truth)
    rows = []
    for count in range(1, len(truth)):
        std = float("nan") if count == len(truth) - 1 else float(mean / np.sqrt(count + 1))
        rows.append(DisplacementMean(float(step * count), mean * (1 + 1 / count), std, pairs=1))
    places = enumerate(zip(truth.tolist(), depth.tolist(), strict=True))
    return MethodRelativeErrors(
        mean=mean,
        std=mean / 2,
        interval=(0.8 * mean, 1.2 * mean),
        frames=tuple(FrameAgainstTruth(index, float(g), float(z)) for index, (g, z) in places),
        displacements=tuple(rows),
        depth_scale=(1.0, 0.9, 1e-5),
        camera=f"{seed:064x}",
    )


def scale_values() -> ScaleResult:
    """Of experiment `scale`."""
    random = np.random.default_rng(5)
    datasets: dict[str, dict[str, ScaleErrors]] = {}
    for name, (near, far, step) in PLACES.items():
        distance = np.arange(near, far + step, step)
        shape = (distance - near) / (far - near)
        datasets[name] = {}
        for label in ("BLADE", "BLADE, linear Γ", "aware + Γ"):
            before = -0.12 + 0.1 * shape**2 if label.startswith("BLADE") else 0.004 * np.ones_like(shape)
            after = random.normal(0, 0.002, len(shape)) + (0.01 * (shape - 0.5) if "linear" in label else 0)
            datasets[name][label] = ScaleErrors(
                order="linear" if "linear" in label else "quadratic",
                best_order="quadratic",
                depth_scale=(10.9, 0.88, 2.7e-5),
                standard_errors=(1.0, 0.01, 1e-6),
                median_before=float(np.median(before)),
                median_after=float(np.median(after)),
                median_size_before=float(np.median(np.abs(before))),
                median_size_after=float(np.median(np.abs(after))),
                frames=tuple(
                    BoardScaleError(index, float(z), float(b), float(a), weight=1.0)
                    for index, (z, b, a) in enumerate(zip(distance, before, after, strict=True))
                ),
                held_out={"linear": HeldOutBoards(0.003, (0.003,)), "quadratic": HeldOutBoards(None, (float("nan"),))},
                aperture_model="off",
            )
    return ScaleResult(datasets)


def absolute_values(out: Path, size: tuple[int, int]) -> AbsoluteResult:
    """Of experiment `absolute`; the last scene has no pictures of the refined maps."""
    scenes: dict[str, dict[str, SceneDifferences]] = {}
    pictures = {}
    for number, scene in enumerate(SCENES):
        truth = _truth(size, number)
        kept = {"truth": _kept(out, f"{scene}-truth", truth)}
        scenes[scene] = {}
        for index, label in enumerate(TABLE):
            median = 5.0 + 2 * index if label[0] != "A" else 4.0 + index / 10
            scenes[scene][label] = SceneDifferences(
                q25=median / 2,
                median=median,
                q75=2 * median,
                mean=1.3 * median,
                rmse=1.5 * median,
                bias=-median / 4,
                bad={"1 %": 20.0, "2 %": 10.0, "5 %": 2.0},
                completeness=80.0,
                common=1000,
            )
            if not (scene == SCENES[-1] and label[2] == "R"):
                kept[label] = _kept(out, f"{scene}-{label.replace('/', '')}", _found(truth, median, index))
        pictures[scene] = kept
    means = {label: float(np.mean([scenes[scene][label].median for scene in SCENES])) for label in TABLE}
    return AbsoluteResult(scenes, means, ScannerPoseError("calib", 0.4, 0.2), pictures)


def _truth(size: tuple[int, int], seed: int) -> NDArray[np.float32]:
    v, u = np.mgrid[: size[0], : size[1]] / max(size)
    depth = 1200 - 300 * v - 100 * seed * u
    depth[np.hypot(u - 0.4, v - 0.35) < 0.15] = 550
    return depth.astype(np.float32)


def _found(truth: NDArray[np.float32], median: float, seed: int) -> NDArray[np.float32]:
    random = np.random.default_rng(seed)
    found = truth + random.laplace(0, median, truth.shape)
    found[random.random(truth.shape) < 0.2] = np.nan
    return found.astype(np.float32)


def _kept(out: Path, name: str, depth: NDArray[np.float32]) -> str:
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / "pictures" / f"{name}.npz", depth=depth)
    return f"pictures/{name}.npz"


def views_values() -> ViewsResult:
    """Of experiment `views`."""
    found = SceneView(ViewFigures(27.1, 25.3, 0.81, 1.0, 0.12), ViewFigures(22.9, 21.4, 0.62, 0.99, 0.05))
    return ViewsResult({"soft": replace(found, all_in_focus=replace(found.all_in_focus, mtf50=None)), "edges": found})


def confidence_values() -> ConfidenceResult:
    """Of experiment `confidence`."""
    methods = {label: judge(lens_errors(seed)) for seed, label in enumerate(("BLADE", "aware"))}
    return ConfidenceResult({"r12-elp20": DatasetConfidence(5, methods)}, {"r12-es": "has no truth"})


def lens_errors(seed: int = 0, count: int = 20000) -> LensErrors:
    """Gaussian errors of known σ, three times as large at boundaries; the confidence knows of both, to a degree."""
    random = np.random.default_rng(seed)
    sigma = random.uniform(0.005, 0.02, count)
    boundary = random.choice([0, 1, 2, 5, 12, np.inf], count)
    size = sigma * np.where(boundary < 1, 3, 1)
    error = random.normal(0, size)
    error[random.random(count) < 0.1] = np.nan
    return LensErrors(
        error=error.astype(np.float32),
        sigma=sigma.astype(np.float32),
        confidence=np.exp(-30 * size * random.uniform(0.5, 2, count)).astype(np.float32),
        lens_type=random.integers(0, 3, count).astype(np.int32),
        boundary=boundary.astype(np.float32),
        contrast=random.uniform(0, 0.2, count).astype(np.float32),
    )


def disparity_values() -> DisparityResult:
    """Of experiment `disparity`."""
    return DisparityResult(moved("r12-a", 0.15, 1), moved("r12-a", 0.19, 1))
