"""Filters that remove depths: of little confidence, out of range, or not confirmed by neighbouring micro-images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import (
    Camera,
    PlenopticCamera,
    corrected_disparity,
    infinity_virtual_depth,
    pitch_ratio,
    usable_depth_range,
    virtual_from_metric,
)
from plenodepth.camera.depth import VIRTUAL_RANGE, scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.filters.neighbourhood import FIRST_RING, ring_of, with_missing
from plenodepth.depth.maps import VirtualDepthMap, require_shape
from plenodepth.errors import InputError
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

PIXELS_AT_A_TIME = 32_768


def confidence_threshold(depth_map: VirtualDepthMap, least: float = 0.1) -> VirtualDepthMap:
    """Remove what is less confident than `least`; 0 removes nothing."""
    return depth_map.keep_where(depth_map.confidence >= least)


def metric_range(
    depth_map: VirtualDepthMap,
    camera: PlenopticCamera,
    near: float | None = None,
    far: float | None = None,
    virtual_range: tuple[float, float] = VIRTUAL_RANGE,
) -> VirtualDepthMap:
    """Remove what is nearer than `near` or farther than `far` (mm, Γ included).

    Each defaults to the camera's own limit, `usable_depth_range` of the |v| searched; 0 and inf switch them off. Depths
    beyond infinity are always removed.
    """
    require_shape(depth_map, camera)
    camera = scaled_for(camera, depth_map.aperture_model)
    usable = usable_depth_range(camera, virtual_range)
    nearest = float(usable.near if near is None else near)
    farthest = float(usable.far if far is None else far)
    if not nearest < farthest:
        raise InputError(f"is {nearest:g} … {farthest:g} mm", field="near, far", fix="give near < far")
    # The limits as virtual depths of each lens, so that nothing need be converted per pixel. z falls as v grows.
    k, l = camera.micro_images.lattice.indices()
    beyond = infinity_virtual_depth(camera, k, l)
    highest = virtual_from_metric(nearest, camera, k, l, invalid="nan")
    lowest = virtual_from_metric(farthest, camera, k, l, invalid="nan") if np.isfinite(farthest) else beyond
    # NaN: the limit lies where the camera never measures (inside the focal length, outside what Γ takes).
    highest = np.where(np.isnan(highest), np.inf, highest)
    lowest = np.where(np.isnan(lowest), beyond, lowest)
    v = depth_map.virtual_depth
    if not depth_map.refined:
        return depth_map.keep_where((v >= _float32_below(lowest)) & (v > beyond) & (v <= _float32_above(highest)))
    owner = owner_map(camera.micro_images, *v.shape)
    # v ≥ the first is v ≥ lowest and v > beyond.
    tables = [
        with_missing(x) for x in (np.maximum(_float32_below(lowest), _float32_above(beyond)), _float32_above(highest))
    ]
    keep = np.empty(v.shape, np.bool_)

    def judge(rows: slice) -> None:
        low, high = (table[owner[rows]] for table in tables)
        keep[rows] = (v[rows] >= low) & (v[rows] <= high)

    each_band(len(v), judge)
    return depth_map.keep_where(keep)


def consistency(depth_map: VirtualDepthMap, camera: Camera, tolerance: float = 0.1, least: int = 2) -> VirtualDepthMap:
    """Remove what fewer than `least` of the neighbouring micro-images confirm; 0 removes nothing.

    A neighbour confirms v when |1/v' − 1/v| ≤ tolerance · |1/v|. Coarse: v' is the neighbour's own depth. Refined:
    v' is the depth at the pixel where v says that the neighbour sees the same point (reference to target, and back).
    """
    require_shape(depth_map, camera)
    if least <= 0:
        return depth_map
    v = depth_map.virtual_depth
    ring = ring_of(camera.micro_images.lattice, FIRST_RING)
    if not depth_map.refined:
        inverse = _inverse(v)
        with np.errstate(invalid="ignore"):
            agree = np.abs(with_missing(inverse)[ring.index] - inverse) <= tolerance * np.abs(inverse)
        return depth_map.keep_where(agree.sum(axis=0) >= least)
    owner = owner_map(camera.micro_images, *v.shape)
    ratio = pitch_ratio(camera) if isinstance(camera, PlenopticCamera) else np.asarray(1.0)
    steps = ring.unit * camera.micro_images.lattice.pitch @ camera.micro_images.image_from_lattice.rotation.T
    neighbours = ring.index.reshape(len(steps), -1).astype(np.int32)
    keep = np.zeros(v.size, np.bool_)
    height, width = v.shape
    flat_v, flat_owner = v.ravel(), owner.ravel()
    members = np.flatnonzero(np.isfinite(flat_v) & (flat_owner >= 0) & (flat_v != 0))
    for start in range(0, len(members), PIXELS_AT_A_TIME):
        pixels = members[start : start + PIXELS_AT_A_TIME]
        row, column = np.divmod(pixels, width)
        depth, lens = flat_v[pixels], flat_owner[pixels]
        # p_j = p_i + (c_j − c_i) + δ' with δ' = g (c_i − c_j): a step of (1 − g) (c_j − c_i) in the image.
        stay = 1 - corrected_disparity([1.0], depth, ratio)[:, 0]
        count = np.zeros(len(pixels), np.int8)
        for (across, down), neighbour in zip(steps, neighbours, strict=True):
            u, w = (column + np.rint(stay * across)).astype(np.int64), (row + np.rint(stay * down)).astype(np.int64)
            inside = (u >= 0) & (u < width) & (w >= 0) & (w < height)
            target = np.where(inside, w * width + u, 0)
            seen = inside & (flat_owner[target] == neighbour[lens])
            # |1/v' − 1/v| ≤ t |1/v| without the divisions; a missing v' compares false.
            other = flat_v[target]
            count += seen & (np.abs(other - depth) <= tolerance * np.abs(other)) & (other * depth > 0)
        keep[pixels] = count >= least
    return depth_map.keep_where(keep.reshape(v.shape))


def _inverse(v: Float32) -> Float32:
    """1/v; NaN where v is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(v == 0, np.float32(np.nan), 1 / v)


def _float32_below(x: Float64) -> Float32:
    """Lower limits as float32, one step lower: a depth at the limit that was rounded to float32 is still inside."""
    return np.nextafter(x.astype(np.float32), np.float32(-np.inf))


def _float32_above(x: Float64) -> Float32:
    """Upper limits as float32, one step higher."""
    return np.nextafter(x.astype(np.float32), np.float32(np.inf))
