"""The whole chain on a small simulated wall, to tell in seconds whether an installation finds the right depth."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plenodepth.camera import preset
from plenodepth.compiling import watched_compilation
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.device import UsedDevice
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import read_float_map
from plenodepth.metric.frame import estimate_depth
from plenodepth.raw import load_raw
from plenodepth.sim import FrameSettings, RenderSettings, simulate_scene, simulate_white
from plenodepth.sim.scenes.twins import wall_scene

CAMERA = "r12-mini"
DISTANCE = 900.0  # mm
RAYS = 32  # per pixel
SEED = 3
MOST_ERROR = 0.02  # of the depth, for the median: at f/4 the mean over such walls is 0.005
LEAST_COVERAGE = 0.5  # of the micro-images


@dataclass(frozen=True)
class SelfTest:
    """What the chain found of a wall, from raw image to files."""

    device: UsedDevice
    median_error: float  # relative, of depth per micro-image
    dense_error: float  # of the dense view
    coverage: float  # share of the micro-images with a depth
    compiled: int  # functions that had to be compiled first
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether depth is as right as it has to be."""
        return max(self.median_error, self.dense_error) < MOST_ERROR and self.coverage > LEAST_COVERAGE


def self_test(device: UsedDevice = "cpu") -> SelfTest:
    """Simulate a wall and its white image, estimate depth from the files, compare what was written with the truth."""
    camera = replace(preset(CAMERA), depth_scale=None)  # simulated light obeys the optics alone
    settings, began = FrameSettings(RenderSettings(rays=RAYS)), time.perf_counter()
    compiled = list[str]()
    with (
        tempfile.TemporaryDirectory(prefix="plenodepth-") as folder,
        watched_compilation(lambda function: compiled.append(function.__name__)),
    ):
        place = Path(folder)
        frame = simulate_scene(wall_scene(DISTANCE, SEED, camera), camera, place / "wall", settings)
        simulate_white(None, camera, place / "white", settings)
        image = load_raw(place / "wall" / "raw.png", camera, white=place / "white" / "raw.png")
        dense = DenseSettings(enabled=True)
        estimate_depth(image, camera, DepthSettings(), dense=dense, device=device).save(place / "out")
        assert frame.truth is not None
        error = np.abs(read_float_map(place / "out" / "raw.depth.tiff") / frame.truth.lens_depth - 1)
        view = np.abs(read_float_map(place / "out" / "raw.dense.tiff") / DISTANCE - 1)
    return SelfTest(
        device,
        _median(error),
        _median(view),
        float(np.isfinite(error).mean()),
        len(compiled),
        time.perf_counter() - began,
    )


def _median(error: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> float:
    """The median of the errors that there are; infinite where there is none."""
    present = error[np.isfinite(error)]
    return float(np.median(present)) if present.size else float("inf")
