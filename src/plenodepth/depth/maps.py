"""The map of virtual depth that an estimation gives, and the arrays that kernels fill."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import Camera
from plenodepth.camera.model import ApertureModel, image_size
from plenodepth.errors import InputError
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]


class MapArrays(NamedTuple):
    """What kernels write into: the arrays of a `VirtualDepthMap`."""

    virtual_depth: Float32
    sigma: Float32
    confidence: Float32
    cost: Float32
    views: NDArray[np.int16]


def empty_maps(shape: tuple[int, int]) -> MapArrays:
    """Arrays without any depth: NaN, no confidence, no views."""
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
    aperture_model: ApertureModel = "off"  # the model by which the aperture's effect has been undone
    aperture_note: str = ""  # what the user should know about it

    @property
    def valid_fraction(self) -> float:
        """Share of entries with a depth."""
        return float(np.isfinite(self.virtual_depth).mean())

    def keep_where(self, keep: NDArray[np.bool_]) -> VirtualDepthMap:
        """The map without the depths where `keep` is false, or of confidence 0; their confidence is 0."""
        depth, sigma, confidence = (np.empty(keep.shape, np.float32) for _ in range(3))

        def fill(rows: slice) -> None:
            kept = keep[rows] & np.isfinite(self.virtual_depth[rows]) & (self.confidence[rows] > 0)
            for out, values, missing in (
                (depth, self.virtual_depth, np.nan),
                (sigma, self.sigma, np.nan),
                (confidence, self.confidence, 0),
            ):
                out[rows] = np.where(kept, values[rows], np.float32(missing))

        each_band(len(keep), fill)
        return replace(self, virtual_depth=depth, sigma=sigma, confidence=confidence)

    def replace_depth(self, virtual_depth: Float32) -> VirtualDepthMap:
        """The map with other depths where it has any; holes stay."""
        present = np.isfinite(self.virtual_depth)
        return replace(self, virtual_depth=np.where(present, virtual_depth, np.float32(np.nan)))


def require_shape(depth_map: VirtualDepthMap, camera: Camera) -> None:
    """Refuse a map that another camera made."""
    lattice = camera.micro_images.lattice
    width, height = image_size(camera)
    expected = (height, width) if depth_map.refined else (lattice.rows, lattice.columns)
    if depth_map.virtual_depth.shape != expected:
        kind = "refined" if depth_map.refined else "coarse"
        raise InputError(
            f"a {kind} map of the shape {depth_map.virtual_depth.shape} is not one of camera '{camera.name}'",
            field="virtual_depth",
            fix=f"give {expected}",
        )
