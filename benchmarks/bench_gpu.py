"""The search on a GPU: is it right, and how long does each stage take?

    PYTHONPATH=src python benchmarks/bench_gpu.py [--seconds 280]

First a table of differences from the CPU, then one of milliseconds by CUDA events. Nothing is read from files, and
packages that only other parts of plenodepth need may be missing. With OUT set, OUT/bench_gpu.json holds all numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import traceback
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

OPTIONAL = {"pydantic", "isal", "jinja2", "pyceres", "embreex", "trimesh", "yaml", "tifffile", "OpenEXR", "PIL"}


class Anything(type):
    """A class that has whatever attribute it is asked for."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class Stub(metaclass=Anything):
    """A base class, a decorator, or a mark of a type."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __init_subclass__(cls, **_: Any) -> None:
        pass

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    def __call__(self, function: Any) -> Any:
        return function


class Missing:
    """Stands in for packages that are not installed: files are read with them, and none is read here."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.split(".")[0] in OPTIONAL else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__getattr__ = lambda name: Anything(name, (Stub,), {})  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


sys.meta_path.append(Missing())  # type: ignore[arg-type]  # the last: only what is nowhere else

import numba as nb  # noqa: E402
import numpy as np  # noqa: E402

from plenodepth.camera.model import PlenopticCamera  # noqa: E402
from plenodepth.camera.presets import preset, shrunk  # noqa: E402
from plenodepth.depth.estimate import _ring, estimate_virtual_depth  # noqa: E402
from plenodepth.depth.kernels.cuda.device import cupy, gpu  # noqa: E402
from plenodepth.depth.kernels.cuda.plan import Plan  # noqa: E402
from plenodepth.depth.kernels.cuda.search import _sweep_pixels, kernel, search  # noqa: E402
from plenodepth.depth.settings import DepthSettings  # noqa: E402
from plenodepth.raw.image import Devignetting, RawImage  # noqa: E402

SIZES = {"R5": (88, 102), "R12": (176, 152), "R32": (300, 250)}  # lenses
HYPOTHESES = (26, 42, 64)
REPEATS = 20
NOISE = 0.01
WAVES = 12


def camera(lenses: tuple[int, int]) -> PlenopticCamera:
    chosen = shrunk(preset("r12-es"), *lenses)
    return replace(chosen, main_lens=replace(chosen.main_lens, f_number=1.4), depth_scale=None)


@nb.njit(parallel=True)
def paint(centers, depth, radius, waves, gray):  # type: ignore[no-untyped-def]
    """Waves (n, 4: kx, ky, phase, height) seen by each lens at its virtual depth."""
    height, width = gray.shape
    for lens in nb.prange(len(centers)):
        cx, cy, v = centers[lens, 0], centers[lens, 1], depth[lens]
        for row in range(max(int(cy - radius), 0), min(int(cy + radius) + 2, height)):
            for column in range(max(int(cx - radius), 0), min(int(cx + radius) + 2, width)):
                x, y = cx / v + (column - cx), cy / v + (row - cy)
                value = 0.5
                for n in range(len(waves)):
                    value += waves[n, 3] * np.sin(waves[n, 0] * x + waves[n, 1] * y + waves[n, 2])
                gray[row, column] = value


def image(optics: PlenopticCamera, missing: float = 0.0) -> RawImage:
    """Eight upright strips at |v| = 3, 4 … 10, with noise."""
    rng = np.random.default_rng(5)
    grid = optics.micro_images
    centers = grid.center(*grid.lattice.indices()).reshape(-1, 2)
    depth = 3 + np.floor(8 * np.clip(centers[:, 0] / optics.sensor.width, 0, 0.999))
    angle, length = rng.uniform(0, np.pi, WAVES), rng.uniform(4, 20, WAVES)
    step = 2 * np.pi / length
    height = np.full(WAVES, 0.06)
    waves = np.stack([step * np.cos(angle), step * np.sin(angle), rng.uniform(0, 6, WAVES), height], axis=1)
    gray = np.full((optics.sensor.height, optics.sensor.width), 0.5, np.float32)
    paint(centers, depth, float(grid.radius), waves, gray)
    gray += NOISE * rng.standard_normal(gray.shape, np.float32)
    if missing:
        gray[rng.random(gray.shape, np.float32) < missing] = np.nan
    return RawImage(gray, None, NOISE, Devignetting.NONE)


def differences(settings: DepthSettings, optics: PlenopticCamera, source: RawImage) -> dict[str, Any]:
    """How the GPU's maps differ from the CPU's."""
    started = time.perf_counter()
    cpu = estimate_virtual_depth(source, optics, settings)
    between = time.perf_counter()
    first = estimate_virtual_depth(source, optics, settings, device="cuda")
    seconds = time.perf_counter() - between
    second = estimate_virtual_depth(source, optics, settings, device="cuda")
    names = ("virtual_depth", "sigma", "confidence", "cost", "views")
    present, found = np.isfinite(cpu.virtual_depth), np.isfinite(first.virtual_depth)
    both = present & found
    away = np.abs(cpu.virtual_depth - first.virtual_depth)[both]
    ratio = np.abs(first.sigma[both] / cpu.sigma[both] - 1)
    return {
        "depths": int(present.sum()),
        "only one has": int((present != found).sum()),
        "dv < 1e-3, %": round(100 * float(np.mean(away < 1e-3)), 4),
        "median dv": float(np.median(away)),
        "largest dv": float(away.max(initial=0)),
        "sigma 1 %": round(100 * float(np.mean(ratio < 0.01)), 3),
        "confidence": round(100 * float(np.isclose(cpu.confidence, first.confidence, atol=1e-4).mean()), 3),
        "cost": float(np.abs(cpu.cost - first.cost)[both].max(initial=0)),
        "views differ": int((cpu.views != first.views).sum()),
        "same twice": all(np.array_equal(getattr(first, n), getattr(second, n), equal_nan=True) for n in names),
        "CPU s": round(between - started, 2),
        "first GPU s": round(seconds, 2),
    }


class Stages:
    """Milliseconds of each stage of a search."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def __call__(self, stage: str) -> None:
        event = cupy().cuda.Event()
        event.record()
        self.events.append((stage, event))

    def taken(self) -> dict[str, float]:
        self.events[-1][1].synchronize()
        taken: dict[str, float] = {}
        for (_, one), (stage, other) in zip(self.events, self.events[1:], strict=False):
            taken[stage] = taken.get(stage, 0.0) + float(cupy().cuda.get_elapsed_time(one, other))
        taken["all"] = float(cupy().cuda.get_elapsed_time(self.events[0][1], self.events[-1][1]))
        return taken


def milliseconds(settings: DepthSettings, optics: PlenopticCamera, on_device: Any) -> dict[str, float]:
    """Medians of the stages of a search, of an image on the device to maps on the device."""
    plan = Plan(optics, settings, NOISE, settings.aperture_model)  # type: ignore[arg-type]
    runs = []
    for n in range(REPEATS + 3):
        stages = Stages()
        stages("start")
        search(plan, on_device, _ring(plan.views), stages)
        if n >= 3:  # the first compile, and fill the pool of memory
            runs.append(stages.taken())
    return {stage: round(statistics.median(run[stage] for run in runs), 3) for stage in runs[0]}


def resources(settings: DepthSettings, optics: PlenopticCamera) -> dict[str, Any]:
    """What the kernels of a search use."""
    plan = Plan(optics, settings, NOISE, settings.aperture_model)  # type: ignore[arg-type]
    if settings.refined:
        used, threads, shared = _sweep_pixels(plan), plan.refined_threads, plan.refined_shared(plan.together)
    else:
        used, threads = kernel("coarse.cu", "sweep_lenses", resampled=plan.resampled), 128
        shared = plan.coarse_shared
    return {
        "side": plan.tiles.side,
        "neighbours": plan.shapes.neighbours,
        "planes": plan.planes,
        "threads": threads,
        "registers": used.num_regs,
        "local bytes": used.local_size_bytes,
        "shared bytes": shared,
        "together": plan.together,
    }


def table(rows: list[dict[str, Any]]) -> None:
    """Print rows with the same columns; a number that is missing is a dash."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([f"{row.get(name, '-'):.4g}" if isinstance(row.get(name), float) else str(row.get(name, "-"))
                       for name in names] for row in rows)]  # fmt: skip
    widths = [max(len(cell[n]) for cell in cells) for n in range(len(names))]
    for cell in cells:
        print("  ".join(text.rjust(width) for text, width in zip(cell, widths, strict=True)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=280.0, help="After so many no other timing is begun.")
    parser.add_argument("--lenses", type=int, nargs=2, help="Of the comparison; default: those of an R5.")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), help="What to time.")
    options = parser.parse_args()
    started, results = time.perf_counter(), {"device": gpu().name, "differences": [], "resources": [], "times": []}
    print(gpu(), flush=True)
    kinds = [
        (f"{'refined' if refined else 'coarse'} {model}", DepthSettings(refined=refined, aperture_model=model))
        for refined in (False, True)
        for model in ("off", "per_pixel")
    ]
    optics = camera(tuple(options.lenses or SIZES["R5"]))
    for missing in (0.0, 0.01):
        source = image(optics, missing)
        for name, settings in kinds:
            attempt(results["differences"], {"search": name, "missing": missing}, differences, settings, optics, source)
    table(results["differences"])
    for name, settings in kinds:
        attempt(results["resources"], {"search": name}, resources, settings, optics)
    table(results["resources"])
    save(results)
    for size in options.sizes:
        optics = camera(SIZES[size])
        source = image(optics)
        on_device = cupy().asarray(source.gray)
        for name, settings in kinds:
            for hypotheses in HYPOTHESES:
                if time.perf_counter() - started < options.seconds:
                    what = {"size": size, "search": name, "hypotheses": hypotheses}
                    chosen = replace(settings, hypotheses=hypotheses)
                    attempt(results["times"], what, milliseconds, chosen, optics, on_device)
        for name, settings in kinds:
            if time.perf_counter() - started < options.seconds:
                what = {"size": size, "search": f"{name}, image to maps"}
                attempt(results["times"], what, frame, settings, optics, source)
        save(results)
    table(results["times"])
    print(f"{time.perf_counter() - started:.0f} s in all")


def frame(settings: DepthSettings, optics: PlenopticCamera, source: RawImage) -> dict[str, float]:
    """A whole frame with all transfers and what stays on the CPU, wall milliseconds."""
    runs = []
    for _ in range(5):
        before = time.perf_counter()
        estimate_virtual_depth(source, optics, settings, device="cuda")
        runs.append(1000 * (time.perf_counter() - before))
    return {"all": round(statistics.median(runs[1:]), 1)}


def attempt(rows: list[dict[str, Any]], what: dict[str, Any], measure: Any, *arguments: Any) -> None:
    """Add what a measurement finds to the rows; if it fails, the others go on."""
    try:
        rows.append({**what, **measure(*arguments)})
    except Exception as error:
        traceback.print_exc()
        rows.append({**what, "error": type(error).__name__})


def save(results: dict[str, Any]) -> None:
    if os.environ.get("OUT"):
        (Path(os.environ["OUT"]) / "bench_gpu.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
