"""What a user waits for: `plenodepth depth` as it is typed, from its start to its last file.

    pytest benchmarks/bench_whole_frame.py -s -o python_files="bench_*.py"

Frames of an R5, R12 and R32 at f/1.4 and f/4 are simulated into a folder of their own for each run, with few rays: what
a frame costs hardly depends on what it shows. Each command runs in a process of its own, warm: what it compiles was
compiled before. Seconds are printed; asked for are ratios, memory, and that both grow in proportion to the pixels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera, preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.io.images import write_image
from plenodepth.sim.rays import ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import expose
from plenodepth.sim.simulate import white_scene

LENSES = {"R5": (88, 102), "R12": (176, 152), "R32": (300, 250)}  # 2048 × 2048, 4080 × 3068 and about 7000 × 5000 px
F_NUMBERS = (1.4, 4.0)
KINDS = ("coarse", "refined")
DISTANCE, RAYS, SEED = 900.0, 4, 70_000  # mm to the wall, rays per pixel

LARGEST_WHOLE = {"coarse": 2.0, "refined": 1.5}  # CPU-seconds of the command without its start over those of its search
LARGEST_PEAK = {"coarse": 1.0e9, "refined": 1.3e9}  # bytes, R12
LEAST_SPEED_UP = 1.8  # of two threads over the whole command
NONLINEARITY = 0.1  # of the largest: how far time and memory may be off a straight line over the pixels
RUNS = 2  # of which the one with less CPU time counts

PROGRAM = Path(sys.executable).with_name("plenodepth")
START = "from plenodepth.cli.app import command_tree; command_tree(['depth']); import plenodepth.metric.frame"
# The high-water mark of a process includes that of the one which started it, so a small process does so.
MEASURE = """
import json, os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([status, time.perf_counter() - began, used.ru_utime + used.ru_stime, peak]))
"""


class Cost(NamedTuple):
    """Of a command: seconds on the wall, seconds of all processors, bytes at its peak, CPU-seconds by stage."""

    wall: float
    cpu: float
    peak: int
    stages: dict[str, float]


@dataclass(frozen=True)
class Frame:
    """The files of a raw image, and its number of pixels."""

    folder: Path
    pixels: int


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    return Frames(tmp_path_factory.mktemp("whole_frame"))


class Frames:
    """Frames that are simulated at first use, and what `plenodepth depth` takes for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frame, self.cost, self.start = cache(self._frame), cache(self._cost), cache(self._start)

    def _frame(self, size: str, f_number: float) -> Frame:
        folder = self.folder / f"{size}-{f_number}"
        folder.mkdir()
        camera = camera_of(size, f_number)
        save_camera(camera, folder / "camera.yaml")
        for name, scene in (("raw", wall_scene(DISTANCE, SEED, camera)), ("white", white_scene(camera))):
            write_shot(scene, camera, folder / f"{name}.png")
        return Frame(folder, camera.sensor.width * camera.sensor.height)

    def _cost(self, size: str, f_number: float, kind: str, threads: int | None = None) -> Cost:
        folder = self.frame(size, f_number).folder
        out = folder / "depth"
        command = [str(PROGRAM), "depth", str(folder / "raw.png"), "--white", str(folder / "white.png")]
        command += ["--camera", str(folder / "camera.yaml"), f"--{kind}", "--out", str(out)]
        command += [] if threads is None else ["--threads", str(threads)]
        costs = []
        if (size, threads) != ("R5", None):
            self.cost("R5", f_number, kind)  # compiles what is not yet compiled
        for run in range(RUNS + (size == "R5")):
            cost = measured(command)
            stages = json.loads((out / "raw.json").read_text(encoding="utf-8"))["stages"]
            if run or size != "R5":
                costs.append(cost._replace(stages={name: taken["cpu_seconds"] for name, taken in stages.items()}))
        return min(costs, key=lambda cost: cost.cpu)

    def _start(self) -> Cost:
        return min((measured([sys.executable, "-c", START]) for _ in range(RUNS + 1)), key=lambda cost: cost.cpu)


def camera_of(size: str, f_number: float) -> PlenopticCamera:
    """An R12 at an f-number, with as many of its lenses as the size asks for."""
    camera = preset("r12-es")
    camera = camera if size == "R12" else shrunk(camera, *LENSES[size])
    return replace(camera, main_lens=replace(camera.main_lens, f_number=f_number), depth_scale=None)


def write_shot(scene: Scene, camera: PlenopticCamera, path: Path) -> None:
    """The raw image of a scene, without its truth."""
    setup = ray_setup(camera, *scene_depths(scene, camera.main_lens.focal_length))
    light = render(scene, camera, RenderSettings(rays=RAYS), setup=setup).light
    write_image(expose(light, owner=setup.owner), path)


def measured(command: Sequence[str]) -> Cost:
    """Run a command; what it prints is dropped, unless it fails."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True)
    status, wall, cpu, peak = json.loads(done.stdout)
    assert status == 0, done.stderr
    return Cost(wall, cpu, peak, {})


def print_stages(title: str, costs: dict[str, Cost], start: Cost) -> None:
    """A table: stages and totals down, one column for each cost."""
    rows = {
        name: [cost.stages.get(name, 0.0) for cost in costs.values()] for cost in costs.values() for name in cost.stages
    }
    rows["start-up, by itself"] = [start.cpu] * len(costs)
    rows["whole, CPU-seconds"] = [cost.cpu for cost in costs.values()]
    rows["whole, seconds"] = [cost.wall for cost in costs.values()]
    rows["(whole − start-up) / search"] = [(cost.cpu - start.cpu) / cost.stages["search"] for cost in costs.values()]
    rows["peak, GB"] = [cost.peak / 1e9 for cost in costs.values()]
    print(f"\n{title:30s}" + "".join(f"{name:>10s}" for name in costs))
    for name, values in rows.items():
        print(f"  {name:28s}" + "".join(f"{value:10.2f}" for value in values))


@pytest.mark.parametrize("f_number", F_NUMBERS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_command_is_little_more_than_its_search(kind: str, f_number: float, frames: Frames) -> None:
    costs = {size: frames.cost(size, f_number, kind) for size in LENSES}
    start = frames.start()
    print_stages(f"{kind}, f/{f_number:g}: CPU-seconds", costs, start)
    cost = costs["R12"]
    assert cost.cpu - start.cpu <= LARGEST_WHOLE[kind] * cost.stages["search"]


@pytest.mark.parametrize("f_number", F_NUMBERS)
@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_a_whole_frame(kind: str, f_number: float, frames: Frames) -> None:
    assert frames.cost("R12", f_number, kind).peak <= LARGEST_PEAK[kind]


@pytest.mark.parametrize("f_number", F_NUMBERS)
@pytest.mark.parametrize("kind", KINDS)
def test_time_and_memory_grow_with_the_pixels(kind: str, f_number: float, frames: Frames) -> None:
    start, costs = frames.start(), [frames.cost(size, f_number, kind) for size in LENSES]
    pixels = np.array([frames.frame(size, f_number).pixels for size in LENSES]) / 1e6
    measures = {
        "CPU-seconds": (start.cpu, np.array([cost.cpu for cost in costs])),
        "GB at the peak": (start.peak / 1e9, np.array([cost.peak / 1e9 for cost in costs])),
    }
    sizes = " : ".join(f"{size} ({count:.1f} million px)" for size, count in zip(LENSES, pixels, strict=True))
    print(f"\n{kind}, f/{f_number:g}, {sizes}")
    farthest = []
    for name, (at_start, values) in measures.items():
        per_pixel = (values - at_start) / pixels
        slope, fixed = np.polyfit(pixels, values, 1)
        farthest.append(float(np.abs(fixed + slope * pixels - values).max() / values.max()))
        ratios = " : ".join(f"{ratio:.2f}" for ratio in per_pixel / per_pixel[list(LENSES).index("R12")])
        line = f"{fixed:.2f} + {slope:.3f} per million, off by {100 * farthest[-1]:.1f} % of the largest at most"
        print(f"  {name}: per pixel, without the start-up, {ratios}; {line}")
    assert max(farthest) <= NONLINEARITY


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="the machine has one core")
@pytest.mark.parametrize("kind", KINDS)
def test_two_threads_over_the_whole_command(kind: str, frames: Frames) -> None:
    one, two = (frames.cost("R12", 4.0, kind, threads) for threads in (1, 2))
    print(f"\n{kind}, f/4: {one.wall:.1f} s on one thread, {two.wall:.1f} s on two ({one.wall / two.wall:.2f} times)")
    assert one.wall / two.wall >= LEAST_SPEED_UP
