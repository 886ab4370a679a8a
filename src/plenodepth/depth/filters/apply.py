"""Which filters run: their settings, and all of them one after the other.

A filter takes a map of virtual depth and returns another. What is removed becomes NaN, with a confidence of 0. No
filter fills a hole: a missing depth stays missing. `sigma` of what stays is left as it was, which is on the safe side
after smoothing. Differences of depth are judged in 1/v, to which disparity, the thing measured, is proportional. The
paper's own results use the metric range alone; `FilterSettings()` does the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plenodepth.camera import Camera, PlenopticCamera
from plenodepth.camera.depth import VIRTUAL_RANGE
from plenodepth.depth.filters.removing import confidence_threshold, consistency, metric_range
from plenodepth.depth.filters.smoothing import bilateral, median_across
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError


@dataclass(frozen=True)
class FilterSettings:
    """Which filters run, in this order, and their parameters. The default is the paper's: the metric range alone."""

    confidence: bool = False
    least_confidence: float = 0.1
    metric_range: bool = True
    near: float | None = None  # mm; None: the camera's own limit
    far: float | None = None
    consistency: bool = False
    tolerance: float = 0.1  # relative, in 1/v
    least_agreeing: int = 2  # neighbours
    median: bool = False
    bilateral: bool = False
    sigma_lenses: float = 1.0  # lens pitches
    sigma_v: float = 1.0  # virtual depth

    def __post_init__(self) -> None:
        checks = {
            "least_confidence": self.least_confidence >= 0,
            "near": self.near is None or self.near >= 0,
            "far": self.far is None or self.far > 0,
            "tolerance": self.tolerance > 0,
            "least_agreeing": self.least_agreeing >= 0,
            "sigma_lenses": self.sigma_lenses >= 0,
            "sigma_v": self.sigma_v > 0,
        }
        for name, fine in checks.items():
            if not fine:
                raise InputError(f"cannot be {getattr(self, name)}", field=f"filters.{name}")
        if self.near is not None and self.far is not None and not self.far > self.near:
            raise InputError(
                f"the far limit, {self.far:g} mm, is not beyond the near one, {self.near:g} mm",
                field="filters.far",
                fix="raise filters.far, --max-z, or lower filters.near, --min-z",
            )


def apply_filters(
    depth_map: VirtualDepthMap,
    camera: Camera,
    settings: FilterSettings | None = None,
    virtual_range: tuple[float, float] = VIRTUAL_RANGE,
) -> VirtualDepthMap:
    """Run the filters that `settings` switches on. A camera without optics has no millimetres: no metric range.

    A depth of confidence 0 is no depth, whatever the settings.
    `virtual_range` is the range of |v| that was searched.
    """
    chosen = settings or FilterSettings()
    if chosen.confidence:
        depth_map = confidence_threshold(depth_map, chosen.least_confidence)
    if chosen.metric_range and isinstance(camera, PlenopticCamera):
        depth_map = metric_range(depth_map, camera, chosen.near, chosen.far, virtual_range)
    elif (np.isfinite(depth_map.virtual_depth) & (depth_map.confidence <= 0)).any():
        depth_map = depth_map.keep_where(depth_map.confidence > 0)
    if chosen.consistency:
        depth_map = consistency(depth_map, camera, chosen.tolerance, chosen.least_agreeing)
    if chosen.median:
        depth_map = median_across(depth_map, camera)
    if chosen.bilateral:
        depth_map = bilateral(depth_map, camera, chosen.sigma_lenses, chosen.sigma_v)
    return depth_map
