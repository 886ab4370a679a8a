"""Depth that stands still where the scene does: the surfaces of a video's frames, averaged over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.metric.dense.surfaces import SAME_SURFACE
from plenodepth.metric.result import DepthResult
from plenodepth.render.surface import ViewSurface, central_surface

Float32 = NDArray[np.float32]

MEMORY = 8.0  # frames: what lies farther back counts less than 1/e
STILL = 4.0  # standard deviations of the light's noise; what changes by less stands still
LEAST_NOISE = 0.004  # of light
WINDOW = 5  # px over which changes of light are averaged
SAMPLES = 6.0  # about so many samples stand behind a pixel of the dense view


def steady_surfaces(depths: Iterable[DepthResult], *, memory: float = MEMORY) -> Iterator[ViewSurface]:
    """The surfaces of the frames of one video, one at a time.

    Where the light stands still, 1/v is the mean of the frames so far; of two values on different surfaces the more
    probable one stays. Where it changes, each frame is for itself.
    """
    before: ViewSurface | None = None
    light_before: Float32 | None = None
    count: Float32 | None = None
    for depth in depths:
        surface = central_surface(depth)
        assert depth.dense is not None  # `central_surface` has refused others
        light = depth.dense.light.mean(axis=2)
        if before is None or light_before is None or count is None or light.shape != light_before.shape:
            count = np.ones(light.shape, np.float32)
        else:
            noise = max(depth.image.noise if np.isfinite(depth.image.noise) else 0.0, LEAST_NOISE)
            still = stands_still(light, light_before, noise)
            same = still & (np.abs(surface.inverse - before.inverse) <= SAME_SURFACE)
            keep = still & ~same & (before.confidence * count > surface.confidence)
            count = np.where(same | keep, np.minimum(count + 1, memory), 1).astype(np.float32)
            mean = before.inverse + (surface.inverse - before.inverse) / count
            inverse = np.where(same, mean, np.where(keep, before.inverse, surface.inverse)).astype(np.float32)
            confidence = np.where(keep, before.confidence, surface.confidence)
            lowest, highest = surface.places.inverse_depths[[1, -2]]
            surface = replace(surface, inverse=np.clip(inverse, lowest, highest), confidence=confidence)
            light = np.where(still & np.isfinite(light_before), light_before + (light - light_before) / count, light)
        before, light_before = surface, light
        yield surface


def stands_still(light: Float32, before: Float32, noise: float) -> NDArray[np.bool_]:
    """Where the light (h, w) of two frames differs by no more than its noise (standard deviation of a sample)."""
    import cv2

    change = np.abs(cv2.blur(np.nan_to_num(light - before), (WINDOW, WINDOW)))
    return np.asarray(change <= STILL * noise / np.sqrt(SAMPLES) * np.sqrt(2), np.bool_)
