"""The dense view in millimetres, and within limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, lens_distances
from plenodepth.camera.depth import depth_scale_coefficients, scaled_for
from plenodepth.camera.model import ApertureModel
from plenodepth.metric.dense.central_view import CentralView
from plenodepth.metric.dense.virtual_view import VirtualView
from plenodepth.metric.kernels.maps import find_metric
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]


def central_view_of(
    view: VirtualView, camera: PlenopticCamera | GridCamera, scale: int, model: ApertureModel
) -> CentralView:
    """The dense view in mm, or in virtual depth for a camera known by its grid only.

    `scale` is the side of its pixels in pixels of the sensor, `model` that by which it was made.
    """
    inverse = view.inverse
    maps = np.float32(1) / inverse, view.sigma / (inverse * inverse), view.confidence
    if isinstance(camera, PlenopticCamera):
        maps = in_mm(maps, view.owner, scaled_for(camera, model))
    filled = view.filled & np.isfinite(maps[0])
    metric = isinstance(camera, PlenopticCamera)
    return CentralView(*maps, view.light, view.micro_images, filled, view.side, scale=scale, metric=metric)


def within(view: CentralView, near: float | None, far: float | None) -> CentralView:
    """The view without the depths, mm, nearer or farther than these; all of them where they are not mm."""
    if not view.metric or (near is None and far is None):
        return view
    with np.errstate(invalid="ignore"):
        keep = (view.depth >= (near or 0.0)) & (view.depth <= (np.inf if far is None else far))
    missing = np.float32(np.nan)
    depth, sigma = (np.where(keep, values, missing) for values in (view.depth, view.sigma))
    confidence = np.where(keep, view.confidence, np.float32(0))
    return replace(view, depth=depth, sigma=sigma, confidence=confidence, filled=view.filled & keep)


def in_mm(
    maps: tuple[Float32, Float32, Float32], owner: NDArray[np.int32], camera: PlenopticCamera
) -> tuple[Float32, Float32, Float32]:
    """z, σ_z and confidence (h, w) of those of virtual depth; `owner` (h, w) are the lenses of the pixels."""
    main, sensor = lens_distances(camera, *(index.ravel() for index in camera.micro_images.lattice.indices()))
    focal = camera.main_lens.focal_length
    depth, sigma, confidence = out = tuple(np.empty(owner.shape, np.float32) for _ in maps)
    lenses = sensor, main - focal, focal, depth_scale_coefficients(camera)
    each_band(len(owner), lambda rows: find_metric(rows.start, rows.stop, owner, maps, *lenses, out))
    return depth, sigma, confidence
