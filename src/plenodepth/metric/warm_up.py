"""All kernels of an estimation compiled ahead of the first frame, by estimating small ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import zoom

from plenodepth.camera import preset
from plenodepth.compiling import is_kept
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.kernels.cpu.sweep import coarse_band, refined_band
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import write_image
from plenodepth.metric.frame import estimate_depth
from plenodepth.metric.result import SUFFIXES
from plenodepth.raw import load_raw

CAMERA = "r12-mini"  # 24 × 20 micro-images
BLOCK = 4  # px: what a square of the texture measures
MODELS: tuple[Literal["off", "per_pixel"], ...] = ("off", "per_pixel")

# About what compiling takes, CPU-seconds: one depth per micro-image with all other steps, and one per pixel besides.
COARSE_SECONDS = 11
REFINED_SECONDS = 5


def seconds_to_compile(*, refined: bool) -> int:
    """About how long the kernels of a frame take to compile that are not on disk; 0 where all are."""
    missing = 0 if is_kept(coarse_band) or (refined and is_kept(refined_band)) else COARSE_SECONDS
    return missing + (REFINED_SECONDS if refined and not is_kept(refined_band) else 0)


def warm_up(report: Callable[[str], None]) -> None:
    """Estimate small frames in all ways that have kernels of their own, so that these are compiled and kept on disk.

    `report` is called with what comes next. Where all kernels are on disk, this takes about a second.
    """
    camera = preset(CAMERA)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_image(_texture(camera.sensor.height, camera.sensor.width), place / "raw.png")
        write_image(np.full((camera.sensor.height, camera.sensor.width), 200, np.uint8), place / "white.png")
        for (refined, with_view), model in product(((False, True), (True, False), (True, True)), MODELS):
            kind = ("refined" if refined else "coarse") + (", dense view" if with_view else "")
            report(f"{kind}, aperture model {model}")
            image = load_raw(place / "raw.png", camera, white=place / "white.png" if model == "off" else None)
            settings = DepthSettings(refined=refined, aperture_model=model)
            dense = DenseSettings(enabled=with_view)
            outputs = [name for name in SUFFIXES if dense.enabled or name != "dense"]
            estimate_depth(image, camera, settings, dense=dense).save(place / "out", outputs)


def _texture(height: int, width: int) -> NDArray[np.uint8]:
    """A gray image (h, w) with something to match."""
    squares = np.random.default_rng(0).integers(40, 216, (height // BLOCK + 1, width // BLOCK + 1))
    return np.asarray(zoom(squares, BLOCK, order=1)[:height, :width], np.uint8)
