"""A result of `plenodepth reproduce` made by hand, with the structure of the real one and invented figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.studies.reproduction.experiments.confidence import judge
from plenodepth.studies.reproduction.lens_errors import LensErrors

METHODS = ("BLADE", "BLADEu", "DISP", "aware", "aware + Γ", "BLADE, linear Γ", "golden section", "same-type blocks")
ERRORS = (0.021, 0.11, 0.095, 0.008, 0.006, 0.027, 0.034, 0.052)  # about these
PLACES = {"r12-a": (265, 385, 10), "r12-b": (450, 900, 50), "r12-c": (500, 1000, 50), "r12-es": (500, 1900, 100)}
SCENES = ("calib", "plane-1", "plane-2", "figurines-1", "figurines-2")
TABLE = ("B/C/S", "D/C/S", "B/R/S", "D/R/S", "B/C/U", "D/C/U", "B/R/U", "D/R/U", "A/C/U", "A/C/S", "A/R/U", "A/R/S")
STATEMENT = {"what": "B is better than D", "ours": 0.0, "paper": None, "asked": None, "unit": "", "met": False}


def reproduction(out: Path, size: tuple[int, int] = (24, 32)) -> dict[str, Any]:
    """As `reproduce` returns it; its depth maps (height, width) are in the folder `out/pictures`."""
    return {
        "plenodepth": "0.1.0",
        "quick": True,
        "seed": 0,
        "rays": 32,
        "data": "twins",
        "threads": 2,
        "versions": {"python": "3.11.9", "numpy": "2.2.0", "numba": "0.61.0"},
        "checksums": {name: f"{index:016x}" for index, name in enumerate((*PLACES, "r12-elp20"), start=1)},
        "calibration": {
            name: {
                "rmse_uv": 0.123,
                "parameters": {"main_lens.focal_length": [49.8853, 0.0021], "kappa": [0.8134, None]},
            }
            for name in PLACES
        },
        "seconds": 1234.5,
        "plan": [{"experiment": name, "seconds": 300.0} for name in ("scale", "relative", "absolute")],
        "experiments": {
            "scale": _experiment("Depth scale", scale_values(), [_check("median scale error, r12-a", 0.0135, 0.05)]),
            "relative": _experiment(
                "Relative depth",
                relative_values(),
                [_check("BLADE, mean over A, B, C", 2.1, 4.09), _check("same-type blocks < x & y", 5.2, 4.09)],
            ),
            "absolute": _experiment(
                "Absolute depth", absolute_values(out, size), [_check("B/C/S", 12.3, 18.999, "mm"), STATEMENT]
            ),
            "disparity": _experiment("Corrected disparity", disparity_values(), []),
            "distortion": _experiment("Inverse distortion", {"datasets": {}}, []),
            "confidence": _experiment("Confidence", confidence_values(), []),
        },
    }


def _experiment(title: str, values: dict[str, Any], checks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "title": title,
        "text": f"{title}: what was done, in one paragraph.",
        "seconds": 321.0,
        "tables": [
            {
                "title": "ours beside the paper's",
                "columns": ["method", "ours [%]", "paper [%]", "difference [%]"],
                "rows": [["BLADE | coarse", 2.1034, 4.09, -1.9866], ["golden section", 3.4, None, None]],
                "note": "of simulated twins",
            }
        ],
        "checks": checks,
        "values": values,
    }


def _check(what: str, ours: float, paper: float, unit: str = "%") -> dict[str, Any]:
    return {"what": what, "ours": ours, "paper": paper, "asked": paper, "unit": unit, "met": ours <= paper}


def relative_values() -> dict[str, Any]:
    """Of experiment `relative`, with one mean beyond the figures' end and one missing depth."""
    datasets: dict[str, Any] = {}
    for number, name in enumerate(PLACES):
        methods = enumerate(zip(METHODS, ERRORS, strict=True))
        datasets[name] = {label: moved(name, error, 10 * number + index) for index, (label, error) in methods}
    means = {}
    for label in METHODS:
        found = [datasets[name][label]["mean"] for name in ("r12-a", "r12-b", "r12-c")]
        means[label] = {"mean": float(np.mean(found)), "spread": float(np.std(found, ddof=1))}
    datasets["r12-es"]["DISP"]["frames"][3]["depth"] = None
    return {"datasets": datasets, "over_a_b_c": means}


def moved(name: str, error: float, seed: int) -> dict[str, Any]:
    """Of one method on one dataset."""
    random = np.random.default_rng(seed)
    near, far, step = PLACES[name]
    truth = np.arange(near, far + step, step)
    mean = error * random.uniform(0.6, 1.4)
    depth = truth * (1 + mean) + random.normal(0, 0.003 * truth)
    rows = []
    for count in range(1, len(truth)):
        std = None if count == len(truth) - 1 else mean / np.sqrt(count + 1)
        rows.append({"displacement": float(step * count), "mean": mean * (1 + 1 / count), "std": std, "pairs": 1})
    return {
        "mean": mean,
        "std": mean / 2,
        "interval": [0.8 * mean, 1.2 * mean],
        "frames": [
            {"frame": index, "truth": float(g), "depth": float(z)}
            for index, (g, z) in enumerate(zip(truth, depth, strict=True))
        ],
        "displacements": rows,
        "depth_scale": [1.0, 0.9, 1e-5],
    }


def scale_values() -> dict[str, Any]:
    """Of experiment `scale`."""
    random = np.random.default_rng(5)
    datasets: dict[str, Any] = {}
    for name, (near, far, step) in PLACES.items():
        distance = np.arange(near, far + step, step)
        shape = (distance - near) / (far - near)
        datasets[name] = {}
        for label in ("BLADE", "BLADE, linear Γ", "aware + Γ"):
            before = -0.12 + 0.1 * shape**2 if label.startswith("BLADE") else 0.004 * np.ones_like(shape)
            after = random.normal(0, 0.002, len(shape)) + (0.01 * (shape - 0.5) if "linear" in label else 0)
            datasets[name][label] = {
                "order": "linear" if "linear" in label else "quadratic",
                "depth_scale": [10.9, 0.88, 2.7e-5],
                "standard_errors": [1.0, 0.01, 1e-6],
                "median_before": float(np.median(before)),
                "median_after": float(np.median(after)),
                "median_size_before": float(np.median(np.abs(before))),
                "median_size_after": float(np.median(np.abs(after))),
                "frames": [
                    {"frame": index, "distance": float(z), "before": float(b), "after": float(a)}
                    for index, (z, b, a) in enumerate(zip(distance, before, after, strict=True))
                ],
                "held_out": {"linear": {"median": 0.003}, "quadratic": {"median": None}},
            }
    return {"datasets": datasets}


def absolute_values(out: Path, size: tuple[int, int]) -> dict[str, Any]:
    """Of experiment `absolute`; the last scene has no pictures of the refined maps."""
    scenes, pictures = {}, {}
    for number, scene in enumerate(SCENES):
        truth = _truth(size, number)
        kept = {"truth": _kept(out, f"{scene}-truth", truth)}
        scenes[scene] = {}
        for index, label in enumerate(TABLE):
            median = 5.0 + 2 * index if label[0] != "A" else 4.0 + index / 10
            scenes[scene][label] = {
                "q25": median / 2,
                "median": median,
                "q75": 2 * median,
                "mean": 1.3 * median,
                "bias": -median / 4,
                "bad": {"1 %": 20.0},
                "completeness": 0.8,
                "common": 1000,
            }
            if not (scene == SCENES[-1] and label[2] == "R"):
                kept[label] = _kept(out, f"{scene}-{label.replace('/', '')}", _found(truth, median, index))
        pictures[scene] = kept
    means = {label: float(np.mean([scenes[scene][label]["median"] for scene in SCENES])) for label in TABLE}
    return {"scenes": scenes, "means": means, "lidar_pose": {"mm": 0.4, "mrad": 0.2}, "pictures": pictures}


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


def confidence_values() -> dict[str, Any]:
    """Of experiment `confidence`."""
    methods = {label: judge(lens_errors(seed)) for seed, label in enumerate(("BLADE", "aware"))}
    return {"datasets": {"r12-elp20": {"frames": 5, "methods": methods}}, "skipped": {"r12-es": "has no truth"}}


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


def disparity_values() -> dict[str, Any]:
    """Of experiment `disparity`."""
    return {"corrected": moved("r12-a", 0.15, 1), "uncorrected": moved("r12-a", 0.19, 1)}
