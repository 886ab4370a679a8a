"""How many frames a machine takes at a time: by its cores and by its memory."""

from __future__ import annotations

from plenodepth.batch.recipe import Recipe
from plenodepth.camera import PlenopticCamera

# Bytes of a process without a frame, and of a frame per pixel: an R12's 12.5 megapixels on one thread had peaks of
# 723 MB coarse, 1214 MB refined, 1091 MB dense and 1315 MB both.
BASE = 300 << 20
COARSE, REFINED, DENSE = 36, 77, 85
MARGIN = 1.25


def bytes_of_frame(recipe: Recipe) -> int:
    """The memory that a process needs for one frame at a time."""
    per_pixel = COARSE
    if recipe.settings.depth.refined:
        per_pixel = REFINED
    if recipe.settings.dense.enabled:
        per_pixel = DENSE
    sensor = recipe.camera.sensor if isinstance(recipe.camera, PlenopticCamera) else recipe.camera
    return int(MARGIN * (BASE + per_pixel * sensor.width * sensor.height))


def local_workers(cores: int, memory: int, recipe: Recipe) -> int:
    """The processes that a machine takes: one per core, unless its memory ends before."""
    return max(1, min(cores, memory // bytes_of_frame(recipe)))


def frames_at_a_time(threads: int, memory: int, recipe: Recipe) -> int:
    """The frames that a worker takes at a time, each on its share of the threads. Memory 0: it says no limit."""
    return max(1, min(threads, memory // bytes_of_frame(recipe) if memory else threads))
