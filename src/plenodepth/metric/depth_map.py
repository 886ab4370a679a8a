"""Virtual depth → metric depth, entry by entry, with its standard deviation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, lens_distances, scaled_depth
from plenodepth.camera.depth import depth_scale_coefficients, scaled_depth_slope, scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.maps import VirtualDepthMap, require_shape
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MetricDepthMap:
    """Depth z per micro-image (rows, columns), or per pixel (h, w) when refined; NaN where there is none."""

    depth: Float32  # mm along the optical axis, from the main lens, Γ included
    sigma: Float32  # its standard deviation, mm
    confidence: Float32  # in [0, 1], as of the virtual depth
    refined: bool

    @property
    def valid_fraction(self) -> float:
        """Share of entries with a depth."""
        return float(np.isfinite(self.depth).mean())


def metric_depth_map(virtual_map: VirtualDepthMap, camera: PlenopticCamera) -> MetricDepthMap:
    """z = Γ(F + F²/(v d + D − F)) with each lens' own D and d, and σ_z = |dz/dv| σ_v.

    NaN (and a confidence of 0) where v is missing or at or below the virtual depth of infinity. The formulas are
    those of `metric_from_virtual` and `depth_resolution`; here D and d are looked up per lens, not computed per pixel.
    Γ is left out where it belongs to another aperture model than the map's.
    """
    require_shape(virtual_map, camera)
    camera = scaled_for(camera, virtual_map.aperture_model)
    k, l = camera.micro_images.lattice.indices()
    main, sensor = lens_distances(camera, k, l)
    behind = main - camera.main_lens.focal_length  # D − F
    if not virtual_map.refined:
        return MetricDepthMap(*_metric(virtual_map, camera, sensor, behind), refined=False)
    from plenodepth.metric.kernels.maps import find_metric

    maps = virtual_map.virtual_depth, virtual_map.sigma, virtual_map.confidence
    depth, sigma, confidence = out = tuple(np.empty(maps[0].shape, np.float32) for _ in maps)
    owner = owner_map(camera.micro_images, *maps[0].shape)
    lenses = sensor.ravel(), behind.ravel(), camera.main_lens.focal_length, depth_scale_coefficients(camera)
    each_band(len(owner), lambda rows: find_metric(rows.start, rows.stop, owner, maps, *lenses, out))
    return MetricDepthMap(depth, sigma, confidence, refined=True)


def _metric(
    virtual_map: VirtualDepthMap, camera: PlenopticCamera, sensor: Float64, behind: Float64
) -> tuple[Float32, Float32, Float32]:
    """z, σ_z and confidence of a coarse map, with d and D − F of each lens (rows, columns)."""
    focal = camera.main_lens.focal_length
    beyond = virtual_map.virtual_depth * sensor + behind
    missing = ~((beyond > 0) & (beyond < np.inf))
    beyond[missing] = np.nan
    object_side = focal**2 / beyond  # z − F
    z = object_side + focal
    slope = sensor * (object_side / focal) ** 2 * scaled_depth_slope(z, camera)
    sigma = (np.abs(slope) * virtual_map.sigma).astype(np.float32)
    confidence = np.where(missing, np.float32(0), virtual_map.confidence)
    return scaled_depth(z, camera).astype(np.float32), sigma, confidence
