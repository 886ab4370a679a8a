"""What depth costs: seconds and memory of a full frame, the ratio to plain NumPy, and how it grows with the task."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.views import plan_views
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.twins import wall_scene

LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
SIZES = {  # lenses
    "full": (176, 152),
    "half": (124, 108),
    "quarter": (88, 76),
    "some lenses": (16, 14),
    "some pixels": (9, 9),
}
MEMORY_LIMIT = 1.5e9  # bytes
CPU_LIMITS = {False: 2.0, True: 5.5}  # seconds of a full frame, coarse and refined
LEAST_RATIO = 50
NONLINEARITY = 0.1  # of the largest cost
LARGEST_APERTURE_RATIO = 1.25  # of undoing the aperture per pixel over not doing so

COARSE, REFINED = DepthSettings(), DepthSettings(refined=True)
KINDS = {"coarse": COARSE, "refined": REFINED}


@cache
def camera(size: str) -> PlenopticCamera:
    whole = preset("r12-es")
    chosen = whole if size == "full" else shrunk(whole, *SIZES[size])
    return replace(chosen, main_lens=replace(chosen.main_lens, f_number=1.4), depth_scale=None)


@cache
def wall(size: str = "full") -> RawImage:
    settings = RenderSettings(rays=8, f_number=1.4, vignetting=False, seed=900)
    light = render(wall_scene(900.0, 70_000, camera(size)), camera(size), settings).light @ LUMINANCE
    return RawImage(np.asarray(light, np.float32), None, 0.03, Devignetting.NONE, size)


@cache
def cost(settings: DepthSettings, size: str, threads: int) -> tuple[float, float]:
    """CPU-seconds and seconds, the better of two runs."""
    runs = []
    for _ in range(2):
        wall_start, start = time.perf_counter(), time.process_time()
        estimate_virtual_depth(wall(size), camera(size), settings, threads=threads)
        runs.append((time.process_time() - start, time.perf_counter() - wall_start))
    return min(runs)


def compile_all() -> None:
    for settings in KINDS.values():
        estimate_virtual_depth(wall("quarter"), camera("quarter"), replace(settings, hypotheses=6))


@pytest.mark.parametrize("kind", KINDS)
def test_cpu_seconds_of_a_full_frame(kind: str) -> None:
    compile_all()
    height, width = wall().gray.shape
    settings = KINDS[kind]
    (cpu, one), (cpu_of_two, two) = (cost(settings, "full", threads) for threads in (1, 2))
    print(
        f"\n{width} × {height} px, {kind}: {cpu:.2f} CPU-seconds, {cpu_of_two:.2f} with two threads; {one:.2f} s on "
        f"one thread, {two:.2f} s on two ({one / two:.2f} times faster)",
        end="",
    )
    assert min(cpu, cpu_of_two) <= CPU_LIMITS[settings.refined]


@cache
def wall_at_f_4() -> tuple[RawImage, PlenopticCamera]:
    chosen = replace(preset("r12-es"), depth_scale=None)
    settings = RenderSettings(rays=32, vignetting=False, seed=900)
    light = render(wall_scene(900.0, 70_000, chosen), chosen, settings).light @ LUMINANCE
    return RawImage(np.asarray(light, np.float32), None, 0.02, Devignetting.NONE, "f/4"), chosen


@pytest.mark.parametrize("kind", KINDS)
def test_ratio_of_undoing_the_aperture(kind: str) -> None:
    image, chosen = wall_at_f_4()
    models = {model: replace(KINDS[kind], aperture_model=model) for model in ("off", "per_pixel")}
    seconds: dict[str, list[float]] = {model: [] for model in models}
    for _ in range(4):  # the first compiles; both models in turn, because the machine changes its mind
        for model, settings in models.items():
            start = time.process_time()
            estimate_virtual_depth(image, chosen, settings, threads=1)
            seconds[model].append(time.process_time() - start)
    off, per_pixel = (min(seconds[model][1:]) for model in models)
    print(f"\nf/4, {kind}: off {off:.2f}, per_pixel {per_pixel:.2f} CPU-seconds, ratio {per_pixel / off:.2f}", end="")
    assert per_pixel <= LARGEST_APERTURE_RATIO * off


@pytest.mark.parametrize("kind", KINDS)
def test_ratio_to_plain_numpy(kind: str) -> None:
    compile_all()
    size = "some pixels" if KINDS[kind].refined else "some lenses"
    start = time.process_time()
    estimate_virtual_depth(wall(size), camera(size), replace(KINDS[kind], kernel="reference"), threads=1)
    plain = time.process_time() - start
    ratio = plain / cost(KINDS[kind], size, 1)[0]
    print(f"\n{kind}: the NumPy reference takes {ratio:.0f} times as long", end="")
    assert ratio > LEAST_RATIO


# A child of a large process starts with the high-water mark of its parent (getrusage), so Linux' own of the child is
# read where there is one.
MEASURE_MEMORY = """
import resource, sys, numpy as np
from dataclasses import replace
from plenodepth.camera import preset
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.raw.image import Devignetting, RawImage

def peak():
    try:
        lines = open("/proc/self/status").read().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

camera = preset("r12-es")
camera = replace(camera, main_lens=replace(camera.main_lens, f_number=1.4), depth_scale=None)
height, width = camera.sensor.height, camera.sensor.width
gray = np.random.default_rng(0).normal(0.5, 0.1, (height, width // 2)).astype(np.float32).repeat(2, axis=1)
image = RawImage(gray, None, 0.01, Devignetting.NONE)
settings = DepthSettings(refined=sys.argv[1] == "refined")
before = peak()
estimate_virtual_depth(image, camera, settings)
print(before, peak())
"""


@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_a_full_frame(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE_MEMORY, kind], check=True, capture_output=True, text=True)
    before, after = map(int, done.stdout.split())
    print(f"\n{kind}: {after / 1e9:.2f} GB in all, {(after - before) / 1e9:.2f} GB added by the estimation", end="")
    assert after < MEMORY_LIMIT


def assert_linear(title: str, unit: str, amounts: Sequence[float], measure: Callable[[int], float]) -> None:
    """Print CPU-seconds over amounts with a straight line through them, and how far they are off it."""
    seconds = np.array([measure(n) for n in range(len(amounts))])
    slope, start = np.polyfit(amounts, seconds, 1)
    off = float(np.abs(seconds - (start + slope * np.array(amounts))).max() / seconds.max())
    cells = ", ".join(f"{amount:g}: {value:.2f}" for amount, value in zip(amounts, seconds, strict=True))
    print(
        f"\n{title}; {unit}: CPU-seconds {cells}\n  = {start:.2f} + {slope:.4f} n, "
        f"farthest off the line {100 * off:.1f} % of the largest",
        end="",
    )
    assert off < NONLINEARITY


@pytest.mark.parametrize("kind", KINDS)
def test_cost_grows_with_the_number_of_hypotheses(kind: str) -> None:
    compile_all()
    counts = (12, 24, 48, 96)
    assert_linear(
        f"{kind}, a quarter of the frame",
        "hypotheses",
        counts,
        lambda n: cost(replace(KINDS[kind], hypotheses=counts[n]), "quarter", 1)[0],
    )


@pytest.mark.parametrize("kind", KINDS)
def test_cost_grows_with_the_number_of_views(kind: str) -> None:
    compile_all()
    settings = [replace(KINDS[kind], reach=reach, far_reach=reach) for reach in (1.1, 1.8, 2.7, 3.0)]
    counts = [plan_views(camera("quarter"), chosen).step_k.shape[1] for chosen in settings]
    assert_linear(f"{kind}, a quarter of the frame", "views", counts, lambda n: cost(settings[n], "quarter", 1)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_cost_grows_with_the_image(kind: str) -> None:
    compile_all()
    sizes = ("quarter", "half", "full")
    lenses = [SIZES[size][0] * SIZES[size][1] / 1000 for size in sizes]
    assert_linear(kind, "thousands of micro-images", lenses, lambda n: cost(KINDS[kind], sizes[n], 1)[0])
