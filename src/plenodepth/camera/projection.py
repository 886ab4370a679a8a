"""The blur-aware projection Π of a point through a micro-lens, its inverse, and which lenses see a point."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import thin_lens
from plenodepth.camera.aperture.chief_ray import apparent_position, chief_ray_position, clipped_blur_radius
from plenodepth.camera.blur import blur_radius
from plenodepth.camera.depth import scaled_depth, unscaled_depth
from plenodepth.camera.distortion import BLOCK, distort, undistort_exactly
from plenodepth.camera.micro_lenses import lens_center, lens_distances, pitch_ratio, seen_from_pupil
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.errors import InputError

Undistortion = Literal["calibrated", "exact"]


class Projection(NamedTuple):
    """What `project` returns, over the broadcast shape (...) of points and lenses."""

    uv: Array  # (..., 2) px; NaN for a point that forms no image (z ≤ F)
    rho: Array  # (...) signed blur radius, px; NaN for pinholes
    visible: NDArray[np.bool_]  # (...) inside the micro-image (less the margin) and on the sensor


def project(
    points: ArrayLike,
    k: ArrayLike,
    l: ArrayLike,
    camera: PlenopticCamera,
    *,
    margin: float = 0.0,
    depth_scale: bool = False,
    apparent: bool = False,
) -> Projection:
    """Project points (..., 3) mm, camera frame, through the lenses behind micro-images (k, l); all broadcast.

    `margin` px is taken off the micro-image's radius for `visible`. Γ is a correction of what is measured and
    not part of this physical model; with `depth_scale` the points are first taken through Γ⁻¹, so that they land
    on the pixel from which `unproject` made them.

    With `apparent` the aperture clips the light at the camera's own f-number: positions are where the points appear
    (`aperture.chief_ray`) and ρ is that of the clipped blur, both NaN where no pixel shows a point. Pinholes clip
    nothing.
    """
    p = np.asarray(points, dtype=np.float64)
    if p.shape[-1:] != (3,):
        raise InputError(f"have shape {p.shape}, need (..., 3)", field="points")
    shape = np.broadcast_shapes(p.shape[:-1], np.shape(k), np.shape(l))
    p = np.broadcast_to(p, (*shape, 3)).reshape(-1, 3)
    k, l = (np.broadcast_to(index, shape).reshape(-1) for index in (k, l))
    uv, rho, visible = np.empty((len(p), 2)), np.empty(len(p)), np.empty(len(p), dtype=np.bool_)
    for start in range(0, len(p), BLOCK):
        block = slice(start, start + BLOCK)
        points_of_block = np.asfortranarray(p[block])  # each coordinate contiguous: long inner loops
        uv[block], rho[block], visible[block] = _project_block(
            points_of_block, k[block], l[block], camera, margin, depth_scale, apparent
        )
    return Projection(uv.reshape(*shape, 2), rho.reshape(shape), visible.reshape(shape))


def _project_block(
    points: Array, k: Indices, l: Indices, camera: PlenopticCamera, margin: float, depth_scale: bool, apparent: bool
) -> tuple[Array, Array, NDArray[np.bool_]]:
    if depth_scale:
        points = points * (unscaled_depth(points[:, 2], camera) / points[:, 2])[:, None]
    virtual = distort(thin_lens.image_point(points, camera.main_lens.focal_length), camera.distortion)
    center = lens_center(k, l, camera)
    distance = virtual[:, 2] - center[:, 2]  # a, negative behind the lens
    to_sensor = center[:, 2] - camera.sensor.position[2]  # d(k, l)
    on_sensor = center[:, :2] - (to_sensor / distance)[:, None] * (virtual - center)[:, :2]
    uv = camera.sensor.image_from_metric(on_sensor)
    if camera.type_count:
        focal = camera.micro_lenses.focal_lengths[camera.micro_images.lens_type(k, l)]
        rho = blur_radius(camera.micro_lenses.lens_diameter, to_sensor, focal, distance) / camera.sensor.pixel_size
    else:
        rho = np.full(len(uv), np.nan)
    if apparent and camera.type_count:
        v = -distance / to_sensor
        uv = apparent_position(uv, k, l, v, camera)
        rho = clipped_blur_radius(uv, k, l, v, camera)
    offset = uv - camera.micro_images.center(k, l)
    radius = camera.micro_images.radius - margin
    inside = (offset**2).sum(axis=1) <= radius**2 if radius > 0 else np.zeros(len(uv), dtype=np.bool_)
    return uv, rho, inside & camera.sensor.contains(uv)


def unproject(
    uv: ArrayLike,
    k: ArrayLike,
    l: ArrayLike,
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    *,
    undistortion: Undistortion = "exact",
    depth_scale: bool = True,
    apparent: bool = False,
) -> Array:
    """Point (..., 3) mm, camera frame, of pixels (..., 2) of micro-images (k, l) with virtual depth v; all broadcast.

    The paper's Π⁻¹: out through the lens to the virtual depth, φ⁻¹ there, thin lens, then the whole point times
    γ = Γ(z)/z (`depth_scale`). φ⁻¹ is Newton's exact inverse, or the camera's five calibrated coefficients as in
    the paper (`undistortion="calibrated"`: faster, and off by up to a pixel and more in the corners).
    With `apparent` the pixels are where points appear through the camera's aperture, as of `project(apparent=True)`.
    NaN where v is missing or at or beyond infinity, and where φ has no inverse.
    """
    if apparent and camera.type_count:
        uv = chief_ray_position(uv, k, l, virtual_depth, camera)
    virtual = virtual_point(uv, k, l, virtual_depth, camera)
    if undistortion == "exact":
        virtual = undistort_exactly(virtual, camera.distortion, invalid="nan")
    elif camera.inverse_distortion is not None:
        virtual = distort(virtual, camera.inverse_distortion)
    else:
        raise InputError(
            f"camera '{camera.name}' has no calibrated inverse distortion",
            field="inverse_distortion",
            fix="calibrate it, or undistort exactly",
        )
    points = thin_lens.object_point(virtual, camera.main_lens.focal_length)
    if not depth_scale:
        return points
    return points * (scaled_depth(points[..., 2], camera) / points[..., 2])[..., None]


def virtual_point(
    uv: ArrayLike, k: ArrayLike, l: ArrayLike, virtual_depth: ArrayLike, camera: PlenopticCamera
) -> Array:
    """The (distorted) point behind the main lens, (..., 3) mm, that pixel X sees at virtual depth v: C + v (X − C)."""
    center = lens_center(k, l, camera)
    xy = camera.sensor.metric_from_image(uv)
    v = np.asarray(virtual_depth, dtype=np.float64)
    shape = np.broadcast_shapes(center.shape[:-1], xy.shape[:-1], v.shape)
    on_sensor = np.empty((*shape, 3))
    on_sensor[..., :2], on_sensor[..., 2] = xy, camera.sensor.position[2]
    return center + v[..., None] * (on_sensor - center)


class Sighting(NamedTuple):
    """Pairs of a point and a lens that sees it: `point` indexes the points given, (k, l) names the micro-image."""

    point: Indices
    k: Indices
    l: Indices


def lenses_that_see(points: ArrayLike, camera: PlenopticCamera, *, margin: float = 0.0) -> Sighting:
    """All lenses through which each of the points (n, 3) mm is `Projection.visible`, in order of the points."""
    p = np.atleast_2d(np.asarray(points, dtype=np.float64))
    virtual = distort(thin_lens.image_point(p, camera.main_lens.focal_length), camera.distortion)
    formed = np.flatnonzero(np.isfinite(virtual).all(axis=1))
    lattice = camera.micro_images.lattice
    # The lens on the line from the pupil's middle to the virtual point sees it at its micro-image's centre; other
    # lenses see it off centre by their disparity, which must stay under half a pitch. Tilt and rounding add less
    # than one and a half.
    on_sensor = seen_from_pupil(virtual[formed], camera)
    lattice_from_image = camera.micro_images.image_from_lattice.inverse()
    k0, l0 = lattice.nearest(lattice_from_image(camera.sensor.image_from_metric(on_sensor)))
    center = lens_center(k0, l0, camera)
    v = (center[:, 2] - virtual[formed, 2]) / (center[:, 2] - camera.sensor.position[2])
    ratio = pitch_ratio(camera, lens_distances(camera, k0, l0))
    with np.errstate(divide="ignore"):
        reach = np.ceil(0.5 / np.abs(1 - ratio + ratio / v) + 1.5)
    reach = np.minimum(reach, max(lattice.columns, lattice.rows)).astype(np.int64)
    found: list[tuple[Indices, Indices, Indices]] = []
    for distance in np.unique(reach):
        members = np.flatnonzero(reach == distance)
        span = int(np.ceil(distance / np.sqrt(0.75)))  # rows (columns) are only sin 60° of a pitch apart
        dl, dk = np.mgrid[-span : span + 1, -span : span + 1]
        per_call = max(1, 2_000_000 // dk.size)
        for start in range(0, len(members), per_call):
            some = members[start : start + per_call]
            k, l = k0[some, None] + dk.ravel(), l0[some, None] + dl.ravel()
            candidate = lattice.contains(k, l)
            which, offset = np.nonzero(candidate)
            k, l, index = k[which, offset], l[which, offset], formed[some][which]
            seen = project(p[index], k, l, camera, margin=margin).visible
            found.append((index[seen], k[seen], l[seen]))
    point, k, l = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else (np.zeros(0, int),) * 3
    order = np.lexsort((k, l, point))
    return Sighting(point[order], k[order], l[order])
