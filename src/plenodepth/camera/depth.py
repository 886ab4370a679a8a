"""Virtual depth v ↔ metric depth z along the axis, the depth scale Γ, and how well z is known from v.

The image of a point at depth z lies at F z/(z − F) behind the main lens; that is D + v d by the definition of v, so
    z = F (v d + D)/(v d + D − F),      then Γ(z) = γ0 + γ1 z + γ2 z², applied once and inverted exactly.
Every function takes lens indices (k, l) for D and d; without them the values at the array's centre serve.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.blur import blur_line
from plenodepth.camera.disparity import disparity_slope
from plenodepth.camera.micro_lenses import configuration, lens_distances, pitch_ratio
from plenodepth.camera.model import ApertureModel, Array, Configuration, PlenopticCamera
from plenodepth.errors import InputError

OnInvalid = Literal["raise", "nan"]

# |v| ≥ 2: at least two lenses see the point; 20 is where the paper's search ends.
VIRTUAL_RANGE = (2.0, 20.0)


@lru_cache(maxsize=4)  # the same camera each time, so that what is kept by camera is found again
def scaled_for(camera: PlenopticCamera, model: ApertureModel) -> PlenopticCamera:
    """The camera, without its Γ if that was fitted to depths that an aperture model had corrected otherwise."""
    return camera if camera.depth_scale_model == model else replace(camera, depth_scale=None)


def depth_scale_coefficients(camera: PlenopticCamera) -> Array:
    """γ0, γ1, γ2 (3,); those of the identity when the camera has no depth scale."""
    return np.array((0.0, 1.0, 0.0) if camera.depth_scale is None else camera.depth_scale, dtype=np.float64)


def scaled_depth(depth: ArrayLike, camera: PlenopticCamera) -> Array:
    """Γ(z), mm; the identity when the camera has no depth scale."""
    z = np.asarray(depth, dtype=np.float64)
    if camera.depth_scale is None:
        return z
    constant, linear, quadratic = camera.depth_scale
    return np.asarray(constant + z * (linear + z * quadratic))


def scaled_depth_slope(depth: ArrayLike, camera: PlenopticCamera) -> Array:
    """Γ'(z)."""
    z = np.asarray(depth, dtype=np.float64)
    if camera.depth_scale is None:
        return np.ones_like(z)
    _, linear, quadratic = camera.depth_scale
    return np.asarray(linear + 2 * quadratic * z)


def unscaled_depth(depth: ArrayLike, camera: PlenopticCamera) -> Array:
    """Γ⁻¹(z), mm, on the branch where Γ grows; NaN where Γ never takes that value."""
    z = np.asarray(depth, dtype=np.float64)
    if camera.depth_scale is None:
        return z
    constant, linear, quadratic = camera.depth_scale
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(linear**2 + 4 * quadratic * (z - constant))
        return np.asarray(2 * (z - constant) / (linear + root))  # this form of the root also serves γ2 = 0


def infinity_virtual_depth(camera: PlenopticCamera, k: ArrayLike | None = None, l: ArrayLike | None = None) -> Array:
    """(F − D)/d, the virtual depth of an object at infinity: no real object lies at or below it."""
    main, sensor = lens_distances(camera, k, l)
    return np.asarray((camera.main_lens.focal_length - main) / sensor)


def metric_from_virtual(
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    k: ArrayLike | None = None,
    l: ArrayLike | None = None,
    *,
    invalid: OnInvalid = "raise",
) -> Array:
    """Metric depth z (mm, Γ included) of virtual depth v. NaN stays NaN.

    A v at or below the object-at-infinity limit is an error, or NaN with `invalid="nan"`.
    """
    v = np.asarray(virtual_depth, dtype=np.float64)
    main, sensor = lens_distances(camera, k, l)
    focal = camera.main_lens.focal_length
    beyond = v * sensor + main - focal  # how far behind the focal plane the main lens' image lies
    impossible = beyond <= 0
    if invalid == "raise" and impossible.any():
        raise InputError(
            f"is {np.broadcast_to(v, impossible.shape)[impossible].flat[0]:g}, at or below "
            f"{float(np.max(infinity_virtual_depth(camera, k, l))):.4g} where objects are at infinity",
            field="virtual_depth",
            fix=f"camera '{camera.name}' needs larger values",
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(impossible, np.nan, focal + focal**2 / beyond)
    return scaled_depth(z, camera)


def virtual_from_metric(
    depth: ArrayLike,
    camera: PlenopticCamera,
    k: ArrayLike | None = None,
    l: ArrayLike | None = None,
    *,
    invalid: OnInvalid = "raise",
) -> Array:
    """Virtual depth v of metric depth z (mm): the exact inverse of `metric_from_virtual`. NaN stays NaN.

    A z at or inside the focal length (after Γ⁻¹) is an error, or NaN with `invalid="nan"`.
    """
    scaled = np.asarray(depth, dtype=np.float64)
    z = unscaled_depth(scaled, camera)
    main, sensor = lens_distances(camera, k, l)
    focal = camera.main_lens.focal_length
    impossible = ~np.isnan(scaled) & ~(z > focal)
    if invalid == "raise" and impossible.any():
        raise InputError(
            f"is {scaled[impossible].flat[0]:g} mm, not beyond the focal length of {focal:g} mm",
            field="depth",
            fix=f"camera '{camera.name}' cannot image it",
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        image = np.where(impossible, np.nan, focal + focal**2 / (z - focal))
    return (image - main) / sensor


def focus_planes(camera: PlenopticCamera, k: int | None = None, l: int | None = None) -> Array:
    """Metric depth (I,) mm on which each lens type is in focus: v0 = f/(f − d); inf when beyond infinity."""
    line = blur_line(camera, k, l)
    return _metric_or_limit(line.virtual_depth(0.0, np.arange(camera.type_count)), camera, k, l)


def _metric_or_limit(
    virtual_depth: Array, camera: PlenopticCamera, k: ArrayLike | None = None, l: ArrayLike | None = None
) -> Array:
    """Metric depth with the limits a range needs: v at or beyond that of infinity (also −∞) → inf, v = ∞ → Γ(F)."""
    v = np.asarray(virtual_depth, dtype=np.float64)
    z = metric_from_virtual(np.where(np.isinf(v), np.nan, v), camera, k, l, invalid="nan")
    z = np.where(np.isinf(v), scaled_depth(camera.main_lens.focal_length, camera), z)
    return np.where(v <= infinity_virtual_depth(camera, k, l), np.inf, z)


class DepthRange(NamedTuple):
    """Nearest and farthest metric depth, mm; arrays or scalars; farthest may be inf."""

    near: Array
    far: Array


def depth_of_field(camera: PlenopticCamera, blur_limit: float = 0.5) -> DepthRange:
    """Per lens type, (I,) each: the depths at which |ρ| ≤ `blur_limit` px (default: a disc of one pixel's width)."""
    if not blur_limit > 0:
        raise InputError(f"is {blur_limit:g} px, needs a number > 0", field="blur_limit")
    line = blur_line(camera)
    types = np.arange(camera.type_count)
    # v falls as ρ grows on each side of the lenses; a range may not cross from one side (sign of v) to the other.
    focus = line.virtual_depth(0.0, types)
    near, far = line.virtual_depth(-blur_limit, types), line.virtual_depth(blur_limit, types)
    near = np.where((focus > 0) & (near < 0), np.inf, near)
    far = np.where((focus < 0) & (far > 0), -np.inf, far)
    return DepthRange(_metric_or_limit(near, camera), _metric_or_limit(far, camera))


def usable_virtual_range(
    camera: PlenopticCamera, virtual_range: tuple[float, float] = VIRTUAL_RANGE
) -> tuple[float, float]:
    """Virtual depths (far, near) to work in: |v| within `virtual_range` and not beyond infinity; far < near."""
    low, high = sorted(abs(v) for v in virtual_range)
    if configuration(camera) is Configuration.KEPLERIAN:
        low, high = -high, -low
    far = max(low, float(infinity_virtual_depth(camera)))
    if far >= high:
        raise InputError(
            f"[{low:g}, {high:g}] holds no real object: infinity is at v = {far:g}",
            field="virtual_range",
            fix="give a range that reaches beyond it",
        )
    return far, high


def usable_depth_range(camera: PlenopticCamera, virtual_range: tuple[float, float] = VIRTUAL_RANGE) -> DepthRange:
    """Metric depths of `usable_virtual_range`; far is inf when the camera sees to infinity."""
    far, near = usable_virtual_range(camera, virtual_range)
    return DepthRange(_metric_or_limit(np.asarray(near), camera), _metric_or_limit(np.asarray(far), camera))


def depth_resolution(
    virtual_depth: ArrayLike, camera: PlenopticCamera, k: ArrayLike | None = None, l: ArrayLike | None = None
) -> Array:
    """dz/dv = −F² d/(v d + D − F)² · Γ'(z), mm per unit of virtual depth."""
    v = np.asarray(virtual_depth, dtype=np.float64)
    main, sensor = lens_distances(camera, k, l)
    focal = camera.main_lens.focal_length
    beyond = v * sensor + main - focal
    z = focal + focal**2 / beyond
    return -(focal**2) * sensor / beyond**2 * scaled_depth_slope(z, camera)


def depth_precision(depth: ArrayLike, camera: PlenopticCamera, disparity_precision: float = 0.1) -> Array:
    """Expected standard deviation of z, mm, at depth z (mm) when disparities are good to `disparity_precision` px.

    For one pair of views at the longest baseline on which lenses share the point with the view it is centred in,
    |v|/2 lens pitches; more views do better.
    """
    v = virtual_from_metric(depth, camera)
    baseline = np.abs(v) / 2 * camera.micro_images.lattice.diameter
    slope = disparity_slope(v, pitch_ratio(camera)) * baseline
    return np.abs(depth_resolution(v, camera) * disparity_precision / slope)
