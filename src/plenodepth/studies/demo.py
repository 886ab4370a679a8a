"""The whole chain on a simulated scene: raw image, depth per micro-image, per pixel and dense, beside the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.settings import DepthSettings
from plenodepth.metric.frame import estimate_depth
from plenodepth.metric.result import DepthResult
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import load_raw
from plenodepth.sim import FrameSettings, RenderSettings, SimulatedFrame, simulate_scene, simulate_white
from plenodepth.sim.scenes.scene_names import scene_path

SCENE = "figurines"
CAMERA = "r12-es"  # at its own f-number, 4: the aperture's effect on depth can be undone
F_NUMBER = 4.0
RAYS = 12  # per pixel: grainy, and quick
QUICK_ARRAY = 48, 40  # columns and rows of lenses
GOOD = 0.05  # of the depth


@dataclass(frozen=True)
class Agreement:
    """How far depth is from the truth; beside the outlines of things, where a pixel sees two depths."""

    with_depth: float  # share
    median_error: float  # relative
    good: float  # share of the depths whose error is below 5 %

    def __str__(self) -> str:
        there, good = 100 * self.with_depth, 100 * self.good
        return f"{there:.0f} % have depth, median error {100 * self.median_error:.1f} %, {good:.0f} % within 5 %"


@dataclass(frozen=True, eq=False)
class DemoResult:
    """A simulated frame, and what was estimated from it: per micro-image with the dense view, and per pixel."""

    frame: SimulatedFrame
    coarse: DepthResult
    refined: DepthResult


def run_demo(
    out: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    say: Callable[[str, str], None] = lambda what, line: None,
) -> DemoResult:
    """Simulate, estimate, compare; files go into folders under `out`, and what came out to `say` (what, in words).

    `quick`: a small sensor, seconds instead of a minute.
    """
    camera = demo_camera(quick=quick)
    settings = FrameSettings(RenderSettings(rays=RAYS))

    def rays(done: int, total: int) -> None:
        progress(done, total, "simulating")

    frame = simulate_scene(scene_path(SCENE), camera, out / "scene", settings, progress=rays)
    say("raw image", f"{out}/scene/raw.png: {frame.info.rays / 1e6:.0f} million rays")
    simulate_white(F_NUMBER, camera, out / "white", settings, progress=rays)
    image = load_raw(out / "scene" / "raw.png", camera, white=out / "white" / "raw.png")
    found = dict[str, DepthResult]()
    for name, refined in (("coarse", False), ("refined", True)):

        def rows(done: int, total: int, name: str = name) -> None:
            progress(done, total, f"{name} depth")

        dense = DenseSettings(enabled=not refined)
        depth = estimate_depth(image, camera, DepthSettings(refined=refined), dense=dense, progress=rows)
        depth.save(out / name)
        say(name, f"{out}/{name}/raw.ply and maps: {agreement(depth, frame)}")
        found[name] = depth
    return DemoResult(frame, found["coarse"], found["refined"])


def demo_camera(*, quick: bool = False) -> PlenopticCamera:
    """The camera of the demo; `quick`: the middle of its sensor."""
    camera = preset(CAMERA)
    return replace(shrunk(camera, *QUICK_ARRAY), name=f"{CAMERA}-part") if quick else camera


def agreement(depth: DepthResult, frame: SimulatedFrame) -> Agreement:
    """How far depth is from the truth of a simulated frame."""
    refined, truth = depth.virtual.refined, frame.truth
    assert truth is not None
    error = np.abs(depth.z / (truth.depth if refined else truth.lens_depth) - 1)
    error = error[~truth.boundary] if refined else error
    error = error[np.isfinite(error)]
    if not error.size:
        return Agreement(0.0, float("nan"), 0.0)
    return Agreement(depth.virtual.valid_fraction, float(np.median(error)), float((error < GOOD).mean()))
