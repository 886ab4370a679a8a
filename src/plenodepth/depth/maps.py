"""What an estimation gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import ApertureModel

Float32 = NDArray[np.float32]


class MapArrays(NamedTuple):
    """What kernels write into: the arrays of a `VirtualDepthMap`."""

    virtual_depth: Float32
    sigma: Float32
    confidence: Float32
    cost: Float32
    views: NDArray[np.int16]


def empty_maps(shape: tuple[int, int]) -> MapArrays:
    """Nothing found yet: NaN, and neither confidence nor views."""
    depth, sigma, cost = (np.full(shape, np.nan, np.float32) for _ in range(3))
    return MapArrays(depth, sigma, np.zeros(shape, np.float32), cost, np.zeros(shape, np.int16))


@dataclass(frozen=True, eq=False)
class VirtualDepthMap:
    """Virtual depth per micro-image (rows, columns), or per pixel (h, w) when refined; NaN where there is none."""

    virtual_depth: Float32
    sigma: Float32  # standard deviation of the virtual depth
    confidence: Float32  # in [0, 1]
    cost: Float32  # mean absolute difference between the views at the best hypothesis, in units of gray
    views: NDArray[np.int16]  # views that took part, the reference not counted
    refined: bool
    aperture_model: ApertureModel = "off"  # that has been undone
    aperture_note: str = ""  # what the user should know about it

    @property
    def valid_fraction(self) -> float:
        """Share of entries with a depth."""
        return float(np.isfinite(self.virtual_depth).mean())
